import Foundation
import Testing
import VestaConcurrency
import VestaTesting

/// Clients by other authors, against the program `vesta`.
@Suite(.serialized) struct FirestoreServerTests {
  @Test(
    .timeLimit(.minutes(10)), arguments: ["firestore_client", "firestore_rest", "firestore_walk"],
    ["--memory", "--data=data"])
  func `clients in Python find what they know`(script: String, store: String) async throws {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, store)
      let result = try await server.python(script, [])
      #expect(result.status == 0, "\(result.lines.filter { !$0.hasPrefix("passed") }.joined(separator: "\n"))")
      #expect(result.lines.count { $0.hasPrefix("passed") } >= 8)
      #expect(await server.end() == 0)
    }
  }

  @Test(.timeLimit(.minutes(10)), arguments: ["--memory", "--data=data"])
  func `indexes and databases are administrated over gRPC and REST`(store: String) async throws {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, store)
      let result = try await server.python("firestore_admin", [])
      #expect(result.status == 0, "\(result.lines.filter { !$0.hasPrefix("passed") }.joined(separator: "\n"))")
      #expect(result.lines.count { $0.hasPrefix("passed") } >= 10)
      #expect(await server.end() == 0)
    }
  }

  @Test(.timeLimit(.minutes(5)), arguments: [["firestore_streams", "cases"], ["firestore_webchannel"]])
  func `streams are what clients count on, over gRPC and WebChannel`(script: [String]) async throws {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, "--memory")
      let result = try await server.python(script[0], Array(script.dropFirst()))
      #expect(result.status == 0, "\(result.lines.joined(separator: "\n"))")
      #expect(await server.end(SIGINT) == 0)
    }
  }

  @Test(.timeLimit(.minutes(5))) func `listeners of browsers that lose connections keep the results of their queries`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, "--memory")
      let result = try await server.python("firestore_resume", ["1", "2", "3"])
      #expect(result.status == 0, "\(result.lines.joined(separator: "\n"))")
      #expect(result.lines.count { $0.hasPrefix("passed") } == 2)
      #expect(await server.end() == 0)
    }
  }

  @Test(.timeLimit(.minutes(5))) func `listeners over gRPC that stop, leave and return have what they query`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, "--memory")
      let result = try await server.python("firestore_listen", ["1", "2", "3"])
      #expect(result.status == 0, "\(result.lines.joined(separator: "\n"))")
      #expect(result.lines.count { $0.hasPrefix("passed") } == 2)
      #expect(await server.end() == 0)
    }
  }

  @Test(.timeLimit(.minutes(5))) func `listeners resume on servers that were ended or killed`() async throws {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, "--memory")
      // The script starts the servers that it kills.
      let result = try await server.python("firestore_listen", ["1", "1", "4", ServerProcess.program])
      #expect(result.status == 0, "\(result.lines.joined(separator: "\n"))")
      #expect(result.lines.contains { $0.hasPrefix("passed") })
      await server.end()
    }
  }

  @Test(.timeLimit(.minutes(5))) func `users that sign in reach what the rules say is theirs`() async throws {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, "--memory", "--project", "together")
      let result = try await server.python("together", [])
      #expect(result.status == 0, "\(result.lines.joined(separator: "\n"))")
      await server.end()
    }
  }

  @Test(.timeLimit(.minutes(5))) func `a server that ends has its streams end with UNAVAILABLE, never with success`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, "--memory")
      let (process, lines) = try server.startPython("firestore_streams", ["held"])
      await lines.wait { $0.contains("open") || $0.contains(ServerProcess.ended) }
      #expect(await server.end() == 0)
      await lines.wait { $0.contains(ServerProcess.ended) }
      await TestThreads.run { process.waitUntilExit() }
      #expect(process.terminationStatus == 0, "\(lines.entries.joined(separator: "\n"))")
    }
  }

  @Test(.timeLimit(.minutes(5))) func `what was acknowledged is there after the server was killed`() async throws {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, "--data=data")
      let (process, lines) = try server.startPython("firestore_crash", ["write", "crash"])
      await lines.wait { $0.count >= 300 || $0.contains(ServerProcess.ended) }
      #expect(await server.end(SIGKILL) == SIGKILL)
      await lines.wait { $0.contains(ServerProcess.ended) }
      await TestThreads.run { process.waitUntilExit() }
      let acknowledged = lines.entries.filter { $0 != ServerProcess.ended }
      let file = directory.appending(path: "acknowledged")
      try acknowledged.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
      let again = try await ServerProcess(in: directory, "--data=data")
      let result = try await again.python("firestore_crash", ["check", "crash", file.path])
      #expect(result.status == 0, "\(result.lines.joined(separator: "\n"))")
      await again.end()
    }
  }

  @Test(.timeLimit(.minutes(5))) func `a server that is not for development believes no word`() async throws {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, "--memory", "--production", "--project", "real")
      let result = try await server.python("firestore_streams", ["refused"])
      #expect(result.status == 0, "\(result.lines.joined(separator: "\n"))")
      await server.end()
    }
  }
}

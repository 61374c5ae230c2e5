import Foundation
import Testing
import VestaConcurrency
import VestaTesting

/// A server that is killed while clients use all of its products, and is started again at the same ports.
@Suite(.serialized) struct CrashServerTests {
  private static let kinds = ["documents", "counters", "transfers", "accounts", "values", "objects"]

  @Test(.timeLimit(.minutes(10)))
  func `clients continue after the server was killed, and nothing acknowledged is lost or doubled`() async throws {
    try await withTemporaryDirectory { directory in
      var arguments = ["--project", "crash"]
      for name in ["auth", "database", "firestore", "storage"] {
        arguments += ["--port-\(name)", "\(try #require(FreePort.find()))"]
      }
      let stop = directory.appending(path: "stop")
      var server = try await ServerProcess(in: directory, "--data=data", arguments: arguments)
      let (process, lines) = try server.startPython("goes_on", [stop.path])
      for round in 1...3 {
        await lines.wait { entries in
          entries.contains(ServerProcess.ended)
            || Self.kinds.allSatisfy { kind in entries.count { $0 == "acknowledged \(kind)" } >= round * 5 }
        }
        #expect(await server.end(SIGKILL) == SIGKILL)
        server = try await ServerProcess(in: directory, "--data=data", arguments: arguments)
      }
      try Data().write(to: stop)
      await lines.wait { $0.contains(ServerProcess.ended) }
      await TestThreads.run { process.waitUntilExit() }
      let told = lines.entries.filter { !$0.hasPrefix("acknowledged") }
      #expect(process.terminationStatus == 0, "\(told.joined(separator: "\n"))")
      #expect(await server.end() == 0)
    }
  }
}

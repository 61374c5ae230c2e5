import Foundation
import Testing
import VestaConcurrency
import VestaTesting

/// Clients of the Realtime Database by other authors, against the program `vesta`.
@Suite(.serialized) struct DatabaseServerTests {
  @Test(.timeLimit(.minutes(10)), arguments: ["--memory", "--data=data"])
  func `firebase-admin, REST and raw sockets find what they know`(store: String) async throws {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, store, "--project", "demo")
      let result = try await server.python("database_client", [])
      #expect(result.status == 0, "\(result.lines.filter { !$0.hasPrefix("passed") }.joined(separator: "\n"))")
      #expect(result.lines.count { $0.hasPrefix("passed") } == 11)
      #expect(await server.end() == 0)
    }
  }

  @Test(.timeLimit(.minutes(10)), arguments: ["--memory", "--data=data"])
  func `users reach what the rules of a file say is theirs`(store: String) async throws {
    try await withTemporaryDirectory { directory in
      let rules = """
        { // Comments are allowed.
          "rules": {
            "users": { "$uid": {
              ".read": "auth != null && auth.uid == $uid", ".write": "auth != null && auth.uid == $uid",
              "name": { ".validate": "newData.isString()" } } },
            "staff": { ".write": "auth.token.admin === true" },
            "rooms": { ".read": true, ".indexOn": ["size"] } } }
        """
      try Data(rules.utf8).write(to: directory.appending(path: "database.rules.json"))
      try Data(#"{"database":{"rules":"database.rules.json"}}"#.utf8).write(
        to: directory.appending(path: "firebase.json"))
      let server = try await ServerProcess(in: directory, store, "--project", "demo")
      let result = try await server.python("database_rules", [])
      #expect(result.status == 0, "\(result.lines.filter { !$0.hasPrefix("passed") }.joined(separator: "\n"))")
      #expect(await server.end() == 0)
    }
  }

  @Test(.timeLimit(.minutes(5)))
  func `what was acknowledged is there after the server was killed, and ends of connections happen once`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, "--data=data", "--project", "demo")
      let (process, lines) = try server.startPython("database_crash", ["write"])
      await lines.wait { $0.count >= 500 || $0.contains(ServerProcess.ended) }
      #expect(await server.end(SIGKILL) == SIGKILL)
      await lines.wait { $0.contains(ServerProcess.ended) }
      await TestThreads.run { process.waitUntilExit() }
      let file = directory.appending(path: "acknowledged")
      let acknowledged = lines.entries.filter { $0 != ServerProcess.ended }
      try acknowledged.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
      let again = try await ServerProcess(in: directory, "--data=data", "--project", "demo")
      let result = try await again.python("database_crash", ["check", file.path])
      #expect(result.status == 0, "\(result.lines.joined(separator: "\n"))")
      await again.end()
    }
  }
}

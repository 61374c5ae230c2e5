import Testing
import VestaTesting

/// Firebase's Admin SDK for Python, as it is, against Messaging and Installations of the program `vesta`.
@Suite(.serialized) struct MessagingServerTests {
  @Test(.timeLimit(.minutes(5)), arguments: ["--memory", "--data=data"])
  func `firebase-admin sends, and clients register`(store: String) async throws {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, store, "--project", "demo")
      let result = try await server.python("messaging_admin", [])
      #expect(result.status == 0, "\(result.lines.filter { !$0.hasPrefix("passed") }.joined(separator: "\n"))")
      #expect(result.lines.count { $0.hasPrefix("passed") } == 8)
      #expect(await server.end() == 0)
    }
  }
}

/// Firebase's Admin SDK for Python, as it is, against App Check of the program `vesta`.
@Suite(.serialized) struct AppCheckServerTests {
  @Test(.timeLimit(.minutes(5)), arguments: ["--memory", "--data=data"])
  func `firebase-admin verifies and consumes tokens`(store: String) async throws {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, store, "--project", "demo")
      let result = try await server.python("app_check_admin", [])
      #expect(result.status == 0, "\(result.lines.filter { !$0.hasPrefix("passed") }.joined(separator: "\n"))")
      #expect(result.lines.count { $0.hasPrefix("passed") } == 5)
      #expect(await server.end() == 0)
    }
  }
}

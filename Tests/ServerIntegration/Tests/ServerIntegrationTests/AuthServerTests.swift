import Testing
import VestaTesting

/// Firebase's Admin SDK for Python, as it is, against Auth of the program `vesta`.
@Suite(.serialized) struct AuthServerTests {
  @Test(.timeLimit(.minutes(10)), arguments: ["--memory", "--data=data"])
  func `firebase-admin finds what it knows of a local server`(store: String) async throws {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, store, "--project", "demo")
      let result = try await server.python("auth_admin", [])
      #expect(result.status == 0, "\(result.lines.filter { !$0.hasPrefix("passed") }.joined(separator: "\n"))")
      #expect(result.lines.count { $0.hasPrefix("passed") } == 11)
      #expect(await server.end() == 0)
    }
  }

  @Test(.timeLimit(.minutes(5))) func `blocking functions of another program change sign-ins, or refuse them`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let port = try #require(FreePort.find())
      let server = try await ServerProcess(in: directory, "--memory", "--project", "demo")
      let result = try await server.python("blocking", [], ["WORKER_PORT": "\(port)"])
      #expect(result.status == 0, "\(result.lines.joined(separator: "\n"))")
      #expect(result.lines.count { $0.hasPrefix("passed") } == 6)
      #expect(await server.end() == 0)
    }
  }
}

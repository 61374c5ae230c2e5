import Testing
import VestaTesting

/// The public calls of firebase-admin, Firebase's Admin SDK for Python, against the program `vesta`.
@Suite(.serialized) struct AdminServerTests {
  @Test(
    .timeLimit(.minutes(10)), arguments: [("admin_auth_walk", 18), ("admin_walk", 17)], ["--memory", "--data=data"])
  func `the public calls of firebase-admin are answered`(walk: (script: String, cases: Int), store: String) async throws
  {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, store, "--project", "demo")
      let result = try await server.python(walk.script, [])
      #expect(result.status == 0, "\(result.lines.filter { !$0.hasPrefix("passed") }.joined(separator: "\n"))")
      #expect(result.lines.count { $0.hasPrefix("passed") } == walk.cases)
      #expect(await server.end() == 0)
    }
  }
}

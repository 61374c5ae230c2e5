import Testing
import VestaTesting

/// Clients that mean harm, and more of them than usual, against the program `vesta`.
@Suite(.serialized) struct HostileClientTests {
  @Test(.timeLimit(.minutes(10)), arguments: ["--memory", "--data=data"])
  func `whatever clients send, the server answers and serves others`(store: String) async throws {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, store, "--project", "demo")
      let result = try await server.python("hostile", [])
      #expect(result.status == 0, "\(result.lines.filter { !$0.hasPrefix("passed") }.joined(separator: "\n"))")
      #expect(result.lines.count { $0.hasPrefix("passed") } == 7)
      #expect(await server.end() == 0)
    }
  }
}

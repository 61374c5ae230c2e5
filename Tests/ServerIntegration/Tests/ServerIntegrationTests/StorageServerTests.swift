import Testing
import VestaTesting

/// Clients of Storage and Remote Config by other authors, against the program `vesta`.
@Suite(.serialized) struct StorageServerTests {
  @Test(.timeLimit(.minutes(10)), arguments: ["--memory", "--data=data"])
  func `google-cloud-storage finds what it knows`(store: String) async throws {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, store, "--project", "demo")
      let result = try await server.python("storage_client", [])
      #expect(result.status == 0, "\(result.lines.filter { !$0.hasPrefix("passed") }.joined(separator: "\n"))")
      #expect(result.lines.count { $0.hasPrefix("passed") } == 9)
      #expect(await server.end() == 0)
    }
  }

  @Test(.timeLimit(.minutes(10))) func `the public calls of google-cloud-storage are answered`() async throws {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, "--memory", "--project", "demo")
      let result = try await server.python("storage_walk", [])
      #expect(result.status == 0, "\(result.lines.filter { !$0.hasPrefix("passed") }.joined(separator: "\n"))")
      #expect(result.lines.count { $0.hasPrefix("passed") } == 15)
      #expect(await server.end() == 0)
    }
  }

  @Test(.timeLimit(.minutes(5))) func `templates are published, fetched and followed at the shared port`() async throws
  {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, "--memory", "--project", "demo")
      let result = try await server.python("config_rest", [])
      #expect(result.status == 0, "\(result.lines.joined(separator: "\n"))")
      #expect(await server.end() == 0)
    }
  }
}

import Testing
import VestaTesting

/// Products that are told to refuse apps which cannot prove what they are.
@Suite(.serialized) struct AppCheckEnforcementTests {
  @Test(.timeLimit(.minutes(5))) func `products that enforce App Check refuse calls without a valid token`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(
        in: directory, "--memory", "--project", "demo", "--enforce-app-check", "firestore,database,storage,remoteconfig"
      )
      let result = try await server.python("app_check_enforced", [])
      #expect(result.status == 0, "\(result.lines.joined(separator: "\n"))")
      #expect(result.lines.count { $0.hasPrefix("passed") } == 3)
      #expect(await server.end() == 0)
    }
  }
}

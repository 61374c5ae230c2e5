import Testing
import VestaDatabaseBackend
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

@Suite(.timeLimit(.minutes(20))) struct CallerStressTests {
  @Test func `every request is answered where several threads sign one connection in at once`() async throws {
    let verifier = FakeCallerVerifier(clock: ManualClock().service)
    let engine = DatabaseEngine(
      store: ModelStore(), options: DatabaseServiceOptions(), callers: CallerCheck(callers: verifier))
    let client = TestClient(engine)
    let token = verifier.issue("ada").token
    for _ in 0..<500 {
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<6 {
          group.addTask {
            let request = number == 5 ? DatabaseRequest.get("a", .all) : .authenticate(token: token)
            let status = await client.call(request).status
            #expect(status == .ok)
          }
        }
      }
    }
    client.close()
    await client.closed()
    try await engine.close()
  }
}

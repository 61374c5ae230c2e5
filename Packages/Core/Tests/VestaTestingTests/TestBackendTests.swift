import Testing
import VestaTesting

struct TestBackendTests {
  @Test func `tests run over the wire where the environment says so, and in the process otherwise`() {
    #expect(TestBackend(environment: ["VESTA_BACKEND": "wire"]) == .wire)
    for text in ["", "embedded", "http://localhost:8080"] {
      #expect(TestBackend(environment: ["VESTA_BACKEND": text]) == .embedded)
    }
    #expect(TestBackend(environment: [:]) == .embedded)
  }
}

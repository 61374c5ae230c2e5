import Testing
import VestaCryptoInterop

@Suite struct PEMTests {
  @Test func `PEM is read back from its text`() throws {
    for size in [1, 47, 48, 49, 500] {
      let pem = PEM(label: "PUBLIC KEY", bytes: (0..<size).map { UInt8(truncatingIfNeeded: $0) })
      #expect(try PEM(text: pem.text) == pem)
      #expect(try PEM(text: "comment\r\n" + pem.text.replacing("\n", with: "\r\n") + "rest") == pem)
      #expect(pem.text.split(separator: "\n").allSatisfy { $0.count <= 64 })
    }
  }

  @Test(arguments: [
    "", "-----BEGIN A-----", "-----BEGIN A-----\nAAAA\n-----END B-----\n", "-----BEGIN A-----\n-----END A-----\n",
    "-----BEGIN A-----\nA\n-----END A-----\n", "-----BEGIN -----\nAAAA\n-----END -----\n",
    "-----BEGIN A----\nAAAA\n-----END A----\n", "-----BEGIN A-----\nAA=A\n-----END A-----\n",
  ])
  func `broken PEM is an error`(text: String) {
    #expect(throws: CryptoError.self) { try PEM(text: text) }
  }

  @Test func `encrypted PEM says what to do`() {
    let text = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----\n"
    let error = #expect(throws: CryptoError.self) { try PEM(text: text) }
    #expect(error?.code == .unsupported)
  }
}

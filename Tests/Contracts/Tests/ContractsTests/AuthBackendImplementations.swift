import VestaCryptoInterop
import VestaAuthBackend
import VestaAuthBackendContracts
import Testing
import VestaAuthService
import VestaCrypto
import VestaMemoryStore

@Suite struct IdentityImplementations {
  static let all: [Implementation<IdentitySubject>] = [
    Implementation("AuthEngine") { engine() }
  ]

  @Test(arguments: all) func keepsEveryPromise(_ implementation: Implementation<IdentitySubject>) async {
    await implementation.keeps(IdentityContracts.all)
  }

  private static func engine() -> IdentitySubject {
    let sender = RecordingCodeSender()
    var options = AuthServiceOptions()
    options.passwordScheme = .scrypt(ScryptParameters(costLog2: 4, blockSize: 8, parallelism: 1))
    options.codeSender = sender
    let engine = AuthEngine(projectID: "demo", options: options, crypto: OpenSSLCrypto()) { MemoryStore() }
    return IdentitySubject(
      engine,
      emailedCode: { type, recipient in
        try #require(sender.recordedEmails.last { $0.requestType == type && $0.recipient == recipient }).code
      },
      textedCode: { session in try #require(sender.recordedTexts.last { $0.sessionInfo == session }).code })
  }
}

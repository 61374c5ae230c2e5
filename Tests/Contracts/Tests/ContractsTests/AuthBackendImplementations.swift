import Testing
import VestaAuthBackend
import VestaAuthBackendContracts
import VestaAuthService
import VestaCrypto
import VestaCryptoInterop
import VestaMemoryStore

@Suite struct AuthBackendImplementations {
  static let all: [Implementation<AuthSubject>] = [
    Implementation("AuthEngine") { engine() }
  ]

  @Test(arguments: all) func `an implementation keeps every promise`(_ implementation: Implementation<AuthSubject>)
    async
  {
    await implementation.keeps(AuthContracts.all)
  }

  private static func engine() -> AuthSubject {
    let sender = RecordingCodeSender()
    var options = AuthServiceOptions()
    options.passwordScheme = .scrypt(ScryptParameters(costLog2: 4, blockSize: 8, parallelism: 1))
    options.codeSender = sender
    let engine = AuthEngine(projectID: "demo", options: options, crypto: OpenSSLCrypto()) { MemoryStore() }
    return AuthSubject(
      engine,
      emailedCode: { type, recipient in
        try #require(sender.recordedEmails.last { $0.requestType == type && $0.recipient == recipient }).code
      },
      textedCode: { session in try #require(sender.recordedTexts.last { $0.sessionInfo == session }).code })
  }
}

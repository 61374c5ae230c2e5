import Testing
import VestaAuthBackend
import VestaAuthBackendContracts
import VestaAuthService
import VestaCrypto
import VestaCryptoInterop
import VestaMemoryStore
import VestaServiceInterop

@Suite struct AuthBackendImplementations {
  static let all: [Implementation<AuthSubject>] = [
    Implementation("AuthEngine") { engine() }
  ]

  @Test(arguments: all) func `an implementation keeps every promise`(_ implementation: Implementation<AuthSubject>)
    async
  {
    await implementation.keeps(AuthContracts.all)
  }

  @Test func `the engine keeps every promise about identity providers`() async {
    let engine = Implementation("AuthEngine") {
      let administration = Self.engine(RecordingCodeSender()).administration
      return IdentityProviderSubject(administration.identityProviders) {
        try await administration.createTenant(CreateTenantRequest(displayName: "t"), context: .owner).tenantID
      }
    }
    await engine.keeps(IdentityProviderContracts.all)
  }

  @Test func `the engine keeps every promise about exports`() async {
    let engines = Implementation("AuthEngine") {
      let (source, target) = (Self.engine(RecordingCodeSender()), Self.engine(RecordingCodeSender()))
      return AccountExportSubject(from: source, source.administration, to: target, target.administration)
    }
    await engines.keeps(AccountExportContracts.all)
  }

  private static func engine() -> AuthSubject {
    let sender = RecordingCodeSender()
    let engine = engine(sender)
    return AuthSubject(
      engine,
      emailedCode: { type, recipient in
        try #require(sender.recordedEmails.last { $0.requestType == type && $0.recipient == recipient }).code
      },
      textedCode: { session in try #require(sender.recordedTexts.last { $0.sessionInfo == session }).code })
  }

  static func engine(_ sender: RecordingCodeSender) -> AuthEngine {
    var options = AuthServiceOptions()
    options.passwordScheme = .scrypt(ScryptParameters(costLog2: 4, blockSize: 8, parallelism: 1))
    options.codeSender = sender
    return AuthEngine(projectID: "demo", options: options, crypto: OpenSSLCrypto()) { MemoryStore() }
  }
}

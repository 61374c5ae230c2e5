import Testing
import VestaAuthBackend
import VestaAuthBackendContracts
import VestaAuthService
import VestaConcurrency
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

  @Test func `the engine keeps every promise to administrators`() async {
    let engines = Implementation("AuthEngine") {
      let seconds = Locked<Int64>(1_767_225_600)
      let engine = Self.engine(RecordingCodeSender()) {
        $0.clock = ServiceClock(
          now: { seconds.withLock { $0 * 1_000_000 } }, schedule: { _, _ in ListenerRegistration {} })
      }
      return AuthAdminSubject(engine, engine.administration) { secret in
        let now = seconds.withLock { seconds in
          seconds += 60
          return seconds
        }
        return try Self.code(secret, seconds: now)
      }
    }
    await engines.keeps(AuthAdminContracts.all)
  }

  @Test func `the engine keeps every promise about blocking functions`() async {
    let engines = Implementation("AuthEngine") {
      try await BlockingEngineSubject { functions in
        let engine = Self.engine(RecordingCodeSender()) {
          $0.blockingFunctions = functions
          $0.initialConfig.blockingFunctions = BlockingFunctionSettings(
            beforeCreate: "http://a/c", beforeSignIn: "http://a/s")
        }
        return (engine, engine.administration)
      }
    }
    await engines.keeps(BlockingEngineContracts.all)
  }

  /// The code of an authenticator app (RFC 6238) for a secret in Base32.
  private static func code(_ secret: String, seconds: Int64) throws -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
    let digits = secret.utf8.compactMap { alphabet.firstIndex(of: $0) }
    let bits = digits.flatMap { digit in (0..<5).reversed().map { UInt8(digit >> $0 & 1) } }
    let key = stride(from: 0, to: bits.count - bits.count % 8, by: 8).map { start in
      bits[start..<start + 8].reduce(0) { $0 << 1 | $1 }
    }
    let message = (0..<8).map { UInt8(truncatingIfNeeded: (seconds / 30) >> (56 - 8 * Int64($0))) }
    let hash = try OpenSSLCrypto().hmac(.sha1, key: key, message: message)
    let offset = Int(hash[hash.count - 1] & 15)
    let word = hash[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
    let text = String(word % 1_000_000)
    return String(repeating: "0", count: 6 - text.utf8.count) + text
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

  static func engine(
    _ sender: RecordingCodeSender, _ change: (inout AuthServiceOptions) -> Void = { _ in }
  ) -> AuthEngine {
    var options = AuthServiceOptions()
    options.passwordScheme = .scrypt(ScryptParameters(costLog2: 4, blockSize: 8, parallelism: 1))
    options.codeSender = sender
    change(&options)
    return AuthEngine(projectID: "demo", options: options, crypto: KeptKeysLibrary.crypto()) { MemoryStore() }
  }
}

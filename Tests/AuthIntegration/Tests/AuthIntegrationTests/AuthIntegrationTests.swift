import Foundation
import Synchronization
import Testing
import VestaAuthBackend
import VestaAuthBackendContracts
import VestaAuthService
import VestaConcurrency
import VestaCrypto
import VestaCryptoInterop
import VestaSQLite
import VestaServiceInterop
import VestaStoreInterop
import VestaTesting

@Suite struct AuthIntegrationTests {
  /// Cheap enough for many sign-ins in a debug build.
  private static let cheap = PasswordScheme.scrypt(ScryptParameters(costLog2: 4, blockSize: 8, parallelism: 1))

  private let context = CallContext()
  private let crypto = OpenSSLCrypto()

  private func withDirectory<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
    let directory = FileManager.default.temporaryDirectory.appending(path: "vesta-auth-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    return try await body(directory)
  }

  private func engine(
    in directory: URL, sender: RecordingCodeSender = RecordingCodeSender(), scheme: PasswordScheme = cheap,
    now: (@Sendable () -> Int64)? = nil
  ) -> AuthEngine {
    var options = AuthServiceOptions()
    options.passwordScheme = scheme
    options.codeSender = sender
    if let now {
      options.clock = ServiceClock(now: { now() * 1000 }, schedule: { _, _ in ListenerRegistration {} })
    }
    return AuthEngine(projectID: "demo", options: options, crypto: crypto) {
      try await SQLiteStoreProvider().openStore(named: "auth", in: directory.path, options: StoreOptions())
    }
  }

  @Test func `the engine keeps every promise on the real plug-ins`() async throws {
    try await withDirectory { root in
      var outcomes: [ContractOutcome] = []
      for contract in AuthContracts.all {
        let sender = RecordingCodeSender()
        let engine = engine(in: root.appending(path: UUID().uuidString), sender: sender)
        let subject = AuthSubject(
          engine,
          emailedCode: { type, recipient in
            try #require(sender.recordedEmails.last { $0.requestType == type && $0.recipient == recipient }).code
          },
          textedCode: { session in try #require(sender.recordedTexts.last { $0.sessionInfo == session }).code })
        outcomes += await [contract].run { subject }
        try await engine.close()
      }
      #expect(outcomes.filter { !$0.isKept }.map(\.description) == [])
    }
  }

  @Test func `everything is still there after a restart`() async throws {
    try await withDirectory { directory in
      let first = engine(in: directory)
      let made = try await first.signUp(
        SignUpRequest(email: "ada@example.com", password: "correct horse"), context: context)
      try await first.close()
      let second = engine(in: directory)
      let lookup = LookupRequest(idToken: made.tokens.idToken)
      #expect(try await second.lookup(lookup, context: context).users.map(\.localID) == [made.localID])
      let refresh = RefreshRequest(refreshToken: made.tokens.refreshToken)
      #expect(try await second.refresh(refresh, context: context).userID == made.localID)
      let signIn = PasswordSignInRequest(email: "ada@example.com", password: "correct horse")
      #expect(try await second.signInWithPassword(signIn, context: context).localID == made.localID)
      try await second.close()
    }
  }

  @Test func `a custom token that is made while the second changes is accepted`() async throws {
    try await withDirectory { directory in
      let time = Time()
      let engine = engine(in: directory, now: { time.next() })
      let token = try await engine.administration.createCustomToken(
        CreateCustomTokenRequest(localID: "ada"), context: .owner)
      let signIn = CustomTokenSignInRequest(token: token)
      #expect(try await engine.signInWithCustomToken(signIn, context: context).isNewUser)
      try await engine.close()
    }
  }

  @Test func `a token verifies with the published keys alone`() async throws {
    try await withDirectory { directory in
      let engine = engine(in: directory)
      let tokens = try await engine.signUp(SignUpRequest(), context: context).tokens
      let set = try JSONWebKeySet(json: try await engine.publicKeys(context: context).jwks)
      let keys = try set.keys.map { try crypto.verificationKey(jsonWebKey: $0) }
      let verifier = JWTVerifier(issuers: ["https://securetoken.google.com/demo"], audiences: ["demo"])
      let now = Int64(Date().timeIntervalSince1970)
      let token = try verifier.verify(tokens.idToken, at: now, keys: keys)
      #expect(token.header.algorithm == "RS256" && token.claims["provider_id"] == "anonymous")
      let changed = String(tokens.idToken.dropLast(8)) + "AAAAAAAA"
      #expect(throws: CryptoError.self) { try verifier.verify(changed, at: now, keys: keys) }
      try await engine.close()
    }
  }

  @Test func `a user of Firebase signs in with its own hash`() async throws {
    try await withDirectory { directory in
      let engine = engine(in: directory, scheme: .standard)
      let key = [UInt8](repeating: 0x5A, count: 64)
      let parameters = FirebaseScryptParameters(rounds: 8, memoryCost: 14, saltSeparator: [7])
      let hash = try await crypto.hashPassword(
        "correct horse", scheme: .firebaseScrypt(parameters), signerKey: SecretBytes(key))
      let batch = BatchCreateRequest(
        users: [
          ImportedUser(localID: "ada", email: "ada@example.com", passwordHash: hash.digest, salt: hash.salt)
        ],
        hash: .scrypt(signerKey: key, saltSeparator: [7], rounds: 8, memoryCost: 14))
      #expect(try await engine.administration.batchCreate(batch, context: .owner).errors.isEmpty)
      for _ in 0..<2 {
        let request = PasswordSignInRequest(email: "ada@example.com", password: "correct horse")
        #expect(try await engine.signInWithPassword(request, context: context).localID == "ada")
      }
      let exported = try await engine.administration.batchGet(BatchGetRequest(hashForm: .text), context: .owner).users
        .first
      let text = String(decoding: try Base64.standard.decode(exported?.passwordHash ?? ""), as: UTF8.self)
      #expect(text.hasPrefix("$scrypt$ln=14,r=8,p=1$"))
      try await engine.close()
    }
  }

  @Test func `an authenticator app signs in`() async throws {
    try await withDirectory { directory in
      let time: Int64 = 1_767_225_600_000
      let engine = engine(in: directory, now: { time })
      let made = try await engine.signUp(
        SignUpRequest(email: "ada@example.com", password: "correct horse"), context: context)
      _ = try await engine.administration.updateUser(
        AdminUpdateRequest(localID: made.localID, emailVerified: true), context: .owner)
      let started = try await engine.startMfaEnrollment(
        StartMfaEnrollmentRequest(idToken: made.tokens.idToken, factor: .totp), context: context)
      guard case .totp(let secret) = started else {
        Issue.record("not TOTP")
        return
      }
      let key = try decodeBase32(secret.sharedSecretKey)
      #expect(key.count == 20)
      let enrolled = try await engine.finalizeMfaEnrollment(
        FinalizeMfaEnrollmentRequest(
          idToken: made.tokens.idToken,
          proof: .totp(sessionInfo: secret.sessionInfo, code: try appCode(key, seconds: time / 1000))),
        context: context)
      #expect(try JWT(unverified: enrolled.idToken).claims["firebase"]?.object?["sign_in_second_factor"] == "totp")
      try await engine.close()
    }
  }

  /// The vectors of RFC 6238, appendix B, for SHA-1: they hold the app of these tests to the standard.
  @Test func `the app of these tests is that of the standard`() throws {
    let key = Array("12345678901234567890".utf8)
    let vectors: [(Int64, String)] = [
      (59, "287082"), (1_111_111_109, "081804"), (1_234_567_890, "005924"), (20_000_000_000, "353130"),
    ]
    for (seconds, code) in vectors { #expect(try appCode(key, seconds: seconds) == code) }
  }

  /// The code that an authenticator app shows, written from the standard.
  private func appCode(_ key: [UInt8], seconds: Int64) throws -> String {
    let counter = withUnsafeBytes(of: (seconds / 30).bigEndian) { Array($0) }
    let hash = try crypto.hmac(.sha1, key: key, message: counter)
    let offset = Int(hash[19] & 15)
    let word = hash[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) } & 0x7FFF_FFFF
    return String(String(1_000_000 + word % 1_000_000).dropFirst())
  }

  private func decodeBase32(_ text: String) throws -> [UInt8] {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
    var (bytes, group, bits) = ([UInt8](), 0, 0)
    for character in text {
      group = (group << 5 | (try #require(alphabet.firstIndex(of: character)))) & 0xFFFF
      bits += 5
      guard bits >= 8 else { continue }
      bits -= 8
      bytes.append(UInt8(truncatingIfNeeded: group >> bits))
    }
    return bytes
  }
}

/// A clock of which every look shows another second.
private final class Time: Sendable {
  private let milliseconds = Atomic<Int64>(1_900_000_000_000)

  func next() -> Int64 { milliseconds.add(1_000, ordering: .relaxed).newValue }
}

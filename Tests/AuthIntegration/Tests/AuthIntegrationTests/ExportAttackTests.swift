import Testing
import VestaAuthBackend
import VestaAuthService
import VestaBytes
import VestaCrypto
import VestaCryptoInterop
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes

/// Hashes of all algorithms on their way from one project to another, with real cryptography.
///
/// The hashes were made by Python's `hashlib` and `hmac`, the one of Firebase's scrypt is that of its publication, and
/// the one of bcrypt is from the test vectors of crypt_blowfish.
@Suite(.timeLimit(.minutes(5))) struct ExportAttackTests {
  struct Sample: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var hash: ImportHash
    var bytes: [UInt8]
    var salt: [UInt8] = Array("salty".utf8)
    var password = "correct horse"

    init(_ name: String, _ hash: ImportHash, _ base64: String) throws {
      (testDescription, self.hash, bytes) = (name, hash, try Base64.standard.decode(base64))
    }

    /// Whether the export as text has everything that is needed.
    var isWhole: Bool {
      switch hash {
      case .scrypt, .hmac: false
      default: true
      }
    }
  }

  static let samples: [Sample] = {
    let (key, first) = (Array("the key".utf8), ImportHash.Mixing())
    let last = ImportHash.Mixing(isSaltFirst: false)
    let separated = ImportHash.Mixing(isSaltFirst: false, separator: [UInt8(ascii: "|")])
    let made: [Sample]? = try? [
      Sample("HMAC-MD5", .hmac(.md5, signerKey: key, first), "IPLUOVCbd0gRWTKdGRknGg=="),
      Sample("HMAC-SHA1, salt last", .hmac(.sha1, signerKey: key, last), "pMtXEx5QQNUFaUHmtybM0/mAuso="),
      Sample("HMAC-SHA256", .hmac(.sha256, signerKey: key, first), "XH2Y0gqpqPb8Nv2HZUl2x2EdDR8+RGcwG2orR9QkCyo="),
      Sample(
        "HMAC-SHA512, salt last", .hmac(.sha512, signerKey: key, last),
        "H/imW32G5dwxi6xK9gzrHAQA7wzWEB7i7Y7t05DwyTvuRL3DDeLdcJmCqi2tOaDc/G+yIAaxQ5Lp6oy/3kbcsw=="),
      Sample("MD5", .digest(.md5, rounds: 0, first), "MFg2XvdcB6pOzNorFwlhew=="),
      Sample("SHA1, separated", .digest(.sha1, rounds: 1, separated), "OXsy1ZcJxGFwBAWpCeyNYhQoiXM="),
      Sample("SHA256", .digest(.sha256, rounds: 1, first), "ZNgogDVhI96/rVR9nZFvALfR+k+C8x2pK+0UM2av7Do="),
      Sample(
        "SHA512, separated", .digest(.sha512, rounds: 1, separated),
        "RRnawjWR6g9zQ0AIAMmWG8FKLHIu33G7WeyvDnEb6CUEpw1A4pIDvIM0Fy3mc+gQfUemzXye25k7NeLK70thxQ=="),
      Sample("PBKDF2-SHA1", .pbkdf2SHA1(rounds: 1_000), "Q5IBC6DYW4Qjjrm9J0Q5yxfFVsc="),
      Sample("PBKDF2-SHA256", .pbkdf2SHA256(rounds: 1_000), "DzvaoPDWHNlO+0p5E04mScIUiNVjJ8YpgYitYTNqHo8="),
      Sample(
        "scrypt of other costs", .standardScrypt(costLog2: 5, blockSize: 4, parallelism: 2),
        "ZPUvMZoP5RM5ESmpFtzsuZpbaLzfGPFjT8+05HdcYmI="),
      bcrypt(), firebase(),
    ]
    return made ?? []
  }()

  private static func bcrypt() throws -> Sample {
    var sample = try Sample("bcrypt", .bcrypt, "")
    sample.bytes = Array("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW".utf8)
    (sample.salt, sample.password) = ([], "U*U")
    return sample
  }

  private static func firebase() throws -> Sample {
    let key = try Base64.standard.decode(
      "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==")
    var sample = try Sample(
      "Firebase's scrypt", .scrypt(signerKey: key, saltSeparator: [7], rounds: 8, memoryCost: 14),
      "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==")
    (sample.salt, sample.password) = (try Base64.standard.decode("42xEC+ixf3L2lw=="), "user1password")
    return sample
  }

  private static let email = "ada@example.com"

  private func engine() -> AuthEngine {
    var options = AuthServiceOptions()
    options.passwordScheme = .scrypt(ScryptParameters(costLog2: 4, blockSize: 8, parallelism: 1))
    let store = ModelStore()
    return AuthEngine(projectID: "demo", options: options, crypto: OpenSSLCrypto()) { store }
  }

  private func signIn(_ engine: AuthEngine, _ password: String) async -> Bool {
    let request = PasswordSignInRequest(email: Self.email, password: password)
    return (try? await engine.signInWithPassword(request, context: CallContext())) != nil
  }

  /// The one account of a project.
  private func exported(_ engine: AuthEngine, _ form: ExportedHashForm) async throws -> AuthUser {
    let page = try await engine.administration.batchGet(BatchGetRequest(hashForm: form), context: .owner)
    return try #require(page.users.first)
  }

  /// Imports an account as it was exported.
  private func add(_ user: AuthUser, _ hash: ImportHash, to engine: AuthEngine) async throws -> Bool {
    let decode = { (text: String?) in try text.map { try Base64.standard.decode($0) } }
    let entry = ImportedUser(
      localID: user.localID, email: user.email, passwordHash: try decode(user.passwordHash),
      salt: hash == .text ? [] : try decode(user.salt) ?? [])
    let request = BatchCreateRequest(users: [entry], hash: hash)
    return try await engine.administration.batchCreate(request, context: .owner).errors.isEmpty
  }

  @Test func `there is a sample of each algorithm`() { #expect(Self.samples.count == 13) }

  @Test(arguments: samples)
  func `an imported hash signs in, is exported as text, and in parts after a sign-in`(_ sample: Sample) async throws {
    let (first, second, third, fourth) = (engine(), engine(), engine(), engine())
    let entry = ImportedUser(localID: "ada", email: Self.email, passwordHash: sample.bytes, salt: sample.salt)
    let errors = try await first.administration.batchCreate(
      BatchCreateRequest(users: [entry], hash: sample.hash), context: .owner
    ).errors
    #expect(errors.isEmpty)
    // Before the first sign-in: no importer gets a hash that it would take for one of the project's algorithm.
    let parts = try await exported(first, .parts)
    #expect(parts.passwordHash == nil && parts.salt == nil)
    #expect(try await add(try await exported(first, .text), .text, to: second))
    #expect(await signIn(second, sample.password) == sample.isWhole)
    #expect(await !signIn(second, "another horse"))
    #expect(await !signIn(first, "another horse"))
    #expect(await signIn(first, sample.password))
    // After it the hash is the project's own, if the engine has made a new one.
    let after = try await exported(first, .parts)
    let hashing = try await first.administration.passwordHashing(context: .owner)
    if after.passwordHash != nil {
      #expect(try await add(after, hashing, to: third))
      #expect(await signIn(third, sample.password))
      #expect(await !signIn(third, "another horse"))
    }
    #expect(try await add(try await exported(first, .text), .text, to: fourth))
    #expect(await signIn(fourth, sample.password) == (sample.isWhole || after.passwordHash != nil))
    for engine in [first, second, third, fourth] { try await engine.close() }
  }

  @Test(arguments: [
    "", "x", "$", "$2a$", "$2a$05$", "$2a$99$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "$argon2id$",
    "$scrypt$",
    "$scrypt$ln=63,r=8,p=1$YQ$YQ", "$scrypt$ln=4,r=999999999,p=999999999$YWFhYWFhYWE$YWFh", "$pbkdf2-sha256$i=0$YQ$YQ",
    "$pbkdf2-sha256$i=99999999999$YQ$YQ", "$unknown$a$b$c",
    "$argon2id$v=19$m=4294967295,t=4294967295,p=255$YWFhYWFhYWE$YWFh",
    "\u{0}\u{FFFF}", String(repeating: "$", count: 100_000),
  ])
  func `a hash that cannot be read, or would take hours, is refused with its account alone`(_ text: String) async throws
  {
    let engine = engine()
    let users = [
      ImportedUser(localID: "bad", email: "bad@example.com", passwordHash: Array(text.utf8)),
      ImportedUser(localID: "ada", email: Self.email, rawPassword: "correct horse"),
    ]
    let errors = try await engine.administration.batchCreate(
      BatchCreateRequest(users: users, hash: .text), context: .owner
    ).errors
    #expect(errors.map(\.index) == [0])
    #expect(await signIn(engine, "correct horse"))
    let page = try await engine.administration.batchGet(BatchGetRequest(maxResults: 10), context: .owner)
    #expect(page.users.map(\.localID) == ["ada"])
    try await engine.close()
  }
}

import Testing
import VestaCryptoInterop

@Suite struct PasswordHashTests {
  private static let salt = Array("somesalt".utf8)
  private static let digest = [UInt8](repeating: 3, count: 32)
  private static let schemes: [PasswordScheme] = [
    .standard, .strong, .pbkdf2(.sha256, iterations: 600_000), .pbkdf2(.sha1, iterations: 1),
    .firebaseScrypt(FirebaseScryptParameters(rounds: 8, memoryCost: 14, saltSeparator: [7])),
    .firebaseScrypt(FirebaseScryptParameters(rounds: 1, memoryCost: 1, saltSeparator: [])),
    .argon2(Argon2Parameters(variant: .id, memory: 65_536, passes: 2, lanes: 1)),
    .argon2(Argon2Parameters(variant: .d, version: 16, memory: 64, passes: 1, lanes: 4)),
  ]

  @Test(arguments: schemes)
  func `a hash is read back from its text`(scheme: PasswordScheme) throws {
    let hash = try PasswordHash(scheme: scheme, salt: Self.salt, digest: Self.digest)
    #expect(try PasswordHash(text: hash.text) == hash)
  }

  @Test func `hashes of other programs are read`() throws {
    let bcrypt = "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"
    #expect(try PasswordHash(text: bcrypt).scheme == .bcrypt(revision: .b, cost: 5))
    #expect(try PasswordHash(text: bcrypt).text == bcrypt)
    let argon2 = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
    #expect(try PasswordHash(text: argon2).text == argon2)
    let old = "$argon2i$m=65536,t=2,p=1$c29tZXNhbHQ$9sTbSlTio3Biev89thdrlKKiCaYsjjYVJxGAL3swxpQ"
    let parameters = Argon2Parameters(variant: .i, version: 16, memory: 65_536, passes: 2, lanes: 1)
    #expect(try PasswordHash(text: old).scheme == .argon2(parameters))
  }

  @Test(arguments: [
    "", "$", "$$$$", "scrypt$ln=14,r=8,p=1$c2FsdA$AAAA", "$scrypt$ln=14,r=8,p=1$c2FsdA$", "$md5$x$c2FsdA$AAAA",
    "$scrypt$ln=14,r=8$c2FsdA$AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM",
    "$scrypt$r=8,ln=14,p=1$c2FsdA$AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM",
    "$scrypt$ln=014,r=8,p=1$c2FsdA$AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM",
    "$scrypt$ln=-4,r=8,p=1$c2FsdA$AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM",
    "$scrypt$ln=99999999999999999999,r=8,p=1$c2FsdA$AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM",
    "$scrypt$ln=14,r=8,p=1$c2FsdA==$AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM",
    "$pbkdf2-sha3$i=1$c2FsdA$AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM",
    "$pbkdf2-md5$i=1$c2FsdA$AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM", "$2b$5$CCCC", "$2b$05$CCCC", "$2x$05$",
    "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOe=",
    "$argon2id$v=19$m=65536,t=2,p=1$c2FsdA$AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM", "$argon2id$v=19$m=1",
  ])
  func `broken hashes are errors`(text: String) {
    #expect(throws: CryptoError.self) { try PasswordHash(text: text) }
  }

  @Test(arguments: [
    PasswordScheme.scrypt(ScryptParameters(costLog2: 21, blockSize: 1, parallelism: 1)),
    .scrypt(ScryptParameters(costLog2: 20, blockSize: 8, parallelism: 1)),
    .scrypt(ScryptParameters(costLog2: 0, blockSize: 8, parallelism: 1)),
    .scrypt(ScryptParameters(costLog2: 14, blockSize: 0, parallelism: 1)),
    .scrypt(ScryptParameters(costLog2: 14, blockSize: 8, parallelism: 1000)),
    .scrypt(ScryptParameters(costLog2: .max, blockSize: .max, parallelism: .max)),
    .scrypt(ScryptParameters(costLog2: 16, blockSize: 1, parallelism: 1)),
    .firebaseScrypt(FirebaseScryptParameters(rounds: 8, memoryCost: 60, saltSeparator: [])),
    .pbkdf2(.sha256, iterations: 0), .pbkdf2(.sha256, iterations: .max), .pbkdf2(.md5, iterations: 1),
    .bcrypt(revision: .b, cost: 31), .bcrypt(revision: .b, cost: 3),
    .argon2(Argon2Parameters(variant: .id, memory: .max, passes: 1, lanes: 1)),
    .argon2(Argon2Parameters(variant: .id, memory: 64, passes: .max, lanes: 1)),
    .argon2(Argon2Parameters(variant: .id, memory: 1 << 20, passes: 1000, lanes: 1)),
    .argon2(Argon2Parameters(variant: .id, memory: 7, passes: 1, lanes: 1)),
    .argon2(Argon2Parameters(variant: .id, memory: 64, passes: 1, lanes: .max)),
    .argon2(Argon2Parameters(variant: .id, version: 18, memory: 64, passes: 1, lanes: 1)),
  ])
  func `absurd parameters are errors`(scheme: PasswordScheme) {
    #expect(throws: CryptoError.self) { try scheme.validate() }
    #expect(throws: CryptoError.self) { try PasswordHash(scheme: scheme, salt: Self.salt, digest: Self.digest) }
  }

  @Test func `a short digest is an error`() {
    for count in [0, 1, 15] {
      let digest = [UInt8](repeating: 0, count: count)
      #expect(throws: CryptoError.self) { try PasswordHash(scheme: .standard, salt: Self.salt, digest: digest) }
    }
  }

  @Test func `another scheme or cost needs a rehash`() throws {
    let hash = try PasswordHash(scheme: .standard, salt: Self.salt, digest: Self.digest)
    #expect(!hash.needsRehash())
    #expect(hash.needsRehash(preferring: .strong))
    #expect(try PasswordHash(scheme: Self.schemes[4], salt: Self.salt, digest: Self.digest).needsRehash())
  }
}

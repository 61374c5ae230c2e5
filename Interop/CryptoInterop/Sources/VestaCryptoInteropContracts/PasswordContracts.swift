public import VestaCryptoInterop
public import VestaTesting

extension CryptoContracts {
  /// Password hashing; bcrypt and Argon2 are checked only where the provider supports them.
  public static let passwords: [Contract<any CryptoProvider>] = [
    Contract("scrypt matches the vectors of RFC 7914") { crypto in
      for (password, salt, costs, expected) in PasswordVectors.scrypt {
        try await verify(crypto, password, .scrypt(costs), bytes(salt), try Hex.decode(expected))
      }
    },
    Contract("PBKDF2 matches the vectors of RFC 6070 and RFC 7914") { crypto in
      for (algorithm, password, salt, iterations, expected) in PasswordVectors.pbkdf2 {
        let scheme = PasswordScheme.pbkdf2(algorithm, iterations: iterations)
        try await verify(crypto, password, scheme, bytes(salt), try Hex.decode(expected))
      }
    },
    Contract("Firebase's scrypt is scrypt that encrypts the signer key") { crypto in
      // Computed with other implementations of scrypt and AES-256-CTR.
      let parameters = FirebaseScryptParameters(rounds: 8, memoryCost: 10, saltSeparator: [7])
      let expected = try Hex.decode(
        "37666958d1000606089ccf20f35403510d0641cda103123485c25ec7c0577d5e"
          + "cb5c6998fcee5d96a6fd8a98f1f396d0902bde0045cd90928a38d53b238aae50")
      let key = SecretBytes(Array(0..<64))
      let hash = try PasswordHash(scheme: .firebaseScrypt(parameters), salt: bytes("vestasalt0"), digest: expected)
      try expect(try await crypto.verifyPassword("correct horse", against: hash, signerKey: key), "does not match")
      try expect(
        !(try await crypto.verifyPassword("correct house", against: hash, signerKey: key)), "a wrong password matches")
      let otherKey = SecretBytes(Array(1..<65))
      try expect(
        !(try await crypto.verifyPassword("correct horse", against: hash, signerKey: otherKey)), "a wrong key matches")
      let error = try await expectThrows(CryptoError.self, "no signer key") {
        try await crypto.verifyPassword("correct horse", against: hash)
      }
      try expect(error.code, equals: .invalidParameter, "code")
    },
    Contract("keyed and repeated digests of old systems mix password and salt in their order") { crypto in
      for vector in PasswordVectors.old {
        let hash = try PasswordHash(scheme: vector.scheme, salt: bytes("salt"), digest: try Hex.decode(vector.digest))
        let stored = try PasswordHash(text: hash.text)
        try expect(stored, equals: hash, "stored hash")
        for (password, isRight) in [("password", true), ("passwort", false), ("", false)] {
          let matches = try await crypto.verifyPassword(
            password, against: stored, signerKey: SecretBytes(bytes("secret key")))
          try expect(matches, equals: isRight, "\(vector.scheme) and \(password)")
        }
      }
      let keyed = try PasswordHash(scheme: .hmac(.sha256, SaltMixing()), salt: [1], digest: repeated(7, 32))
      let error = try await expectThrows(CryptoError.self, "no signer key") {
        try await crypto.verifyPassword("password", against: keyed)
      }
      try expect(error.code, equals: .invalidParameter, "code")
    },
    Contract("bcrypt matches the vectors of its author, or is unsupported") { crypto in
      for (password, text) in PasswordVectors.bcrypt {
        let hash = try PasswordHash(text: text)
        try await unlessUnsupported {
          try expect(try await crypto.verifyPassword(password, against: hash), "does not match \(text.prefix(7))")
          try expect(!(try await crypto.verifyPassword("x" + password, against: hash)), "a wrong password matches")
        }
      }
    },
    Contract("Argon2 matches the vectors of its reference, or is unsupported") { crypto in
      for (parameters, expected) in PasswordVectors.argon2 {
        try await unlessUnsupported {
          try await verify(crypto, "password", .argon2(parameters), bytes("somesalt"), try Hex.decode(expected))
        }
      }
    },
    Contract("a new hash matches its password alone, also after storing it") { crypto in
      let cheap = ScryptParameters(costLog2: 4, blockSize: 8, parallelism: 1)
      let firebase = FirebaseScryptParameters(rounds: 8, memoryCost: 4, saltSeparator: [7])
      let key = SecretBytes(repeated(9, 64))
      for scheme in [.scrypt(cheap), .firebaseScrypt(firebase), .pbkdf2(.sha512, iterations: 10)] as [PasswordScheme] {
        for password in ["", "secret", "p\u{0}q", "päß", String(repeating: "long", count: 500)] {
          let hash = try await crypto.hashPassword(password, scheme: scheme, signerKey: key)
          try expect(hash.scheme, equals: scheme, "scheme")
          let stored = try PasswordHash(text: hash.text)
          try expect(stored, equals: hash, "stored hash")
          try expect(try await crypto.verifyPassword(password, against: stored, signerKey: key), "does not match")
          for wrong in [password + " ", "p", String(password.dropLast()) + "x"] {
            try expect(
              !(try await crypto.verifyPassword(wrong, against: stored, signerKey: key)), "a wrong password matches")
          }
        }
      }
    },
    Contract("two hashes of one password differ") { crypto in
      let cheap = PasswordScheme.scrypt(ScryptParameters(costLog2: 1, blockSize: 1, parallelism: 1))
      let first = try await crypto.hashPassword("secret", scheme: cheap)
      let second = try await crypto.hashPassword("secret", scheme: cheap)
      try expect(first.salt != second.salt && first.digest != second.digest, "the salt is not random")
      try expect(first.salt.count >= 16, "the salt is short")
    },
    Contract("schemes that can only be verified, and mad costs, are refused") { crypto in
      let bcrypt = try await expectThrows(CryptoError.self, "bcrypt") {
        try await crypto.hashPassword("secret", scheme: .bcrypt(revision: .b, cost: 10))
      }
      try expect(bcrypt.code, equals: .unsupported, "code")
      let mad = PasswordScheme.scrypt(ScryptParameters(costLog2: 40, blockSize: 8, parallelism: 1))
      let error = try await expectThrows(CryptoError.self, "N = 2^40") {
        try await crypto.hashPassword("secret", scheme: mad)
      }
      try expect(error.code, equals: .limitExceeded, "code")
    },
  ]

  private static func verify(
    _ crypto: any CryptoProvider, _ password: String, _ scheme: PasswordScheme, _ salt: [UInt8], _ digest: [UInt8]
  ) async throws {
    let hash = try PasswordHash(scheme: scheme, salt: salt, digest: digest)
    try expect(try await crypto.verifyPassword(password, against: hash), "\(scheme) does not match")
    try expect(!(try await crypto.verifyPassword(password + "x", against: hash)), "a wrong password matches")
  }

  private static func unlessUnsupported(_ check: () async throws -> Void) async throws {
    do {
      try await check()
    } catch CryptoError.Code.unsupported {
      return
    }
  }
}

/// Published vectors: RFC 6070, RFC 7914, the test programs of crypt_blowfish and of Argon2's reference.
enum PasswordVectors {
  static let scrypt: [(String, String, ScryptParameters, String)] = [
    (
      "", "", ScryptParameters(costLog2: 4, blockSize: 1, parallelism: 1),
      "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
        + "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"
    ),
    (
      "password", "NaCl", ScryptParameters(costLog2: 10, blockSize: 8, parallelism: 16),
      "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
        + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
    ),
    (
      "pleaseletmein", "SodiumChloride", ScryptParameters(costLog2: 14, blockSize: 8, parallelism: 1),
      "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
        + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"
    ),
  ]

  static let pbkdf2: [(DigestAlgorithm, String, String, Int, String)] = [
    (.sha1, "password", "salt", 1, "0c60c80f961f0e71f3a9b524af6012062fe037a6"),
    (.sha1, "password", "salt", 2, "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957"),
    (.sha1, "password", "salt", 4096, "4b007901b765489abead49d926f721d065a429c1"),
    (
      .sha1, "passwordPASSWORDpassword", "saltSALTsaltSALTsaltSALTsaltSALTsalt", 4096,
      "3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038"
    ),
    (
      .sha256, "passwd", "salt", 1,
      "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"
        + "49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783"
    ),
    (
      .sha256, "Password", "NaCl", 80_000,
      "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56"
        + "a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d"
    ),
    (
      .sha512, "password", "salt", 1,
      "867f70cf1ade02cff3752599a3a53dc4af34c7a669815ae5d513554e1c8cf252"
        + "c02d470a285a0501bad999bfe943c08f050235d7d68b1da55e63f73b60a57fce"
    ),
  ]

  /// Computed with another implementation: the password is `password`, the salt `salt`, the key `secret key`.
  static let old: [(scheme: PasswordScheme, digest: String)] = [
    (
      .hmac(.md5, SaltMixing(isSaltFirst: true, separator: [])),
      "5a2eb161bd417562ec58ffecc56e155d"
    ),
    (
      .hmac(.md5, SaltMixing(isSaltFirst: false, separator: [7])),
      "677122648d823824e546a253f5dc9c52"
    ),
    (
      .hmac(.sha1, SaltMixing(isSaltFirst: true, separator: [])),
      "6365b42a3c87c8c1a77fdcc1350a28d22ee83216"
    ),
    (
      .hmac(.sha1, SaltMixing(isSaltFirst: false, separator: [7])),
      "90312630595dd99752a28a992ecea460d75f9d1a"
    ),
    (
      .hmac(.sha256, SaltMixing(isSaltFirst: true, separator: [])),
      "d3122b9e1b2b12960bd0a9de6f4ef94671e504f45f7c986bcf223e0c03192db6"
    ),
    (
      .hmac(.sha256, SaltMixing(isSaltFirst: false, separator: [7])),
      "d9079e1abcc9af90b3481785e893242b05cf888db11c3fe3212ee96631a365e6"
    ),
    (
      .hmac(.sha512, SaltMixing(isSaltFirst: true, separator: [])),
      "377962dd30d6768da4bc320ae5e35c5e3a64445bc89a18ec79707a14344678bb"
        + "7d66240f91a6808c766766743c936eec586aed141c56ea3914bd0abbc68128e8"
    ),
    (
      .hmac(.sha512, SaltMixing(isSaltFirst: false, separator: [7])),
      "a5ac50bd1757f6ea0ec2f87810c92691639817c463fa9e16c5f09327930294b9"
        + "d48c417c68db1173adccbacaadf9190fdb693a52f3b99a85b12286f3c95a030c"
    ),
    (
      .digest(.md5, rounds: 1, SaltMixing(isSaltFirst: true, separator: [])),
      "67a1e09bb1f83f5007dc119c14d663aa"
    ),
    (
      .digest(.md5, rounds: 3, SaltMixing(isSaltFirst: false, separator: [7])),
      "2defc33b36e0f3d62f11f819929c594f"
    ),
    (
      .digest(.sha1, rounds: 1, SaltMixing(isSaltFirst: true, separator: [])),
      "59b3e8d637cf97edbe2384cf59cb7453dfe30789"
    ),
    (
      .digest(.sha1, rounds: 3, SaltMixing(isSaltFirst: false, separator: [7])),
      "d0ef183d9bd6f363067c93cb236c434a20515e7e"
    ),
    (
      .digest(.sha256, rounds: 1, SaltMixing(isSaltFirst: true, separator: [])),
      "13601bda4ea78e55a07b98866d2be6be0744e3866f13c00c811cab608a28f322"
    ),
    (
      .digest(.sha256, rounds: 3, SaltMixing(isSaltFirst: false, separator: [7])),
      "1e33b7513d353a4445af1ca40675c910809fc4880e238d9aa7c0264b831d1831"
    ),
    (
      .digest(.sha512, rounds: 1, SaltMixing(isSaltFirst: true, separator: [])),
      "2908d2c28dfc047741fc590a026ffade237ab2ba7e1266f010fe49bde548b598"
        + "7a534a86655a0d17f336588e540cd66f67234b152bbb645b4bb85758a1325d64"
    ),
    (
      .digest(.sha512, rounds: 3, SaltMixing(isSaltFirst: false, separator: [7])),
      "72acebb95fbe619e244468ebb7117912ca027b46ab326595128cb6a8575fcadc"
        + "a33cab89e691bde8801e111cc3dde14debffe5231a1f83714b9c9fff88eec8d5"
    ),
  ]

  static let bcrypt = [
    ("U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
    ("U*U*", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK"),
    ("U*U", "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
    ("U*U*U", "$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a"),
    (
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789chars after 72 are ignored",
      "$2y$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui"
    ),
  ]

  static let argon2: [(Argon2Parameters, String)] = [
    (
      Argon2Parameters(variant: .i, memory: 65_536, passes: 2, lanes: 1),
      "c1628832147d9720c5bd1cfd61367078729f6dfb6f8fea9ff98158e0d7816ed0"
    ),
    (
      Argon2Parameters(variant: .i, version: 16, memory: 65_536, passes: 2, lanes: 1),
      "f6c4db4a54e2a370627aff3db6176b94a2a209a62c8e36152711802f7b30c694"
    ),
    (
      Argon2Parameters(variant: .id, memory: 65_536, passes: 2, lanes: 1),
      "09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7"
    ),
    (
      Argon2Parameters(variant: .id, memory: 256, passes: 2, lanes: 1),
      "9dfeb910e80bad0311fee20f9c0e2b12c17987b4cac90c2ef54d5b3021c68bfe"
    ),
    (
      Argon2Parameters(variant: .id, memory: 256, passes: 2, lanes: 2),
      "6d093c501fd5999645e0ea3bf620d7b8be7fd2db59c20d9fff9539da2bf57037"
    ),
  ]
}

import CVestaOpenSSL
import Testing
import VestaCryptoInterop
import VestaTesting

@testable import VestaCrypto

@Suite struct HostileInputTests {
  private let crypto = OpenSSLCrypto()

  @Test func `mutated keys never crash and never leave errors behind`() async throws {
    let seed = UInt64.random(in: .min ... .max)
    print("mutated keys: seed \(seed)")
    var generator = SplitMix(seed: seed)
    for algorithm in SignatureAlgorithm.allCases {
      let key = try await crypto.generateSigningKey(algorithm)
      let publicBytes = try PEM(text: try key.verificationKey.pem()).bytes
      let privateBytes = try PEM(text: try key.privatePEM()).bytes
      var refused = 0
      for round in 0..<200 {
        var bytes = round % 2 == 0 ? publicBytes : privateBytes
        // Structure sits at the front; a changed number further back costs a long check and teaches little.
        bytes[Int.random(in: 0..<min(bytes.count, 40), using: &generator)] ^= .random(in: 1...255, using: &generator)
        if round % 5 == 0 { bytes.removeLast(Int.random(in: 1..<bytes.count, using: &generator)) }
        do {
          if round % 2 == 0 {
            let pem = PEM(label: "PUBLIC KEY", bytes: bytes).text
            _ = try crypto.verificationKey(pem: pem, algorithm: algorithm, keyID: nil)
          } else {
            let pem = PEM(label: "PRIVATE KEY", bytes: bytes).text
            _ = try crypto.signingKey(pem: pem, algorithm: algorithm, keyID: nil)
          }
        } catch {
          refused += 1
        }
        #expect(ERR_peek_error() == 0, "seed \(seed), round \(round)")
      }
      #expect(refused > 120, "seed \(seed)")
    }
  }

  @Test func `refused signatures leave no errors behind`() async throws {
    let key = try await crypto.generateSigningKey(.es256).verificationKey
    for count in [0, 1, 63, 64, 65, 1000] {
      #expect(!key.isValidSignature([UInt8](repeating: 0xFF, count: count), for: [1]))
      #expect(ERR_peek_error() == 0)
    }
  }

  @Test func `keys of other tools are read`() throws {
    // Made with `openssl ecparam -name prime256v1 -genkey -noout` (SEC 1) and `openssl req -x509` over it.
    let key = try crypto.signingKey(pem: Self.secretOfATool, algorithm: .es256, keyID: nil)
    let certified = try crypto.verificationKey(pem: Self.certificate, algorithm: .es256, keyID: nil)
    #expect(certified.isValidSignature(try key.signature(for: [1, 2, 3]), for: [1, 2, 3]))
    #expect(certified.keyID == key.keyID)
  }

  @Test func `a weak RSA key is refused with its reason`() throws {
    let error = #expect(throws: CryptoError.self) {
      try crypto.verificationKey(pem: Self.weakKey, algorithm: .rs256, keyID: nil)
    }
    #expect(error?.code == .invalidKey && error?.message.contains("2048") == true)
  }

  @Test func `another curve is refused with its reason`() throws {
    let error = #expect(throws: CryptoError.self) {
      try crypto.verificationKey(pem: Self.otherCurve, algorithm: .es256, keyID: nil)
    }
    #expect(error?.code == .invalidKey && error?.message.contains("P-256") == true)
  }

  @Test func `a password with a zero byte matches no bcrypt hash`() async throws {
    let hash = try PasswordHash(text: "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW")
    #expect(try await crypto.verifyPassword("U*U", against: hash))
    #expect(!(try await crypto.verifyPassword("U*U\u{0}x", against: hash)))
  }

  @Test(.enabled(if: Platform.hasArgon2, "libargon2.so.1 is not installed"))
  func `argon2 is verified`() async throws {
    let text = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
    #expect(try await crypto.verifyPassword("password", against: PasswordHash(text: text)))
    #expect(!(try await crypto.verifyPassword("passwort", against: PasswordHash(text: text))))
  }

  @Test func `a cancelled task hashes nothing`() async {
    let crypto = crypto
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await crypto.hashPassword("secret")
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  static let secretOfATool = """
    -----BEGIN EC PRIVATE KEY-----
    MHcCAQEEIK3bRvcjlV0gvyNMvoS5lxNsFUQa7sm8c/79RNPRnnwRoAoGCCqGSM49
    AwEHoUQDQgAE4ASzmoj0I+/Q4bv7Fxv66VJosxzdi/2M8sPuTFLqdZfBCFU3vij5
    a+X9m+vFULu2vFdayu6WA1PbTioccNz+/w==
    -----END EC PRIVATE KEY-----
    """

  static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBczCCARmgAwIBAgIUTM++GOCDHOq+5Akw1E4JNhY6ASAwCgYIKoZIzj0EAwIw
    DzENMAsGA1UEAwwEdGVzdDAeFw0yNjExMjEwMzI5NDRaFw0yNjExMjIwMzI5NDRa
    MA8xDTALBgNVBAMMBHRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATgBLOa
    iPQj79Dhu/sXG/rpUmizHN2L/Yzyw+5MUup1l8EIVTe+KPlr5f2b68VQu7a8V1rK
    7pYDU9tOKhxw3P7/o1MwUTAdBgNVHQ4EFgQUnwRnY53wr99S0h2u0szQKswzGfow
    HwYDVR0jBBgwFoAUnwRnY53wr99S0h2u0szQKswzGfowDwYDVR0TAQH/BAUwAwEB
    /zAKBggqhkjOPQQDAgNIADBFAiBDBdW2gvNiBeRsd9x4fu+7PZN68fyt4aSdbMIZ
    rnRAEQIhAMHC0DW9YBjDRkrSYCViDlOiyfKYFpkQVy24JX1b1OnI
    -----END CERTIFICATE-----
    """

  private static let weakKey = """
    -----BEGIN PUBLIC KEY-----
    MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCsW2/AgVptUXrGTfEsBXuJx66R
    dxpcp8fo6yTDSSGV3mBs5lV9jSW7VrHibc4hCqf0Onv/F2xPBIfi1V7QwPcwaVKP
    rBTL5Q1i4YlrD+B+3HViJO8Qp9m4rc2rwxrPQuqI40F3BOGO4S0JE9IPIruck5qZ
    HWPlt15oCUB5oqRHcQIDAQAB
    -----END PUBLIC KEY-----
    """

  private static let otherCurve = """
    -----BEGIN PUBLIC KEY-----
    MFYwEAYHKoZIzj0CAQYFK4EEAAoDQgAEOgN9xcRq0HoCaq+LdlRFqzr4GInmydMi
    Sj+rkhMn/YJ88UbTDiMioOxdjUjrhxf8yaYvvRhFgs4JQhKsFPaR9Q==
    -----END PUBLIC KEY-----
    """
}

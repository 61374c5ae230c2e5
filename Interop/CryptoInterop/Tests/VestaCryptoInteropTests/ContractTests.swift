import Testing
import VestaCryptoInterop
import VestaCryptoInteropContracts
import VestaTesting

/// A provider that computes nothing.
private struct EmptyProvider: CryptoProvider {
  private struct Stream: DigestStream {
    func update(_ bytes: RawSpan) throws(CryptoError) {}
    func finish() throws(CryptoError) -> [UInt8] { [0] }
  }

  func digest(_ algorithm: DigestAlgorithm, of bytes: RawSpan) throws(CryptoError) -> [UInt8] { [] }
  func makeDigestStream(_ algorithm: DigestAlgorithm) throws(CryptoError) -> any DigestStream { Stream() }
  func hmac(_ algorithm: DigestAlgorithm, key: [UInt8], message: [UInt8]) throws(CryptoError) -> [UInt8] { [] }
  func randomBytes(count: Int) throws(CryptoError) -> [UInt8] { [UInt8](repeating: 0, count: max(0, count)) }
  func constantTimeEquals(_ first: [UInt8], _ second: [UInt8]) -> Bool { true }
  func crc32c(_ bytes: RawSpan, continuing checksum: UInt32) -> UInt32 { 1 }
  func generateSigningKey(_ algorithm: SignatureAlgorithm, keyID: String?) async throws -> any SigningKey {
    FakeKey(algorithm: algorithm, keyID: keyID ?? "")
  }
  func signingKey(
    pem: String, algorithm: SignatureAlgorithm, keyID: String?
  ) throws(CryptoError) -> any SigningKey { FakeKey() }
  func signingKey(jsonWebKey: JSONWebKey) throws(CryptoError) -> any SigningKey { FakeKey() }
  func verificationKey(
    pem: String, algorithm: SignatureAlgorithm, keyID: String?
  ) throws(CryptoError) -> any VerificationKey { FakeKey() }
  func verificationKey(jsonWebKey: JSONWebKey) throws(CryptoError) -> any VerificationKey { FakeKey() }
  func hashPassword(
    _ password: String, scheme: PasswordScheme, signerKey: SecretBytes?
  ) async throws -> PasswordHash {
    try PasswordHash(scheme: scheme, salt: [], digest: [UInt8](repeating: 0, count: 16))
  }
  func verifyPassword(
    _ password: String, against hash: PasswordHash, signerKey: SecretBytes?
  ) async throws -> Bool { true }
}

@Suite struct ContractTests {
  @Test func `every promise has a name`() {
    let names = CryptoContracts.all.map(\.name)
    #expect(Set(names).count == names.count && names.count >= 30)
  }

  @Test func `a provider that computes nothing breaks every promise about results`() async {
    let outcomes = await CryptoContracts.all.run { EmptyProvider() }
    // Fake keys sign with a checksum, which keeps a few promises of signatures.
    let kept = Set(outcomes.filter(\.isKept).map(\.name))
    #expect(kept.isSubset(of: Self.keptByFakeKeys), "\(kept.subtracting(Self.keptByFakeKeys))")
  }

  private static let keptByFakeKeys: Set<String> = [
    "bytes that are no signature are not valid, whatever their length", "a signed token is believed, with its claims",
    "a token that was changed in any place is not believed",
  ]
}

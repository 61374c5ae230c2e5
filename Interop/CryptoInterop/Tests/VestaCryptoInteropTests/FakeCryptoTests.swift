import Testing
import VestaCryptoInterop
import VestaCryptoInteropContracts
import VestaCryptoInteropFakes
import VestaTesting

@Suite struct FakeCryptoTests {
  /// The promises that need no real cryptography.
  private static let kept: Set<String> = [
    "a finished digest stream refuses to go on",
    "a negative count of random bytes is an error",
    "a token that was changed in any place is not believed",
    "random bytes have the length asked for and do not repeat",
    "secrets are equal only when every byte and the length are",
    "a signed token is believed, with its claims",
    "a new hash matches its password alone, also after storing it",
    "a digest stream does not depend on how the message is cut",
    "CRC-32C matches the vectors of RFC 3720",
    "a public key used as a shared secret convinces nobody",
    "CRC-32C equals the plain one at every length and cut",
    "two hashes of one password differ",
  ]

  @Test func `the fake keeps the promises that engines under test rely on`() async {
    let outcomes = await CryptoContracts.all.run { FakeCrypto() }
    #expect(Set(outcomes.filter(\.isKept).map(\.name)) == Self.kept)
  }

  @Test func `two fakes draw the same random bytes, and one never draws bytes twice`() throws {
    let (one, two) = (FakeCrypto(), FakeCrypto())
    let drawn = try (0..<3).map { _ in try one.randomBytes(count: 16) }
    #expect(try (0..<3).map { _ in try two.randomBytes(count: 16) } == drawn)
    #expect(Set(drawn).count == 3)
  }

  @Test func `passwords and keys are counted`() async throws {
    let crypto = FakeCrypto()
    let hash = try await crypto.hashPassword("secret")
    #expect(try await crypto.verifyPassword("secret", against: hash))
    #expect(try await !crypto.verifyPassword("other", against: hash))
    _ = try await crypto.generateSigningKey(.rs256)
    #expect(crypto.passwordWork == 3 && crypto.work(of: .standard) == 3 && crypto.generatedKeys == 1)
  }

  @Test func `a barred system has no algorithm, or counts bytes`() throws {
    #expect(throws: CryptoError.self) { try BarredCrypto().digest(.md5, of: [1, 2]) }
    let counting = BarredCrypto(countsBytes: true)
    let stream = try counting.makeDigestStream(.sha256)
    try stream.update([1, 2, 3])
    try stream.update([4])
    #expect(try stream.finish() == BarredCrypto.digest(of: 4))
    #expect(counting.streams == 1)
  }
}

import Testing
import VestaCryptoInterop
import VestaCryptoInteropContracts
import VestaCryptoInteropFakes
import VestaTesting

@Suite struct KeptKeysTests {
  private let fake = FakeCrypto()

  @Test func `the first RSA key of every provider is the same one, and the second another one`() async throws {
    let keys = KeptKeys(of: fake)
    let (one, two) = (keys.provider(), keys.provider())
    let first = try await one.generateSigningKey(.rs256)
    let second = try await one.generateSigningKey(.rs256)
    #expect(first.keyID != second.keyID)
    #expect(try await two.generateSigningKey(.rs256).keyID == first.keyID)
    #expect(try await two.generateSigningKey(.rs256).keyID == second.keyID)
    #expect(fake.generatedKeys == 2)
    // Other keys than these have keys of their own.
    #expect(try await KeptKeys(of: fake).provider().generateSigningKey(.rs256).keyID != first.keyID)
  }

  @Test func `keys with a name, and keys of another algorithm, are fresh`() async throws {
    let provider = KeptKeys(of: fake).provider()
    let named = try await provider.generateSigningKey(.rs256, keyID: "mine")
    #expect(named.keyID == "mine")
    let curve = try await provider.generateSigningKey(.es256)
    #expect(try await provider.generateSigningKey(.es256).keyID != curve.keyID)
    #expect(fake.generatedKeys == 3)
  }

  @Test func `a provider keeps the promises of the one that answers its calls`() async {
    let own = Set(await CryptoContracts.all.run { FakeCrypto() }.filter(\.isKept).map(\.name))
    let keys = KeptKeys(of: FakeCrypto())
    #expect(Set(await CryptoContracts.all.run { keys.provider() }.filter(\.isKept).map(\.name)) == own)
  }
}

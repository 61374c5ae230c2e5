import ContractInterop
import CryptoInterop
import CryptoInteropContracts
import Testing
import VestaCrypto

@Suite struct ContractTests {
  @Test func openSSLKeepsEveryPromise() async {
    let outcomes = await CryptoContracts.all.run { OpenSSLCrypto() }
    #expect(outcomes.count == CryptoContracts.all.count)
    for outcome in outcomes { #expect(outcome.isKept, "\(outcome)") }
  }
}

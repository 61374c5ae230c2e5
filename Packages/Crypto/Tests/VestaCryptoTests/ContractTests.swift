import Testing
import VestaCrypto
import VestaCryptoInterop
import VestaCryptoInteropContracts
import VestaTesting

@Suite struct ContractTests {
  @Test func `OpenSSL keeps every promise`() async {
    let outcomes = await CryptoContracts.all.run { OpenSSLCrypto() }
    #expect(outcomes.count == CryptoContracts.all.count)
    for outcome in outcomes { #expect(outcome.isKept, "\(outcome)") }
  }

  @Test(arguments: FaultyProvider.Fault.allCases)
  func `every fault breaks a promise`(fault: FaultyProvider.Fault) async {
    for contract in Self.quick {
      do {
        try await contract.verify(FaultyProvider(fault))
      } catch {
        return
      }
    }
    Issue.record("nobody noticed: \(fault)")
  }

  // The vectors of the slow functions say nothing that the quick password checks do not say about these faults.
  private static let quick = CryptoContracts.all.filter { contract in
    !["scrypt matches", "PBKDF2 matches", "bcrypt matches", "Argon2 matches", "generated keys"]
      .contains { contract.name.hasPrefix($0) }
  }
}

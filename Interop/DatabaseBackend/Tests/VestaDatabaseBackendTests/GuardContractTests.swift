import Testing
import VestaDatabaseBackend
import VestaDatabaseBackendContracts
import VestaTesting

@Suite struct GuardContractTests {
  private func subject(_ lapse: GuardedTree.Lapse) -> GuardedDatabaseSubject {
    GuardedDatabaseSubject { GuardedTree($0, lapse) }
  }

  @Test(arguments: DatabaseGuardContracts.all)
  func `an engine that asks everywhere keeps`(_ contract: Contract<GuardedDatabaseSubject>) async throws {
    try await contract.verify(subject(.none))
  }

  // An engine that forgets changes of the rules keeps the contract waiting, which is found, too.
  @Test(arguments: GuardedTree.Lapse.allCases.filter { $0 != .none && $0 != .rulesChange })
  func `an engine that forgets a path breaks a contract`(_ lapse: GuardedTree.Lapse) async {
    var isFound = false
    for contract in DatabaseGuardContracts.all where !isFound {
      do { try await contract.verify(subject(lapse)) } catch { isFound = true }
    }
    #expect(isFound, "an engine that forgets \(lapse) keeps all contracts")
  }
}

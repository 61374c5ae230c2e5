import Testing
import VestaDatabaseBackend
import VestaDatabaseBackendContracts
import VestaDatabaseBackendFakes
import VestaDatabaseWire
import VestaServiceInteropFakes
import VestaTesting

@testable import VestaDatabaseRemote

/// The remote backend, its endpoints and an engine keep what a backend promises.
@Suite(.timeLimit(.minutes(20))) struct ContractTests {
  @Test(arguments: DatabaseContracts.all)
  func `the engine behind its endpoints keeps the contract`(_ contract: Contract<DatabaseSubject>) async throws {
    try await contract.verify(DatabaseSubject(Served.onFakeNetwork().remote))
  }

  @Test(arguments: DatabaseContracts.all)
  func `the contract is kept over small pieces and delays`(_ contract: Contract<DatabaseSubject>) async throws {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    do {
      try await contract.verify(DatabaseSubject(Served.onScriptedNetwork(seed: seed).remote))
    } catch {
      Issue.record("seed \(seed): \(error)")
    }
  }

  @Test(arguments: DatabaseContracts.all)
  func `the contract is kept where messages have many pieces`(_ contract: Contract<DatabaseSubject>) async throws {
    var options = DatabaseRemoteOptions()
    options.tuning.wire.pieceUnits = 2
    try await contract.verify(DatabaseSubject(Served.onFakeNetwork(options: options).remote))
  }

  @Test(arguments: DatabaseAdminContracts.all)
  func `the administration keeps its contract`(_ contract: Contract<DatabaseAdminSubject>) async throws {
    var options = DatabaseRemoteOptions()
    options.tuning.exportRows = Int.random(in: 1...3)
    let served = try Served.onFakeNetwork(
      verifier: ReadingCallerVerifier(), rules: FakeRulesAdministration(), options: options)
    try await contract.verify(DatabaseAdminSubject(served.remote, admin: served.remote))
  }

  @Test(arguments: DatabaseAdminContracts.all)
  func `the administration keeps its contract over small pieces and delays`(
    _ contract: Contract<DatabaseAdminSubject>
  ) async throws {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    let served = try Served.onScriptedNetwork(
      seed: seed, verifier: ReadingCallerVerifier(), rules: FakeRulesAdministration())
    do {
      try await contract.verify(DatabaseAdminSubject(served.remote, admin: served.remote))
    } catch {
      Issue.record("seed \(seed): \(error)")
    }
  }
}

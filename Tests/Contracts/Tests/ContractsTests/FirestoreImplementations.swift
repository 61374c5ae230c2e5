import Foundation
import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaFirestoreReference
import VestaFirestoreService
import VestaMemoryStore
import VestaSQLite
import VestaStoreInterop
import VestaTesting

@Suite struct FirestoreImplementations {
  static let all: [Implementation<FirestoreSubject>] = [
    Implementation("FirestoreEngine") { FirestoreSubject(FirestoreImplementations.engine(on: MemoryStore())) }
  ]

  /// An engine in which no transaction expires while the machine is busy.
  private static func engine(on store: any OrderedStore, _ guardian: (any FirestoreGuard)? = nil) -> FirestoreEngine {
    var options = FirestoreServiceOptions()
    options.transactionIdleTime = .seconds(100_000)
    options.transactionLifetime = .seconds(100_000)
    return FirestoreEngine(store: store, options: options, gatekeeper: guardian)
  }

  @Test(arguments: all) func `an implementation keeps every promise`(_ implementation: Implementation<FirestoreSubject>)
    async
  {
    await implementation.keeps(FirestoreContracts.all)
  }

  @Test func `the engine keeps the promises of its administration`() async {
    let implementation = Implementation("FirestoreEngine") {
      let engine = FirestoreImplementations.engine(on: MemoryStore())
      return FirestoreAdminSubject(engine, admin: engine)
    }
    await implementation.keeps(FirestoreAdminContracts.all)
  }

  /// Listeners that do not see a clear, while it is made and after it.
  @Test(arguments: [true, false])
  func `a flawed listener breaks exactly one promise of clears`(_ isOpen: Bool) async {
    let contracts = FirestoreAdminContracts.all.filter { $0.name.contains("a clear") || $0.name.contains("is cleared") }
    let isResumed = Locked(false)
    let flaw = FirestoreFlaw("does not see a clear") { backend in
      backend.onTarget = { target in if target.resume != nil { isResumed.withLock { $0 = true } } }
      backend.onListened = { responses in
        guard isResumed.withLock({ $0 }) != isOpen else { return }
        // A resumed target is told of deletions in any of these ways; it sees what was written after the clear.
        responses.removeAll { response in
          switch response {
          case .documentDelete, .documentRemove: true
          case .filter: !isOpen
          case .targetChange(let change): !isOpen && change.kind == .reset
          case .documentChange: false
          }
        }
      }
    }
    let outcomes = await contracts.run {
      let engine = FirestoreImplementations.engine(on: MemoryStore())
      return FirestoreAdminSubject(flaw.applied(to: engine), admin: engine)
    }
    let broken = outcomes.filter { !$0.isKept }.map { $0.name }
    let start = isOpen ? "a listener that is open while" : "a target that is resumed after"
    #expect(broken.count == 1 && broken.allSatisfy { $0.hasPrefix(start) }, "\(broken)")
  }

  @Test func `the engine with a guard keeps every promise`() async {
    let implementation = Implementation("FirestoreEngine") {
      GuardedFirestoreSubject { FirestoreImplementations.engine(on: MemoryStore(), $0) }
    }
    await implementation.keeps(FirestoreGuardContracts.all)
  }

  /// The reference has no past, no transactions and no calls that stay open.
  @Test func `the reference keeps what it implements`() async {
    await Implementation("ReferenceBackend") { FirestoreSubject(ReferenceBackend()) }.keeps(FirestoreContracts.basic)
  }

  @Test func `the engine keeps every promise on SQLite`() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "vesta-contracts-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    for (number, contract) in FirestoreContracts.all.enumerated() {
      let path = directory.appending(path: "\(number)").path
      let store = try await SQLiteStoreProvider().openStore(named: "firestore", in: path, options: StoreOptions())
      let engine = Self.engine(on: store)
      for outcome in await [contract].run(against: { FirestoreSubject(engine) }) {
        #expect(outcome.isKept, "\(outcome)")
      }
      try await engine.close()
    }
  }

  /// Each flaw is found by the promises that it breaks, and by no other.
  @Test(arguments: FirestoreFlaw.all) func `a flaw breaks its promise`(_ flaw: FirestoreFlaw) async {
    let outcomes = await FirestoreContracts.all.run { contract in
      let backend = flaw.applied(to: Self.engine(on: MemoryStore()))
      let isBroken = flaw.broken.contains(contract.name)
      return FirestoreSubject(backend, patience: isBroken ? .milliseconds(500) : .seconds(60))
    }
    let broken = Set(outcomes.filter { !$0.isKept }.map(\.name))
    #expect(broken.subtracting(flaw.atRisk) == flaw.broken)
  }
}

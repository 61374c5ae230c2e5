import Foundation
import VestaBytes
import VestaConcurrency
import VestaCore
import VestaSQLite
import VestaStoreInterop

/// The steps of a delivery, as the commits of the queue show them.
enum DeliveryStep: String, CaseIterable, Sendable {
  /// The process takes the right to deliver.
  case claim
  /// The function runs.
  case run
  /// An event leaves the queue.
  case acknowledge
  /// A failed attempt is noted.
  case retry
  /// An event becomes a dead letter.
  case dead
}

/// The step at which the process kills itself.
struct Death: Sendable, Hashable {
  let step: DeliveryStep
  /// Whether the commit of the step, or the function, has ended.
  let isAfter: Bool

  init?(_ words: ArraySlice<String>) {
    guard words.count == 2, let first = words.first, let step = DeliveryStep(rawValue: first),
      let last = words.last, last == "after" || last == "before"
    else { return nil }
    (self.step, isAfter) = (step, last == "after")
  }

  /// Says where it is, and ends the process as a power switch would.
  func come() -> Never {
    Worker.say("dead \(step.rawValue) \(isAfter ? "after" : "before")")
    while true { kill(getpid(), SIGKILL) }
  }

  /// The death of the apps that are configured from now on.
  static let chosen = Locked<Death?>(nil)
}

/// Stores on SQLite; that of the documents kills the process at the chosen step.
enum DeadlyStores: Library {
  static let name = "deadly-stores"

  static func components() -> [Component] {
    [Component((any StoreProvider).self, caching: .shared) { _ in Provider() }]
  }

  private struct Provider: StoreProvider {
    func openStore(
      named name: String, in directory: String, options: StoreOptions
    ) async throws -> any OrderedStore {
      let store = try await SQLiteStoreProvider().openStore(named: name, in: directory, options: options)
      guard name == "firestore", let death = Death.chosen.withLock({ $0 }) else { return store }
      return DeadlyStore(store, death)
    }
  }
}

private final class DeadlyStore: OrderedStore {
  private let base: any OrderedStore
  private let death: Death

  init(_ base: any OrderedStore, _ death: Death) { (self.base, self.death) = (base, death) }

  func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    try await base.read(body)
  }

  func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    let (death, steps) = (death, Locked<Set<DeliveryStep>>([]))
    let commit = try await base.write { transaction in
      // The body may run again, and then only its last run counts.
      steps.withLock { $0 = [] }
      let result = try await body(WatchedTransaction(base: transaction, steps: steps))
      if !death.isAfter, steps.withLock({ $0.contains(death.step) }) { death.come() }
      return result
    }
    if death.isAfter, steps.withLock({ $0.contains(death.step) }) { death.come() }
    return commit
  }

  func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion { try await base.raiseFloor(to: version) }

  func close() async throws { try await base.close() }
}

/// A transaction that notes which steps of a delivery it makes.
private struct WatchedTransaction: StoreTransaction {
  let base: any StoreTransaction
  let steps: Locked<Set<DeliveryStep>>

  var version: StoreVersion { base.version }

  func get(_ key: [UInt8]) async throws -> [UInt8]? { try await base.get(key) }

  func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] { try await base.get(keys) }

  func scan(
    _ range: KeyRange, order: ScanOrder, limit: Int?, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    try await base.scan(range, order: order, limit: limit, visit)
  }

  func commitVersion() async throws -> StoreVersion { try await base.commitVersion() }

  func put(_ value: [UInt8], for key: [UInt8]) async throws {
    switch table(key) {
    case 2: note(.retry)
    case 3: note(.dead)
    case 4: note(.claim)
    default: break
    }
    try await base.put(value, for: key)
  }

  func delete(_ key: [UInt8]) async throws {
    if table(key) == 1 { note(.acknowledge) }
    try await base.delete(key)
  }

  func deleteRange(_ range: KeyRange) async throws {
    if table(range.lower) == 1 { note(.acknowledge) }
    try await base.deleteRange(range)
  }

  private func note(_ step: DeliveryStep) { steps.withLock { _ = $0.insert(step) } }

  /// The table of the outbox of the documents that a key is in; `nil` for every other key.
  private func table(_ key: [UInt8]) -> Int64? {
    let outbox = KeyEncoder(.int(4), .string("")).bytes
    guard key.starts(with: outbox) else { return nil }
    var decoder = KeyDecoder(key, from: outbox.count)
    return try? decoder.int()
  }
}

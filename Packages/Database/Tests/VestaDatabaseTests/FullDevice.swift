import VestaConcurrency
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabase

/// A device whose disk is full when the test says so; its store outlives the clients that open it.
final class FullDevice: StoreProvider, OrderedStore {
  enum Room: Sendable, CaseIterable {
    case enough
    /// Commits that only take rows away succeed.
    case forRemovals
    case none
  }

  let store = ModelStore()
  let room = Locked(Room.enough)
  /// A gate that holds the next commit, after it has read the room.
  let held = Locked<Gate?>(nil)
  /// The commits that have begun to wait.
  let arrived = Log<Int>()
  /// The commits that were refused.
  let refused = Log<Int>()
  /// The commits that were stored.
  let stored = Log<Int>()

  func openStore(named name: String, in directory: String, options: StoreOptions) async throws -> any OrderedStore {
    self
  }

  func persistence(_ limit: Int, _ tuning: DatabaseTuning, _ clock: ManualClock = ManualClock()) -> Persistence {
    Persistence(limit: limit, tuning: tuning, clock: clock.service) { self }
  }

  /// The numbers of the writes that the device has.
  func writes() async throws -> [Int] {
    try await store.read { reader in
      try await reader.entries(in: KeyRange(prefix: [DeviceRows.writes])).map { try DeviceRows.number(in: $0.key) }
    }
  }

  func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    try await store.read(body)
  }

  func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    let room = room.withLock { $0 }
    if let held = held.withLock({ $0.take() }) {
      arrived.add(0)
      await held.wait()
    }
    do {
      let commit = try await store.write { try await body(Limited(transaction: $0, room: room)) }
      stored.add(0)
      return commit
    } catch {
      refused.add(0)
      throw error
    }
  }

  func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion { try await store.raiseFloor(to: version) }
  func close() async throws {}

  private struct Limited: StoreTransaction {
    let transaction: any StoreTransaction
    let room: Room

    var version: StoreVersion { transaction.version }
    func commitVersion() async throws -> StoreVersion { try await transaction.commitVersion() }
    func get(_ key: [UInt8]) async throws -> [UInt8]? { try await transaction.get(key) }
    func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] { try await transaction.get(keys) }
    var answersInPlace: Bool { transaction.answersInPlace }

    func scan(
      _ range: KeyRange, order: ScanOrder, limit: Int?, _ visit: (RawSpan, RawSpan) throws -> ScanStep
    ) async throws -> ScanEnd { try await transaction.scan(range, order: order, limit: limit, visit) }

    func put(_ value: [UInt8], for key: [UInt8]) async throws {
      try refuse(unless: room == .enough)
      try await transaction.put(value, for: key)
    }

    func delete(_ key: [UInt8]) async throws {
      try refuse(unless: room != .none)
      try await transaction.delete(key)
    }

    func deleteRange(_ range: KeyRange) async throws {
      try refuse(unless: room != .none)
      try await transaction.deleteRange(range)
    }

    private func refuse(unless isAllowed: Bool) throws {
      if !isAllowed { throw StoreError(.diskFull, operation: "write", message: "The disk is full.") }
    }
  }
}

extension SplitMix {
  mutating func room() -> FullDevice.Room { FullDevice.Room.allCases[below(3)] }
}

extension DatabaseTuning {
  /// Figures at which everything happens early.
  static func small(_ random: inout SplitMix) -> DatabaseTuning {
    var tuning = DatabaseTuning()
    tuning.deviceGroup = 1 + random.below(4)
    tuning.deviceBacklog = random.below(6)
    tuning.updatesPerPruning = 1 + random.below(12)
    tuning.inactiveQueries = 1 + random.below(6)
    tuning.transactionAttempts = 25
    return tuning
  }
}

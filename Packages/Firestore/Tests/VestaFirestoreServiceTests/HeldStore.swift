import VestaConcurrency
import VestaStoreInterop
import VestaStoreInteropFakes

/// A store in which scans can be kept waiting, all others going on.
///
/// Readers stay at the version that they began with.
final class HeldStore: OrderedStore {
  private struct State: Sendable {
    var holds: [KeyRange] = []
    /// Whether rows that are read by their keys are held too.
    var holdsKeys = false
    var waiting: [CheckedContinuation<Void, Never>] = []
    var arrivals: [CheckedContinuation<Void, Never>] = []
  }

  private let store = ModelStore()
  private let state = Locked(State())

  /// Holds from here on all callers that read or scan a range that begins within one of these.
  func hold(_ ranges: KeyRange...) { state.withLock { $0.holds = ranges } }

  /// The same for rows that are read by their keys too.
  func hold(keysIn range: KeyRange) { state.withLock { ($0.holds, $0.holdsKeys) = ([range], true) } }

  /// Waits until a caller is held.
  func arrival() async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.waiting.isEmpty { state.arrivals.append(continuation) }
        return !state.waiting.isEmpty
      }
      if isThere { continuation.resume() }
    }
  }

  /// How many are kept waiting.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Releases all callers that are held.
  ///
  /// - Parameter ranges: The ranges that hold the next ones.
  func release(holding ranges: KeyRange...) {
    let waiting = state.withLock { state in
      defer { (state.holds, state.holdsKeys, state.waiting) = (ranges, false, []) }
      return state.waiting
    }
    for waiter in waiting { waiter.resume() }
  }

  func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    try await store.read { try await body(HeldReader(reader: $0, store: self)) }
  }

  func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> { try await store.write(body) }

  func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion { try await store.raiseFloor(to: version) }

  func close() async throws { try await store.close() }

  fileprivate func pass(_ key: [UInt8], isRead: Bool = false) async {
    await withCheckedContinuation { continuation in
      let (goesOn, arrivals) = state.withLock { state in
        guard !isRead || state.holdsKeys, state.holds.contains(where: { $0.contains(key) }) else {
          return (true, state.arrivals.prefix(0))
        }
        defer { state.arrivals = [] }
        state.waiting.append(continuation)
        return (false, state.arrivals[...])
      }
      for arrival in arrivals { arrival.resume() }
      if goesOn { continuation.resume() }
    }
  }
}

private struct HeldReader: StoreReader {
  let reader: any StoreReader
  let store: HeldStore

  var version: StoreVersion { reader.version }

  func get(_ key: [UInt8]) async throws -> [UInt8]? { try await reader.get(key) }

  func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] {
    for key in keys { await store.pass(key, isRead: true) }
    return try await reader.get(keys)
  }

  func scan(
    _ range: KeyRange, order: ScanOrder, limit: Int?, _ visit: (RawSpan, RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    await store.pass(range.lower)
    return try await reader.scan(range, order: order, limit: limit, visit)
  }
}

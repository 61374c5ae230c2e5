import VestaStoreInterop

/// The sessions whose operations for the end are still to be carried out, and the engines that have stopped; pure.
///
/// Worked example: engines A (this one), B and C share a store. B has crashed, and left a session and a lease that ends
/// at 100; C has given its lease back and left a session.
///
/// | event | answer |
/// |---|---|
/// | `ended(s)`: a client of A has left | `owed` is s, until `carriedOut(s)` |
/// | `judge` at 90 | C has stopped: it has sessions and no lease |
/// | `judge` at 110 | nothing of B: its lease is over for the first time |
/// | `judge` at 120, B's row is the same | B's lease is to be removed; with it B has stopped |
/// | `judge` at 120, B has renewed its lease | nothing of B |
struct SessionLedger: Sendable {
  /// A decision about other engines.
  struct Verdict: Sendable, Equatable {
    /// The engines that have stopped: nothing else looks after their sessions.
    var stopped: Set<String> = []
    /// The rows of the leases that are over; an engine whose row is still the same has stopped, too.
    var expired: [String: [UInt8]] = [:]
  }

  /// The sessions that have ended, and whose operations could not be carried out yet.
  private var unfinished: Set<String> = []
  /// Whether sessions of engines before this one could not be ended yet.
  private(set) var hasForeignEnds = false
  /// The rows of the leases of other engines that were over at the last look.
  private var suspects: [String: [UInt8]] = [:]

  /// The sessions whose operations are still to be carried out, in order.
  var owed: [String] { unfinished.sorted() }

  /// Whether nothing of this engine's sessions is left to do.
  var isSettled: Bool { unfinished.isEmpty }

  /// Whether something precedes later writes.
  var hasUnfinishedEnds: Bool { hasForeignEnds || !unfinished.isEmpty }

  /// Sessions of this engine have ended.
  mutating func ended(_ sessions: some Sequence<String>) { unfinished.formUnion(sessions) }

  /// The operations of a session have been carried out.
  mutating func carriedOut(_ session: String) { unfinished.remove(session) }

  /// The sessions of earlier engines are to be ended.
  mutating func foreignEndsBegan() { hasForeignEnds = true }

  /// The sessions of earlier engines have been ended.
  mutating func foreignEndsCarriedOut() { hasForeignEnds = false }

  /// Looks at the other engines of a shared store.
  ///
  /// A lease counts as over when its row was found so twice: also where the time of the store jumps, an engine that
  /// lives has renewed it in between.
  ///
  /// - Parameters:
  ///   - owners: The engines that have sessions.
  ///   - leases: The rows of the leases.
  ///   - own: This engine.
  ///   - now: The time of the store.
  mutating func judge(owners: Set<String>, leases: [String: [UInt8]], own: String, now: StoreVersion) -> Verdict {
    let others = leases.filter { $0.key != own }
    let over = others.filter { SessionLease($0.value).until <= now.microseconds }
    defer { suspects = over }
    return Verdict(
      stopped: owners.subtracting(others.keys).subtracting([own]),
      expired: over.filter { suspects[$0.key] == $0.value })
  }
}

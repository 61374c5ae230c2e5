import Foundation
import VestaConcurrency
import VestaFirestore

/// A listener that checks each snapshot by itself and against the one before.
final class OracleListener: Sendable {
  /// The data of a snapshot.
  struct Shown: Sendable {
    var paths: [String] = []
    var fields: [String: OracleFields] = [:]
    var isFromCache = true
    var isPending = false

    /// The documents, each with the number of its last write.
    var summary: String {
      let states = paths.map { "\($0) \(fields[$0]?["seq"].map { "\($0)" } ?? "-")" }
      return "\(states)\(isFromCache ? " cached" : "")\(isPending ? " pending" : "")"
    }
  }

  private struct State: Sendable {
    var shown: Shown?
    var count = 0
    var last: [String: Int64] = [:]
    /// The documents that are not compared with `last`.
    var ignored: Set<String> = []
    /// The last snapshots, for the message of a failure.
    var recent: [String] = []
    var faults: [String] = []
    var waiting: (id: Int, check: @Sendable (Shown) -> Bool, latch: Latch)?
    var registration: (any VestaFirestore.ListenerRegistration)?
  }

  let query: OracleQuery
  let includesMetadata: Bool
  private let state = Locked(State())

  init(_ query: OracleQuery, of db: Firestore, includesMetadata: Bool) {
    self.query = query
    self.includesMetadata = includesMetadata
    let registration = query.query(of: db).addSnapshotListener(includeMetadataChanges: includesMetadata) {
      [weak self] snapshot, error in
      if let snapshot { self?.take(snapshot) } else { self?.fault("failed: \(String(describing: error))") }
    }
    state.withLock { $0.registration = registration }
  }

  func remove() { state.withLock { $0.registration.take() }?.remove() }

  var shown: Shown? { state.withLock { $0.shown } }
  var count: Int { state.withLock { $0.count } }

  /// The faults since the last call.
  func takeFaults() -> [String] {
    state.withLock { state in
      defer { state.faults = [] }
      return state.faults
    }
  }

  /// Leaves out documents of which a write is refused and taken back, where the order of states is compared.
  func ignoreStates(of paths: Set<String>) { state.withLock { $0.ignored.formUnion(paths) } }

  private func fault(_ text: String) { state.withLock { $0.faults.append(text) } }

  private func take(_ snapshot: QuerySnapshot) {
    let latch = state.withLock { state -> Latch? in
      let before = state.shown?.paths ?? []
      var now = Shown()
      now.isFromCache = snapshot.metadata.isFromCache
      now.isPending = snapshot.metadata.hasPendingWrites
      for document in snapshot.documents {
        let path = document.reference.path
        now.paths.append(path)
        now.fields[path] = OracleWorld.fields(of: document)
      }
      // The changes lead from the snapshot before to this one, one after the other.
      var list = before
      for change in snapshot.documentChanges {
        let path = change.document.reference.path
        if change.type != .added {
          guard Int(change.oldIndex) < list.count, list[Int(change.oldIndex)] == path else {
            state.faults.append("\(change.type) of \(path) at \(change.oldIndex) in \(list)")
            break
          }
          list.remove(at: Int(change.oldIndex))
        }
        if change.type != .removed { list.insert(path, at: min(Int(change.newIndex), list.count)) }
      }
      if list != now.paths { state.faults.append("the changes lead to \(list), not \(now.paths)") }
      if query.results(now.fields) != now.paths { state.faults.append("\(now) is no answer") }
      for (path, fields) in now.fields {
        guard case .integer(let number)? = fields["seq"] else { continue }
        if let last = state.last[path], last > number, !state.ignored.contains(path) {
          state.faults.append("\(path) went back from \(last) to \(number), after \(state.recent)")
        }
        state.last[path] = max(number, state.last[path] ?? number)
      }
      state.shown = now
      state.count += 1
      state.recent = state.recent.suffix(5) + [now.summary]
      guard let waiting = state.waiting, waiting.check(now) else { return nil }
      state.waiting = nil
      return waiting.latch
    }
    latch?.open()
  }

  /// Waits until the last snapshot satisfies a condition, for a bounded time; returns whether it does.
  func wait(for condition: @escaping @Sendable (Shown) -> Bool) async -> Bool {
    // Long enough for a busy machine; a right answer takes a few milliseconds.
    let isLate = Locked(false)
    while true {
      let latch = Latch()
      let isThere = state.withLock { state in
        if let shown = state.shown, condition(shown) { return true }
        state.waiting = (0, condition, latch)
        return false
      }
      if isThere || isLate.withLock({ $0 }) { return isThere }
      let timer = Task {
        try await Task.sleep(for: .seconds(60))
        isLate.withLock { $0 = true }
        latch.open()
      }
      // Later snapshots may be delivered before this task runs again.
      await latch.wait()
      timer.cancel()
    }
  }
}

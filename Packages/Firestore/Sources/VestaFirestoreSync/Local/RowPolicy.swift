import VestaFirestoreModel

/// Which changes of a cache become rows of a durable store.
package enum RowPolicy: Sendable, Hashable {
  /// All of them: documents, targets and pending writes.
  case everything
  /// Pending writes alone, and of these the ones that no engine is about to have.
  case pendingWrites

  /// The policy for a kind of link.
  package init(_ link: BackendLink) { self = link == .embedded ? .pendingWrites : .everything }

  /// Whether rows are made of documents and of targets.
  var hasDocuments: Bool { self == .everything }
}

/// The rows of pending writes where only those have rows.
///
/// While the engine takes writes, a write has no row: the engine's commit is durable. A write that was queued while the
/// network was disabled has one, which is deleted once the engine has it.
///
/// Worked example: the network is disabled, and batch 1 is written: its row is made. The network is enabled, and batch
/// 2 is written: no row. The engine acknowledges both: the row of batch 1 is deleted, and for batch 2 nothing is
/// written.
struct KeptBatches: Sendable {
  private var keys: Set<[UInt8]>

  /// - Parameter keys: The keys of the rows that an earlier client left.
  init(_ keys: Set<[UInt8]>) { self.keys = keys }

  /// The rows to write, of the rows that have changed.
  ///
  /// - Parameter makesRows: Whether a write that has no row gets one now.
  mutating func take(_ rows: [CacheRow], makesRows: Bool) -> [CacheRow] {
    rows.filter { row in
      if row.value == nil { return keys.remove(row.key) != nil }
      if makesRows { keys.insert(row.key) }
      return makesRows
    }
  }
}

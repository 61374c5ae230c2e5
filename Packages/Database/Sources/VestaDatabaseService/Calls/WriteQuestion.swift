import VestaDatabaseBackend
import VestaDatabaseModel
import VestaServiceInterop

/// The question to a guard about the write of a connection.
struct WriteQuestion: Sendable {
  let gatekeeper: any DatabaseGuard
  let caller: CallContext
  let now: Int64
  let namespace: String

  /// The question; `nil` where no guard is to be asked.
  init?(_ gatekeeper: (any DatabaseGuard)?, _ caller: CallContext, now: Int64, in namespace: String) {
    guard let gatekeeper, !caller.isOwner else { return nil }
    (self.gatekeeper, self.caller, self.now, self.namespace) = (gatekeeper, caller, now, namespace)
  }

  /// Whether the guard lets values be written.
  func mayWrite(_ values: [DatabasePathValue], _ reader: TreeReader) async throws -> Bool {
    let before = StoredState(reader: reader)
    return try await gatekeeper.mayWrite(
      DatabaseGuardedWrite(values, at: now, in: namespace), before: before,
      after: DatabaseStateAfter(before, values), context: caller)
  }
}

/// The tree in the store, as a guard looks at it: a few rows for each glance.
struct StoredState: DatabaseGuardState {
  let reader: TreeReader

  nonisolated(nonsending) func glance(at path: DatabasePath) async throws -> DatabaseGlance {
    if path.back?.isPriority == true, let parent = path.parent {
      return try await reader.row(parent)?.priority.map { .leaf($0, priority: nil) } ?? .empty
    }
    let row = try await reader.row(path)
    if let leaf = row?.leaf { return .leaf(leaf, priority: row?.priority) }
    return try await reader.exists(path) ? .parent(priority: row?.priority) : .empty
  }

  nonisolated(nonsending) func childKeys(
    of path: DatabasePath, after key: DatabaseKey?, limit: Int
  ) async throws -> [DatabaseKey] {
    try await reader.childKeys(of: path, after: key, limit: limit)
  }
}

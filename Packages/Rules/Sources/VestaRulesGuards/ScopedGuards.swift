import VestaBytes
import VestaConcurrency
import VestaDatabaseBackend
import VestaFirestoreBackend
import VestaRules
import VestaServiceInterop
import VestaStorageBackend

// Guards of projects with rules for single databases and buckets: each asks the guard that has the rules of the place.

/// Decides about documents by the rules of their database.
struct ScopedFirestoreGuard: FirestoreGuard {
  let others: FirestoreRulesGuard
  let named: [String: FirestoreRulesGuard]

  /// The guard of a resource, `projects/p/databases/d/documents/…`.
  private func guardian(of name: String) -> FirestoreRulesGuard {
    let parts = name.parts(at: "/", maxSplits: 4, omittingEmpty: true)
    return parts.count > 3 ? named[String(parts[3])] ?? others : others
  }

  func observe(_ changed: @escaping @Sendable () -> Void) -> ListenerRegistration {
    .all(([others] + named.values).map { $0.observe(changed) })
  }

  func mayGetAtOnce(
    _ name: String, _ document: Document?, at time: () -> Timestamp, context: CallContext
  ) -> Bool? {
    guardian(of: name).mayGetAtOnce(name, document, at: time, context: context)
  }

  nonisolated(nonsending) func mayGet(
    _ name: String, _ document: Document?, state: any FirestoreGuardState, at time: Timestamp, context: CallContext
  ) async throws -> Bool {
    try await guardian(of: name).mayGet(name, document, state: state, at: time, context: context)
  }

  nonisolated(nonsending) func mayList(
    _ query: FirestoreGuardedQuery, state: any FirestoreGuardState, at time: Timestamp, context: CallContext
  ) async throws -> Bool {
    try await guardian(of: query.parent).mayList(query, state: state, at: time, context: context)
  }

  nonisolated(nonsending) func mayCommit(
    _ writes: [FirestoreGuardedWrite], state: any FirestoreGuardState, at time: Timestamp, context: CallContext
  ) async throws -> Bool {
    // All writes of a commit are in one database.
    guard let first = writes.first else { return true }
    return try await guardian(of: first.name).mayCommit(writes, state: state, at: time, context: context)
  }
}

/// Decides about objects by the rules of their bucket.
///
/// Which buckets have separate rules can change at any time.
struct ScopedStorageGuard: StorageGuard {
  let rules: ProjectRules
  /// The guard that decides by rules.
  let guardian: @Sendable (ProjectRules) -> StorageRulesGuard

  nonisolated(nonsending) func allows(
    _ operation: StorageGuardedOperation, at time: Int64, context: CallContext
  ) async throws -> Bool {
    let bucket =
      switch operation {
      case .get(let name, _), .update(let name, _, _), .delete(let name, _): name.bucket
      case .list(let bucket, _): bucket
      case .upload(let new, _): new.name.bucket
      }
    guard let rules = rules.rules(of: .storage, scope: bucket) else { return false }
    return try await guardian(rules).allows(operation, at: time, context: context)
  }
}

/// Decides about a tree by the rules of its database.
struct ScopedDatabaseGuard: DatabaseGuard {
  let others: DatabaseRulesGuard
  let named: [String: DatabaseRulesGuard]

  func observe(_ changed: @escaping @Sendable () -> Void) -> ListenerRegistration {
    .all(([others] + named.values).map { $0.observe(changed) })
  }

  nonisolated(nonsending) func mayRead(
    _ read: DatabaseGuardedRead, state: any DatabaseGuardState, context: CallContext
  ) async throws -> Bool {
    try await (named[read.namespace] ?? others).mayRead(read, state: state, context: context)
  }

  nonisolated(nonsending) func mayWrite(
    _ write: DatabaseGuardedWrite, before: any DatabaseGuardState, after: any DatabaseGuardState, context: CallContext
  ) async throws -> Bool {
    try await (named[write.namespace] ?? others).mayWrite(write, before: before, after: after, context: context)
  }
}

extension ListenerRegistration {
  /// One registration for several.
  fileprivate static func all(_ registrations: [ListenerRegistration]) -> ListenerRegistration {
    ListenerRegistration { for registration in registrations { registration.cancel() } }
  }
}

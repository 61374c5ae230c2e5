import VestaConcurrency
import VestaFirestoreBackend
import VestaServiceInterop

/// The guard of an engine without rules: allows everything.
struct NoFirestoreGuard: FirestoreGuard {
  func mayGetAtOnce(
    _ name: String, _ document: Document?, at time: () -> Timestamp, context: CallContext
  ) -> Bool? { true }

  nonisolated(nonsending) func mayGet(
    _ name: String, _ document: Document?, state: any FirestoreGuardState, at time: Timestamp, context: CallContext
  ) async throws -> Bool { true }

  nonisolated(nonsending) func mayList(
    _ query: FirestoreGuardedQuery, state: any FirestoreGuardState, at time: Timestamp, context: CallContext
  ) async throws -> Bool { true }

  nonisolated(nonsending) func mayCommit(
    _ writes: [FirestoreGuardedWrite], state: any FirestoreGuardState, at time: Timestamp, context: CallContext
  ) async throws -> Bool { true }

  func observe(_ changed: @escaping @Sendable () -> Void) -> ListenerRegistration { ListenerRegistration {} }
}

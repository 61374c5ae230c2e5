import VestaConcurrency
import VestaServiceInterop
import VestaStoreInterop

/// Whether an engine shares its store with others; known when the store is open.
final class RoomSharing: Sendable {
  private let state = Locked<Duration?>(nil)

  /// For how long the sessions of an engine are its own without a sign of life; `nil` for an engine that is alone.
  var lease: Duration? {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }

  var isShared: Bool { lease != nil }
}

extension DatabaseSharing {
  /// The lease of an engine on a store; `nil` for an engine that is alone.
  ///
  /// - Throws: ``SharedStoreError`` for an engine that wants a shared store for itself.
  func lease(on store: any OrderedStore, default lease: Duration) throws(SharedStoreError) -> Duration? {
    let observable = store as? any CommitObservable
    switch self {
    case .shared(let lease): return lease
    case .automatic: return observable?.tellsBeforeAcknowledging == true ? nil : lease
    case .alone:
      if let observable, !observable.tellsBeforeAcknowledging { throw SharedStoreError() }
      return nil
    }
  }
}

/// The store is one that other processes write to, and the engine was configured to be alone.
struct SharedStoreError: Error, CustomStringConvertible {
  var description: String {
    """
    Other processes can have this store open, and DatabaseServiceOptions.sharing is .alone. Leave it out, or set it to \
    .shared() in all of them.
    """
  }
}

extension SessionLease {
  /// Takes the lease of this engine, or renews it.
  ///
  /// - Returns: Whether the lease was still there.
  static func renew(
    _ span: Duration, in transaction: any StoreTransaction, _ context: RoomContext
  ) async throws -> Bool {
    let key = context.keys.owner(context.owner)
    // One small row, without which no engine could remove anything.
    transaction.freesRoom()
    let wasThere = try await transaction.get(key) != nil
    let until = try await transaction.commitVersion().microseconds + span.microseconds
    try await transaction.put(SessionLease(until: until).bytes, for: key)
    return wasThere
  }
}

extension CommitLog {
  /// Drops rows of the log that every engine has read, and notes up to where: an engine that was stopped for longer has
  /// missed them.
  static func drop(upTo kept: StoreVersion, in transaction: any StoreTransaction, _ keys: Keys) async throws {
    guard try await transaction.firstKey(in: keys.log(upTo: kept)) != nil else { return }
    transaction.freesRoom()
    try await transaction.deleteRange(keys.log(upTo: kept))
    try await transaction.put(SessionLease(until: kept.microseconds).bytes, for: keys.logStart())
  }
}

import StoreInterop
import VestaConcurrency

/// A store that is opened when it is first needed, once for all who ask at that moment.
///
/// A failure is told to those who asked and not remembered. After `close()` nothing opens it again.
final class LazyStore: Sendable {
  private enum State {
    case shut
    case open(any OrderedStore)
    case ended
  }

  private struct Opening: Hashable, Sendable {}

  private let state = Locked(State.shut)
  private let opening = SingleFlight<Opening, any OrderedStore>()
  private let open: @Sendable () async throws -> any OrderedStore

  init(_ open: @escaping @Sendable () async throws -> any OrderedStore) { self.open = open }

  /// The open store.
  func get() async throws -> any OrderedStore {
    if let store = try present() { return store }
    return try await opening.value(for: Opening()) {
      // Somebody's flight may have landed between the look above and the start of this one.
      if let store = try self.present() { return store }
      return try await self.keep(try await self.open())
    }
  }

  /// Closes the store, if it is open, and lets nobody open it any more.
  func close() async throws {
    let store = state.withLock { state -> (any OrderedStore)? in
      defer { state = .ended }
      if case .open(let store) = state { return store }
      return nil
    }
    try await store?.close()
  }

  private func present() throws -> (any OrderedStore)? {
    try state.withLock { state in
      switch state {
      case .shut: return nil
      case .open(let store): return store
      case .ended: throw Self.closed
      }
    }
  }

  private func keep(_ store: any OrderedStore) async throws -> any OrderedStore {
    let isKept = state.withLock { state in
      guard case .shut = state else { return false }
      state = .open(store)
      return true
    }
    guard isKept else {
      try await store.close()
      throw Self.closed
    }
    return store
  }

  private static var closed: StoreError {
    StoreError(.closed, operation: "open", message: "The document engine has been shut down.")
  }
}

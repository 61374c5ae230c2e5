import VestaConcurrency

/// An engine's observation of the commits of its store: begun with the first use of the store, ended with the engine.
///
/// An engine notices in this way what another engine has committed to the same store. With a store that does not report
/// its commits nothing happens.
///
/// ```swift
/// func store() async throws -> any OrderedStore {
///   let store = try await storage.get()
///   commits.begin(store) { [weak self] _ in self?.startDispatching() }
///   return store
/// }
/// ```
public final class CommitObservation: Sendable {
  fileprivate enum State {
    case idle, beginning, observing(ListenerRegistration), ended
  }

  private let state = Locked(State.idle)

  /// An observation that has not begun.
  public init() {}

  /// Begins to observe a store, unless the observation has begun or ended before.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - observer: Takes the version of each commit; see ``CommitObservable/observeCommits(_:)``.
  public func begin(_ store: any OrderedStore, _ observer: @escaping @Sendable (StoreVersion) -> Void) {
    guard state.withLock({ $0.isIdle }), let store = store as? any CommitObservable else { return }
    let isFirst = state.withLock { state in
      guard state.isIdle else { return false }
      state = .beginning
      return true
    }
    guard isFirst else { return }
    let registration = store.observeCommits(observer)
    let isKept = state.withLock { state in
      guard case .beginning = state else { return false }
      state = .observing(registration)
      return true
    }
    if !isKept { registration.cancel() }
  }

  /// Ends the observation for good.
  public func end() {
    let registration = state.withLock { state in
      defer { state = .ended }
      if case .observing(let registration) = state { return registration as ListenerRegistration? }
      return nil
    }
    registration?.cancel()
  }
}

extension CommitObservation.State {
  fileprivate var isIdle: Bool {
    if case .idle = self { true } else { false }
  }
}

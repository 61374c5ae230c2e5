import StoreInterop
import VestaConcurrency

/// Those who are told of commits.
///
/// `tell` is called by one writer at a time; so each observer hears the versions in order, one call at a time.
final class CommitObservers: Sendable {
  private struct State {
    var observers: [CommitObserver] = []
    var isFinished = false
  }

  private let state = Locked(State())

  /// Adds an observer; it hears of the commits that are told after this.
  func add(
    tell: @escaping @Sendable (StoreVersion) -> Void,
    finish: @escaping @Sendable () -> Void
  ) -> CommitObserver {
    let observer = CommitObserver(tell: tell, finish: finish, list: self)
    let isFinished = state.withLock { state in
      if !state.isFinished { state.observers.append(observer) }
      return state.isFinished
    }
    if isFinished { finish() }
    return observer
  }

  func remove(_ observer: CommitObserver) {
    // The list before is handed out, so that what the observer holds is freed with the lock open.
    _ = state.withLock { state in
      let before = state.observers
      state.observers.removeAll { $0 === observer }
      return before
    }
  }

  /// Tells all of a commit.
  ///
  /// One that is cancelled while the others are being told is not told any more.
  func tell(_ version: StoreVersion) {
    for observer in state.withLock({ $0.observers }) { observer.tell(version) }
  }

  /// Ends all streams, those of the future too, and forgets everybody.
  func finish() {
    let observers = state.withLock { state in
      defer { state = State(isFinished: true) }
      return state.observers
    }
    for observer in observers { observer.finish() }
  }

  /// A stream of the commits from here on.
  func makeStream() -> AsyncStream<StoreVersion> {
    let (stream, continuation) = AsyncStream.makeStream(of: StoreVersion.self)
    let observer = add(tell: { continuation.yield($0) }, finish: { continuation.finish() })
    continuation.onTermination = { [weak observer] _ in observer?.cancel() }
    return stream
  }
}

/// One who is told of commits.
final class CommitObserver: CommitObservation {
  private let isCancelled = Locked(false)
  private let callBack: @Sendable (StoreVersion) -> Void
  let finish: @Sendable () -> Void
  private let list: CommitObservers

  init(
    tell: @escaping @Sendable (StoreVersion) -> Void,
    finish: @escaping @Sendable () -> Void,
    list: CommitObservers
  ) {
    callBack = tell
    self.finish = finish
    self.list = list
  }

  func cancel() {
    isCancelled.withLock { $0 = true }
    list.remove(self)
  }

  func tell(_ version: StoreVersion) {
    if !isCancelled.withLock({ $0 }) { callBack(version) }
  }
}

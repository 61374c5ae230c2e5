import StoreInterop
import VestaConcurrency

/// Who wants to know of commits.
///
/// Commits are told by the task that has the turn to write, so one after the other.
final class CommitObservers: Sendable {
  typealias Observer = @Sendable (StoreVersion) -> Void

  private struct State {
    var nextID = 0
    var observers: [(id: Int, call: Observer)] = []
    var streams: [Int: AsyncStream<StoreVersion>.Continuation] = [:]
    var isFinished = false
  }

  private let state = Locked(State())

  func add(_ observer: @escaping Observer) -> Observation {
    let id = state.withLock { state in
      state.nextID += 1
      if !state.isFinished { state.observers.append((state.nextID, observer)) }
      return state.nextID
    }
    return Observation(id: id, observers: self)
  }

  func stream() -> AsyncStream<StoreVersion> {
    let (stream, continuation) = AsyncStream.makeStream(of: StoreVersion.self)
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    // Set before anybody can finish the stream, or it would never be called.
    continuation.onTermination = { [weak self] _ in self?.remove(id) }
    let isFinished = state.withLock { state in
      if !state.isFinished {
        state.observers.append((id, { continuation.yield($0) }))
        state.streams[id] = continuation
      }
      return state.isFinished
    }
    if isFinished { continuation.finish() }
    return stream
  }

  func remove(_ id: Int) {
    // What is removed is let go of with the lock open: it may own anything.
    let removed = state.withLock { state in
      let stream = state.streams.removeValue(forKey: id)
      let observer = state.observers.firstIndex { $0.id == id }.map { state.observers.remove(at: $0) }
      return (observer?.call, stream)
    }
    withExtendedLifetime(removed) {}
  }

  func tell(_ versions: [StoreVersion]) {
    for version in versions {
      let observers = state.withLock { $0.observers }
      for observer in observers { observer.call(version) }
    }
  }

  /// Ends the streams and forgets everybody.
  func finish() {
    let (observers, streams) = state.withLock { state in
      defer {
        state.observers = []
        state.streams = [:]
        state.isFinished = true
      }
      return (state.observers, state.streams)
    }
    for stream in streams.values { stream.finish() }
    withExtendedLifetime(observers) {}
  }

  final class Observation: CommitObservation {
    private let id: Int
    private let observers: CommitObservers

    init(id: Int, observers: CommitObservers) {
      self.id = id
      self.observers = observers
    }

    func cancel() { observers.remove(id) }
  }
}

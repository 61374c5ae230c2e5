internal import VestaConcurrency
internal import VestaFirestoreSync

/// The handle of an observer of a ``LoadBundleTask``.
public typealias LoadBundleObserverHandle = Int

/// How far the loading of a bundle is.
public enum LoadBundleTaskState: Int, Sendable {
  /// It failed.
  case error = 0
  /// It continues.
  case inProgress = 1
  /// It is done.
  case success = 2
}

/// The progress of loading a bundle.
public final class LoadBundleTaskProgress: Sendable, Hashable {
  /// How many documents have been read.
  public let documentsLoaded: Int
  /// How many documents the bundle has.
  public let totalDocuments: Int
  /// How many bytes have been read.
  public let bytesLoaded: Int
  /// How many bytes the bundle has.
  public let totalBytes: Int
  /// How far it is.
  public let state: LoadBundleTaskState

  init(_ progress: BundleProgress, state: LoadBundleTaskState) {
    documentsLoaded = progress.documentsLoaded
    totalDocuments = progress.totalDocuments
    bytesLoaded = progress.bytesLoaded
    totalBytes = progress.totalBytes
    self.state = state
  }

  private init(copying other: LoadBundleTaskProgress, state: LoadBundleTaskState) {
    documentsLoaded = other.documentsLoaded
    totalDocuments = other.totalDocuments
    bytesLoaded = other.bytesLoaded
    totalBytes = other.totalBytes
    self.state = state
  }

  /// The same counts with the state of a failure.
  var failed: LoadBundleTaskProgress { LoadBundleTaskProgress(copying: self, state: .error) }

  /// Whether two are equal.
  public static func == (left: LoadBundleTaskProgress, right: LoadBundleTaskProgress) -> Bool {
    left.documentsLoaded == right.documentsLoaded && left.totalDocuments == right.totalDocuments
      && left.bytesLoaded == right.bytesLoaded && left.totalBytes == right.totalBytes && left.state == right.state
  }

  /// Hashes the counts.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(documentsLoaded)
    hasher.combine(bytesLoaded)
    hasher.combine(state)
  }
}

/// The loading of a bundle, which continues by itself.
///
/// ```swift
/// let task = db.loadBundle(data)
/// for try await progress in task.progress { print(progress.documentsLoaded, "of", progress.totalDocuments) }
/// ```
public final class LoadBundleTask: Sendable {
  private struct State {
    var last: LoadBundleTaskProgress?
    var nextHandle = 1
    var observers: [LoadBundleObserverHandle: ListenerRegistration] = [:]
  }

  private typealias ListenerRegistration = VestaConcurrency.ListenerRegistration

  private let firestore: Firestore
  private let state = Locked(State())
  private let events = ListenerRegistry<LoadBundleTaskProgress>()

  init(firestore: Firestore) { self.firestore = firestore }

  /// Calls an observer on the queue of the settings with the progress so far, if there is any, and each further one.
  ///
  /// - Returns: The handle for ``removeObserverWith(handle:)``.
  @preconcurrency
  @discardableResult
  public func addObserver(
    _ observer: @escaping @Sendable (LoadBundleTaskProgress) -> Void
  ) -> LoadBundleObserverHandle {
    let receiver = QueuedReceiver(queue: firestore.callbackQueue, receive: observer)
    let registration = events.add { receiver.post($0) }
    let removal = VestaConcurrency.ListenerRegistration {
      receiver.silence()
      registration.cancel()
    }
    let (handle, last) = state.withLock { state in
      defer { state.nextHandle += 1 }
      state.observers[state.nextHandle] = removal
      return (state.nextHandle, state.last)
    }
    if let last { receiver.post(last) }
    return handle
  }

  /// Removes an observer.
  public func removeObserverWith(handle: LoadBundleObserverHandle) {
    state.withLock { $0.observers.removeValue(forKey: handle) }?.cancel()
  }

  /// Removes all observers.
  public func removeAllObservers() {
    let observers = state.withLock { state in
      defer { state.observers = [:] }
      return state.observers.values.map { $0 }
    }
    for observer in observers { observer.cancel() }
  }

  /// The progress from now on, with the last one in any case; it ends when the bundle is loaded and throws when loading
  /// fails.
  public var progress: AsyncThrowingStream<LoadBundleTaskProgress, any Error> {
    .events { sink in
      let isEmpty = Locked(true)
      return events.add(
        onEnd: { failure in
          // The last progress may have been sent before this stream was made.
          if failure == nil, isEmpty.withLock({ $0 }), let last = self.lastProgress { sink.send(last) }
          sink.finish(throwing: failure)
        },
        { progress in
          isEmpty.withLock { $0 = false }
          sink.send(progress)
        })
    }
  }

  func advance(to progress: LoadBundleTaskProgress) {
    state.withLock { $0.last = progress }
    events.emit(progress)
  }

  func finish(_ failure: (any Error)?) { events.finish(throwing: failure) }
}

extension LoadBundleTask {
  /// The progress at this time.
  var lastProgress: LoadBundleTaskProgress? { state.withLock { $0.last } }
}

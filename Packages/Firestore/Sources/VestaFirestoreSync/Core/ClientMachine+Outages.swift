import VestaFirestoreBackend
import VestaFirestoreModel

/// Why the backend takes no writes, or cannot be listened to.
struct Outage {
  /// Whether the writes of an embedded client have rows, because its engine does not take them.
  private(set) var isStalled = false
  /// The error that callers have been told; the writes are pending all the same.
  private(set) var told: FirestoreServiceError?
  /// Why the last watch stream has closed.
  var watchError: FirestoreServiceError?
  private var lastReason: String?

  /// Notes that writes wait.
  ///
  /// - Returns: Whether the reason is a new one.
  mutating func stall(_ error: FirestoreServiceError) -> Bool {
    isStalled = true
    defer { lastReason = error.message }
    return lastReason != error.message
  }

  /// Notes that callers are told an error.
  mutating func tell(_ error: FirestoreServiceError) { told = error }

  /// Notes that the backend takes writes.
  mutating func end() { (isStalled, told, lastReason) = (false, nil, nil) }
}

/// Failures of the backend itself, and not of one request: a store that is damaged, locked or cannot be written, or a
/// backend that refuses the client.
///
/// Trying again helps only after the cause was removed. So the callers of pending writes and the
/// listeners get the error, with the backend's own sentence. The writes stay pending, also over a restart, and are
/// sent once the backend takes them: what was queued is not lost by the failure of a backend.
extension ClientMachine {
  /// Whether the failure to open a stream is for good.
  func isOutage(_ error: FirestoreServiceError) -> Bool {
    guard configuration.fetchesTargets else { return error.code.isRefusal }
    switch error.code {
    case .cancelled, .deadlineExceeded, .resourceExhausted, .unavailable, .unauthenticated, .aborted: return false
    default: return true
    }
  }

  /// Whether an open stream has ended because of the engine in the process, and not because of a request: no request
  /// is refused with these codes.
  func isOutageOfEngine(_ error: FirestoreServiceError) -> Bool {
    configuration.fetchesTargets && [.internal, .dataLoss, .unknown].contains(error.code)
  }

  /// Notes that writes wait after a failure.
  func stall(_ error: FirestoreServiceError, afterHandshake: Bool) {
    let wasStalled = outage.isStalled
    if outage.stall(error) { emit(.warnStalled(error)) }
    if configuration.keepsOnlyPendingWrites, !wasStalled {
      local.noteAllBatches()
      emit(.keepWrites)
    }
    // A remote backend may have refused the token of the stream, which the next attempt does not have.
    let isForGood =
      afterHandshake
      ? isOutageOfEngine(error) : isOutage(error) && (configuration.fetchesTargets || writeToken.isEmpty)
    if isForGood { tellCallers(error) }
  }

  private func tellCallers(_ error: FirestoreServiceError) {
    outage.tell(error)
    for callback in writeCallbacks.removeValue(forKey: local.user)?.sorted(by: { $0.key < $1.key }).map(\.value) ?? [] {
      emit(.finish(callback, error))
    }
    for callback in pendingWritesCallbacks.sorted(by: { $0.key < $1.key }).flatMap(\.value) {
      emit(.finish(callback, error))
    }
    pendingWritesCallbacks = [:]
  }

  /// A caller has arrived while the backend is known to take no writes: an engine in the process is tried at once, and
  /// of another backend the caller gets the error that it had for others.
  func retryAfterOutage() {
    guard let error = outage.told, isNetworkEnabled else { return }
    if configuration.fetchesTargets {
      performWrite(writeStream.backoffEnded())
    } else {
      tellCallers(error)
    }
  }

  /// Fails the listeners that the backend refuses.
  func failListeners(_ error: FirestoreServiceError) {
    for id in queriesByTarget.keys.sorted() {
      guard let record = listenTargets.removeValue(forKey: id) else { continue }
      targetPlaces.remove(record.target)
      progress.forget(id)
      fetched.remove(id)
      rejectTarget(id, error)
    }
  }
}

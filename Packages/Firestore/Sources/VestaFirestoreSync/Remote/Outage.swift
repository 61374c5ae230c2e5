import VestaFirestoreBackend

/// Why the backend takes no writes: a failure of the backend itself, and not of one request.
///
/// Such as a store that is damaged, locked or cannot be written, or a backend that refuses the client. Trying again
/// helps only after the cause was removed. So the callers of pending writes and the listeners get the error, with the
/// backend's own sentence. The writes stay pending, also over a restart, and are sent once the backend takes them: what
/// was queued is not lost by the failure of a backend.
///
/// It is *over*, or writes are *stalled*, or stalled and *reported*: then the callers have the error.
///
/// Worked example: the disk of the engine is full. The first attempt stalls the writes, with a warning; a second one
/// with the same message does not warn. The store is found to be damaged: another warning, and the callers get the
/// error. A caller that arrives now makes the link try at once. An answer ends the outage.
struct Outage {
  /// Whether the writes of an embedded client have rows, because its engine does not take them.
  private(set) var isStalled = false
  /// The error that callers have received; the writes are pending all the same.
  private(set) var reported: FirestoreServiceError?
  private var lastReason: String?

  /// Notes that writes wait.
  ///
  /// - Returns: Whether the reason is a new one.
  mutating func stall(_ error: FirestoreServiceError) -> Bool {
    isStalled = true
    defer { lastReason = error.message }
    return lastReason != error.message
  }

  /// Notes the error that callers receive.
  mutating func report(_ error: FirestoreServiceError) { reported = error }

  /// Notes that the backend takes writes.
  mutating func end() { (isStalled, reported, lastReason) = (false, nil, nil) }
}

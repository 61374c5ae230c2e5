package import VestaFirestoreBackend
package import VestaFirestoreModel

/// A timer of the client; each has at most one appointment.
package enum TimerName: String, Sendable, Hashable, CaseIterable {
  /// Waiting for the first message of the watch stream.
  case onlineState
  /// Waiting before the watch stream opens again.
  case watchBackoff
  /// Waiting before the write stream opens again.
  case writeBackoff
  /// Targets whose first results were read are not followed yet.
  case watchFollow
  /// Acknowledged writes are shown of which the backend has sent no snapshot.
  case awaited
  /// The watch stream has no targets.
  case watchIdle
  /// The write stream has no writes.
  case writeIdle
  /// The watch stream has been open for long enough to be healthy.
  case watchHealth
  /// The same of the write stream.
  case writeHealth
  /// The cache may have grown too large.
  case garbageCollection
}

/// The identifier of a caller that waits.
package typealias CallbackID = Int

/// An action that a client's machine asks for; performed in order, after the event.
package enum ClientAction: Sendable {
  /// Open the watch stream, with new tokens where the old ones were refused.
  case openWatch(stream: Int, refreshesTokens: Bool)
  /// Ask for a target.
  case watch(stream: Int, TargetRecord)
  /// Read what a target has from the engine in this process, and hand it over with `WatchLink.receivedFirst`.
  case fetch(stream: Int, TargetRecord)
  /// Stop asking for a target.
  case unwatch(stream: Int, Int32)
  /// Close the watch stream.
  case closeWatch(stream: Int)
  /// Open the write stream, with new tokens where the old ones were refused.
  case openWrite(stream: Int, refreshesTokens: Bool)
  /// Send the handshake of the write stream.
  case shakeHands(stream: Int)
  /// Send a batch.
  case write(stream: Int, MutationBatch, token: [UInt8])
  /// Close the write stream; after the handshake an empty write is sent first.
  case closeWrite(stream: Int, token: [UInt8]?)
  /// Start a timer, in place of the one with the same name.
  case startTimer(TimerName, seconds: Double)
  /// Stop a timer.
  case cancelTimer(TimerName)
  /// Tell a listener.
  case event(EventMachine.Event)
  /// Tell a caller that waits that its write or its waiting is over.
  case finish(CallbackID, FirestoreServiceError?)
  /// Make indexes over the cache, on another thread, and hand them over with `indexesMade`.
  case makeIndexes(IndexTask)
  /// Make rows of the pending writes that have none, because the engine in the process does not take them.
  case keepWrites
  /// Log that the backend cannot be reached, and why, as far as that is known.
  case warnUnreachable(FirestoreServiceError?)
  /// Log that writes wait, and why.
  case warnStalled(FirestoreServiceError)
  /// Log that the watch stream was closed because of a message that cannot be understood.
  case warnMalformed(FirestoreServiceError)
}

import VestaFirestoreBackend
import VestaFirestoreModel

/// The kind of link between a client and its backend: over a network, or to an engine in the same process.
///
/// Everything that a client does differently for the two is decided here, in `RowPolicy` and by the source of its
/// cache:
///
/// | | `remote` | `embedded` |
/// |---|---|---|
/// | cache | copies of what was received | the engine, and what listeners show |
/// | rows | documents, targets, pending writes | pending writes, while the engine does not take them |
/// | first results of a target | sent by the watch stream | read from the engine |
/// | a stream has opened | with its first answer | when the call says so |
/// | an error for good | a refusal | whatever waiting does not mend |
/// | a caller during an outage | gets the error of the callers before it | makes the client try at once |
///
/// Worked example: the watch stream opens and is closed with PERMISSION_DENIED before it has sent anything. A remote
/// backend has refused the client then: `isOpening` and `isOutage` hold, and the listeners fail. The stream of an
/// engine counts as open before that, and no listener fails; the stream begins again.
package enum BackendLink: Sendable, Hashable {
  /// A backend over a network, which may be away.
  case remote
  /// An engine in this process.
  case embedded

  /// The pauses between attempts to open a stream.
  func pauses(_ tuning: SyncTuning) -> SyncTuning.Pauses {
    switch self {
    case .remote: tuning.pauses
    case .embedded: tuning.embeddedPauses
    }
  }

  /// Whether new targets are read from the engine before they are followed.
  var readsFirstResults: Bool { self == .embedded }

  /// Whether a call is answered without a network.
  package var answersLocally: Bool { self == .embedded }

  // MARK: Failures

  /// Whether a stream had not opened when it ended.
  ///
  /// A stream over a network counts as open before the service has seen it: its refusal is the first answer.
  ///
  /// - Parameters:
  ///   - isOpen: Whether the stream counted as open.
  ///   - hasAnswered: Whether it had brought anything.
  func isOpening(isOpen: Bool, hasAnswered: Bool) -> Bool { !isOpen || self == .remote && !hasAnswered }

  /// Whether the failure to open a stream is for good.
  func isOutage(_ error: FirestoreServiceError) -> Bool {
    guard self == .embedded else { return error.code.isRefusal }
    switch error.code {
    case .cancelled, .deadlineExceeded, .resourceExhausted, .unavailable, .unauthenticated, .aborted: return false
    default: return true
    }
  }

  /// Whether an open stream has ended because of the engine in the process, and not because of a request: no request
  /// is refused with these codes.
  func isOutageOfEngine(_ error: FirestoreServiceError) -> Bool {
    self == .embedded && [.internal, .dataLoss, .unknown].contains(error.code)
  }

  /// Whether the end of a write stream is reported to the callers of pending writes.
  ///
  /// - Parameters:
  ///   - afterHandshake: Whether the stream had shaken hands.
  ///   - hasToken: Whether the handshake had sent a token: a remote backend may have refused that, and the next attempt
  ///     does not have it.
  func isOutageOfWrites(_ error: FirestoreServiceError, afterHandshake: Bool, hasToken: Bool) -> Bool {
    if afterHandshake { return isOutageOfEngine(error) }
    return isOutage(error) && (self == .embedded || !hasToken)
  }

  /// Whether a caller that arrives during an outage makes the client try at once, because an attempt costs nothing.
  var triesForCallers: Bool { self == .embedded }
}

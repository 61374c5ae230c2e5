import VestaServiceInterop
import VestaStorageBackend

/// Decides the steps of one upload: the next request to the service, and the reaction to its failure; pure.
///
/// An upload of known content that fits into one call is one call. Any other starts a session, sends chunks and
/// finalizes. After a failure that may pass, it waits, asks how much has arrived, and continues there, if what has
/// arrived is what the source has. A session that the service no longer knows is started again, where the source
/// can be read again.
struct UploadMachine: Sendable, Equatable {
  /// The next step of the runner.
  enum Action: Sendable, Equatable {
    /// Sends the whole content in one call.
    case putWhole
    /// Starts a session.
    case start
    /// Asks how far the session is.
    case query
    /// Compares the source's first bytes with a checksum, and positions it there.
    ///
    /// Without a checksum the bytes are only read; the service compares the whole at the end.
    case verify(received: Int64, crc32c: UInt32?)
    /// Reads and sends the chunk at an offset.
    case send(offset: Int64)
    /// Ends the session.
    case finalize
    /// Waits.
    case wait(seconds: Double)
    /// The upload has succeeded.
    case succeed(StorageObject)
    /// The upload has failed.
    case fail(any Error)

    static func == (left: Action, right: Action) -> Bool { "\(left)" == "\(right)" }
  }

  private enum State: Sendable, Equatable {
    case beginning
    case puttingWhole
    case starting
    case querying
    case verifying(received: Int64)
    case sending(offset: Int64)
    case finalizing
    case waiting(after: Waiting)
    case over
  }

  private enum Waiting: Sendable, Equatable { case begin, query }

  private let isSingleCall: Bool
  private let isRepeatable: Bool
  private var restartsLeft: Int
  private var budget: RetryBudget
  private var state = State.beginning

  /// An upload.
  ///
  /// - Parameters:
  ///   - isSingleCall: Whether the whole content is sent in one call.
  ///   - isRepeatable: Whether the source can be read again from its beginning.
  ///   - restarts: How often it may begin again.
  ///   - firstRetry: The delay before the first retry, in seconds.
  ///   - retrySeconds: How long failures may be retried.
  init(
    isSingleCall: Bool, isRepeatable: Bool, restarts: Int = StorageTuning().restarts,
    firstRetry: Double = StorageTuning().firstRetry, retrySeconds: Double
  ) {
    restartsLeft = restarts
    self.isSingleCall = isSingleCall
    self.isRepeatable = isRepeatable
    budget = RetryBudget(seconds: retrySeconds, first: firstRetry)
  }

  /// The upload begins, or continues a session of before.
  mutating func begin(hasSession: Bool) -> Action { hasSession ? query() : fromTheBeginning() }

  /// A session was started.
  mutating func started() -> Action {
    state = .sending(offset: 0)
    return .send(offset: 0)
  }

  /// The service has said how far the session is.
  mutating func queried(_ status: UploadStatus) -> Action {
    guard state == .querying else { return unexpected("queried") }
    switch status.state {
    case .final: return finalize()
    case .cancelled: return restart(after: Self.gone)
    case .active:
      state = .verifying(received: status.received)
      return .verify(received: status.received, crc32c: status.crc32c)
    }
  }

  /// The source has, or has not, the bytes that have arrived.
  mutating func verified(isSame: Bool) -> Action {
    guard case .verifying(let received) = state else { return unexpected("verified") }
    guard isSame else { return restart(after: Self.changed) }
    state = .sending(offset: received)
    return .send(offset: received)
  }

  /// A chunk has arrived.
  ///
  /// - Parameters:
  ///   - received: How many bytes the session has now.
  ///   - isLast: Whether the source has no more.
  mutating func acknowledged(received: Int64, isLast: Bool) -> Action {
    guard case .sending(let offset) = state else { return unexpected("acknowledged") }
    if received > offset { budget.reset() }
    guard !isLast else { return finalize() }
    state = .sending(offset: received)
    return .send(offset: received)
  }

  /// The source had no more bytes.
  mutating func exhausted() -> Action { finalize() }

  /// The object is there.
  mutating func finished(_ object: StorageObject) -> Action {
    state = .over
    return .succeed(object)
  }

  /// The wait is over.
  mutating func waited() -> Action {
    guard case .waiting(let next) = state else { return unexpected("waited") }
    return next == .query ? query() : fromTheBeginning()
  }

  /// The last action failed.
  ///
  /// - Parameters:
  ///   - error: Why.
  ///   - jitter: A random number from 0 to 1.
  mutating func failed(_ error: any Error, jitter: Double) -> Action {
    if let gone = error as? StorageServiceError {
      if gone.reason == .uploadGone { return restart(after: gone) }
      if case .wrongOffset? = gone.reason, state != .querying { return retry(.query, error, jitter) }
    }
    guard StorageErrorTable.isRetryable(error) else { return fail(error) }
    let isBeforeSession = state == .puttingWhole || state == .starting
    return retry(isBeforeSession ? .begin : .query, error, jitter)
  }

  // MARK: Steps

  private mutating func fromTheBeginning() -> Action {
    state = isSingleCall ? .puttingWhole : .starting
    return isSingleCall ? .putWhole : .start
  }

  private mutating func query() -> Action {
    state = .querying
    return .query
  }

  private mutating func finalize() -> Action {
    state = .finalizing
    return .finalize
  }

  private mutating func retry(_ next: Waiting, _ error: any Error, _ jitter: Double) -> Action {
    guard let seconds = budget.delay(jitter: jitter) else { return fail(error) }
    state = .waiting(after: next)
    return .wait(seconds: seconds)
  }

  private mutating func restart(after error: StorageServiceError) -> Action {
    guard isRepeatable, restartsLeft > 0 else { return fail(error) }
    restartsLeft -= 1
    return fromTheBeginning()
  }

  private mutating func fail(_ error: any Error) -> Action {
    state = .over
    return .fail(error)
  }

  private mutating func unexpected(_ event: String) -> Action {
    fail(StorageServiceError(.internal, "The upload got \"\(event)\" while it was \(state)."))
  }

  private static let gone = StorageServiceError(
    .notFound, "The upload session was cancelled or has expired. Upload again.", reason: .uploadGone)
  private static let changed = StorageServiceError(
    .aborted, "The content is not the one whose upload had begun. Upload again.", reason: .uploadGone)
}

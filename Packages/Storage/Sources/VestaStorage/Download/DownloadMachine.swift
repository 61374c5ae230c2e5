import VestaServiceInterop
import VestaStorageBackend

/// Decides the steps of one download; pure.
///
/// The object is opened and read to the end. After a failure that may pass, it waits and opens the same generation
/// where it stopped; when the object has been replaced in between, it begins again with the new one, where the target
/// allows that. A complete download is compared with the object's checksum, and takes its place after that.
///
/// An attempt may be stopped at any step. The next one begins with ``begin()``, and repeats what the last one had not
/// finished:
///
/// | stopped while | the next attempt |
/// |---|---|
/// | preparing | prepares |
/// | opening, reading, waiting | opens at the number of bytes that the target has |
/// | checking, publishing | opens at the end, and checks |
struct DownloadMachine: Sendable, Equatable {
  /// The next step of the runner.
  enum Action: Sendable, Equatable {
    /// Asks the target what is there already.
    case prepare
    /// Opens the object at an offset, in any generation or in one.
    case open(offset: Int64, generation: Int64?)
    /// Throws away what was read, then opens the object from its beginning.
    case restart
    /// Reads the next bytes.
    case read
    /// Waits.
    case wait(seconds: Double)
    /// Compares the target with the object.
    case check
    /// Gives the content its place, if the attempt may.
    case publish
    /// The download is complete.
    case succeed
    /// The download has failed.
    case fail(any Error)

    static func == (left: Action, right: Action) -> Bool { "\(left)" == "\(right)" }
  }

  private enum State: Sendable, Equatable { case preparing, opening, reading, waiting, checking, publishing, over }

  private let maxSize: Int64?
  private let canRestart: Bool
  private var budget: RetryBudget
  private var state = State.preparing
  private var isPrepared: Bool
  private var generation: Int64?
  private var restartsLeft: Int

  /// The number of bytes read.
  private(set) var completed: Int64 = 0

  /// The size of the object; -1 while it is unknown.
  private(set) var total: Int64 = -1

  /// Whether one attempt of this process has read all bytes so far.
  private(set) var isOneAttempt = true

  /// A download.
  ///
  /// - Parameters:
  ///   - maxSize: How large the object may be; `nil` for any size.
  ///   - hasTarget: Whether there is a target that may have bytes already, and that is published.
  ///   - canRestart: Whether what was read can be thrown away.
  ///   - restarts: How often that is done.
  ///   - firstRetry: The delay before the first retry, in seconds.
  ///   - retrySeconds: How long failures may be retried.
  init(
    maxSize: Int64? = nil, hasTarget: Bool = true, canRestart: Bool = true, restarts: Int = StorageTuning().restarts,
    firstRetry: Double = StorageTuning().firstRetry,
    retrySeconds: Double
  ) {
    self.maxSize = maxSize
    self.canRestart = canRestart
    isPrepared = !hasTarget
    restartsLeft = restarts
    budget = RetryBudget(seconds: retrySeconds, first: firstRetry)
  }

  /// The download begins, or continues after a pause.
  mutating func begin() -> Action {
    guard isPrepared else {
      state = .preparing
      return .prepare
    }
    if completed > 0 { isOneAttempt = false }
    return open()
  }

  /// The target has bytes of an earlier process, or none.
  mutating func prepared(_ start: DownloadStart?) -> Action {
    guard state == .preparing else { return unexpected("prepared") }
    isPrepared = true
    if let start {
      completed = start.length
      generation = start.generation
      isOneAttempt = false
    }
    return open()
  }

  /// The object is open.
  mutating func opened(_ object: StorageObject) -> Action {
    guard state == .opening else { return unexpected("opened") }
    total = object.size
    if let maxSize, object.size > maxSize {
      return fail(StorageError.downloadSizeExceeded(total: object.size, maxSize: maxSize))
    }
    generation = object.generation
    return completed == total ? check() : read()
  }

  /// Bytes have been read, and handed to the target.
  mutating func received(_ count: Int) -> Action {
    guard state == .reading else { return unexpected("received") }
    completed += Int64(count)
    budget.reset()
    guard count > 0, completed <= total else {
      return fail(
        StorageServiceError(.dataLoss, "The object ended at byte \(completed) of \(total).", reason: .contentMismatch))
    }
    return completed == total ? check() : read()
  }

  /// The target has been compared with the object.
  mutating func checked(isWhole: Bool) -> Action {
    guard state == .checking else { return unexpected("checked") }
    guard isWhole else {
      // The bytes of an earlier attempt or process may be wrong; the bytes of one attempt were damaged on their way.
      guard !isOneAttempt, canRestart, restartsLeft > 0 else { return fail(StorageError.nonMatchingChecksum) }
      restartsLeft -= 1
      return .restart
    }
    state = .publishing
    return .publish
  }

  /// The content has its place.
  mutating func published() -> Action {
    guard state == .publishing else { return unexpected("published") }
    state = .over
    return .succeed
  }

  /// The wait is over.
  mutating func waited() -> Action {
    guard state == .waiting else { return unexpected("waited") }
    return isPrepared ? open() : begin()
  }

  /// The read bytes have been discarded.
  mutating func restarted() -> Action {
    (completed, total, generation) = (0, -1, nil)
    isOneAttempt = true
    return open()
  }

  /// The last action failed.
  ///
  /// - Parameters:
  ///   - error: Why.
  ///   - jitter: A random number from 0 to 1.
  mutating func failed(_ error: any Error, jitter: Double) -> Action {
    let isReplaced = (error as? StorageServiceError)?.reason == .precondition
    if isReplaced, generation != nil {
      guard canRestart, restartsLeft > 0 else { return fail(error) }
      restartsLeft -= 1
      return .restart
    }
    guard StorageErrorTable.isRetryable(error), let seconds = budget.delay(jitter: jitter) else { return fail(error) }
    state = .waiting
    return .wait(seconds: seconds)
  }

  private mutating func open() -> Action {
    state = .opening
    return .open(offset: completed, generation: generation)
  }

  private mutating func read() -> Action {
    state = .reading
    return .read
  }

  private mutating func check() -> Action {
    state = .checking
    return .check
  }

  private mutating func fail(_ error: any Error) -> Action {
    state = .over
    return .fail(error)
  }

  private mutating func unexpected(_ event: String) -> Action {
    fail(StorageServiceError(.internal, "The download got \"\(event)\" while it was \(state)."))
  }

  /// The failure of a target that has not the bytes before an offset.
  static func misplaced(_ count: some BinaryInteger, _ offset: Int64) -> StorageServiceError {
    StorageServiceError(.internal, "The download has \(count) bytes, and the next ones begin at \(offset).")
  }
}

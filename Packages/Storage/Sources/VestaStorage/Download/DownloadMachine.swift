import VestaServiceInterop
import VestaStorageBackend

/// Decides the steps of one download; pure.
///
/// The object is opened and read to the end. After a failure that may pass, it waits and opens the same generation
/// where it stopped; when the object has been replaced meanwhile, it begins again with the new one, where the target
/// allows that. A complete download is compared with the object's checksum.
struct DownloadMachine: Sendable, Equatable {
  /// The next step of the runner.
  enum Action: Sendable, Equatable {
    /// Opens the object at an offset, in any generation or in one.
    case open(offset: Int64, generation: Int64?)
    /// Throws away what was read, then opens the object from its beginning.
    case restart
    /// Reads the next bytes.
    case read
    /// Waits.
    case wait(seconds: Double)
    /// The download is complete.
    case succeed
    /// The download has failed.
    case fail(any Error)

    static func == (left: Action, right: Action) -> Bool { "\(left)" == "\(right)" }
  }

  private enum State: Sendable, Equatable { case opening, reading, waiting, over }

  private let maxSize: Int64?
  private let canRestart: Bool
  private var budget: RetryBudget
  private var state = State.opening
  private var generation: Int64?
  private var restartsLeft = 3

  /// The number of bytes read.
  private(set) var completed: Int64 = 0

  /// The size of the object; -1 while it is unknown.
  private(set) var total: Int64 = -1

  /// A download.
  ///
  /// - Parameters:
  ///   - maxSize: How large the object may be; `nil` for any size.
  ///   - canRestart: Whether what was read can be thrown away.
  ///   - retrySeconds: How long failures may be retried.
  init(maxSize: Int64? = nil, canRestart: Bool = true, retrySeconds: Double) {
    self.maxSize = maxSize
    self.canRestart = canRestart
    budget = RetryBudget(seconds: retrySeconds)
  }

  /// An earlier process has downloaded the first bytes of a generation.
  mutating func found(length: Int64, generation: Int64) {
    completed = length
    self.generation = generation
  }

  /// The download begins, or goes on after a pause.
  mutating func begin() -> Action {
    state = .opening
    return .open(offset: completed, generation: generation)
  }

  /// The object is open.
  mutating func opened(_ object: StorageObject) -> Action {
    guard state == .opening else { return unexpected("opened") }
    total = object.size
    if let maxSize, object.size > maxSize {
      return fail(StorageError.downloadSizeExceeded(total: object.size, maxSize: maxSize))
    }
    generation = object.generation
    state = .reading
    return completed == total ? .succeed : .read
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
    guard completed == total else { return .read }
    state = .over
    return .succeed
  }

  /// The wait is over.
  mutating func waited() -> Action {
    guard state == .waiting else { return unexpected("waited") }
    return begin()
  }

  /// The read bytes have been discarded.
  mutating func restarted() -> Action {
    completed = 0
    total = -1
    generation = nil
    return begin()
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

  private mutating func fail(_ error: any Error) -> Action {
    state = .over
    return .fail(error)
  }

  private mutating func unexpected(_ event: String) -> Action {
    fail(StorageServiceError(.internal, "The download got \"\(event)\" while it was \(state)."))
  }
}

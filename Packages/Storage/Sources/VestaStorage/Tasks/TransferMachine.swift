/// Decides what a transfer's calls and reports do: when it runs, and which observers are called; pure.
///
/// The transfer itself is an attempt with a number. Pausing ends the attempt; resuming begins the next one, which
/// continues where the last one stopped. A report of an attempt that was ended changes nothing, with one exception: an
/// upload that an earlier attempt has completed has succeeded, as the object is there.
///
/// The end belongs to one attempt alone. A download asks before it publishes its content (``mayPublish(attempt:)``),
/// and only the current attempt of a transfer that runs may; from then on calls change nothing, as a content that
/// takes its place cannot be stopped. A failure is observed after the clean-up, so that what the transfer used is
/// free then.
///
/// | call | takes effect in | result |
/// |---|---|---|
/// | `pause` | queueing, running, resuming | an upload is paused at once, a download when its attempt has stopped |
/// | `resume` | queueing, running, pausing, paused | `.resume` is observed, and a paused transfer runs again |
/// | `cancel` | all but ending and the three ends | `.failure` is observed with the code `cancelled` |
struct TransferMachine: Sendable, Equatable {
  enum Kind: Sendable { case upload, download }

  enum State: Sendable, Equatable {
    case unknown, queueing, running, resuming, pausing, paused
    /// The content takes its place.
    case publishing
    /// The transfer has failed and cleans up.
    case failing
    case success, failed, cancelled
  }

  enum Action: Sendable, Equatable {
    /// Runs an attempt, after the one before it has ended.
    case start(attempt: Int)
    /// Ends the running attempt.
    case stop
    /// Frees what a failed transfer holds, and then reports ``cleanedUp()``.
    case cleanUp
    /// Calls the observers of a status.
    case notify(StorageTaskStatus)
    /// The transfer is over: drops the observers and lets go of the content.
    case end
  }

  private let kind: Kind
  private var attempt = 0
  private var isAttemptRunning = false
  private(set) var state = State.unknown

  init(_ kind: Kind) { self.kind = kind }

  /// The value of `StorageTaskSnapshot.status` outside of a notification.
  var status: StorageTaskStatus {
    switch state {
    case .unknown: .unknown
    case .queueing, .running, .resuming, .publishing, .failing: .resume
    case .pausing, .paused: .pause
    case .success: .success
    case .failed, .cancelled: .failure
    }
  }

  /// Whether nothing more can happen.
  var isOver: Bool { state == .success || state == .failed || state == .cancelled }

  /// Whether the end is decided, and calls change nothing.
  var isEnding: Bool { isOver || state == .publishing || state == .failing }

  /// Whether an observer that is added now is called at once.
  func replays(_ status: StorageTaskStatus) -> Bool {
    switch status {
    case .unknown: false
    case .resume: state == .resuming || state == .running || state == .publishing
    case .progress: state == .running || state == .publishing
    case .pause: state == .pausing || state == .paused
    case .success: state == .success
    case .failure: state == .failed
    }
  }

  // MARK: Calls

  mutating func enqueue() -> [Action] {
    guard state == .unknown || state == .queueing || state == .resuming || state == .running else { return [] }
    if state == .unknown { state = .queueing }
    return startIfIdle()
  }

  mutating func pause() -> [Action] {
    guard state == .queueing || state == .running || state == .resuming || state == .unknown else { return [] }
    guard isAttemptRunning else {
      state = .paused
      return [.notify(.pause)]
    }
    guard kind == .download else {
      state = .paused
      return [.stop, .notify(.pause)]
    }
    state = .pausing
    return [.stop]
  }

  mutating func resume() -> [Action] {
    switch state {
    case .unknown, .queueing, .running:
      return [.notify(.resume)] + startIfIdle()
    case .pausing, .paused:
      state = .resuming
      isAttemptRunning = false
      return [.notify(.resume)] + startIfIdle()
    case .resuming, .publishing, .failing, .success, .failed, .cancelled: return []
    }
  }

  mutating func cancel() -> [Action] {
    guard !isEnding else { return [] }
    state = .cancelled
    let stop: [Action] = isAttemptRunning ? [.stop] : []
    isAttemptRunning = false
    return stop + [.notify(.failure), .end]
  }

  /// The transfer cannot begin.
  mutating func refused() -> [Action] {
    guard state == .unknown else { return [] }
    state = .failed
    return [.notify(.failure), .end]
  }

  // MARK: Reports

  /// An attempt has begun.
  mutating func began(attempt number: Int) -> [Action] {
    if number == attempt, state == .queueing || state == .resuming { state = .running }
    return []
  }

  /// Bytes have been transferred.
  mutating func progressed(attempt number: Int) -> [Action] {
    guard number == attempt, state == .running || state == .resuming || state == .queueing else { return [] }
    state = .running
    return [.notify(.progress)]
  }

  /// Whether an attempt may give the content its place; it succeeds or fails after that.
  mutating func mayPublish(attempt number: Int) -> Bool {
    guard number == attempt, state == .running || state == .resuming || state == .queueing else { return false }
    state = .publishing
    return true
  }

  /// An attempt has stopped at the request of the machine.
  mutating func stopped(attempt number: Int) -> [Action] {
    guard number == attempt, !isEnding else { return [] }
    isAttemptRunning = false
    guard state == .pausing else { return [] }
    state = .paused
    return [.notify(.pause)]
  }

  /// The transfer is complete.
  mutating func succeeded(attempt number: Int) -> [Action] {
    guard number == attempt || kind == .upload, !isOver, state != .failing else { return [] }
    let stop: [Action] = number != attempt && isAttemptRunning ? [.stop] : []
    isAttemptRunning = false
    state = .success
    return stop + [.notify(.progress), .notify(.success), .end]
  }

  /// The transfer has failed; this is not reported while it is paused, and resuming tries again.
  mutating func failed(attempt number: Int) -> [Action] {
    guard number == attempt, !isOver else { return [] }
    isAttemptRunning = false
    switch state {
    case .paused: return []
    case .pausing:
      state = .paused
      return [.notify(.pause)]
    default:
      state = .failing
      return [.cleanUp]
    }
  }

  /// The resources of a failed transfer are free.
  mutating func cleanedUp() -> [Action] {
    guard state == .failing else { return [] }
    state = .failed
    return [.notify(.failure), .end]
  }

  private mutating func startIfIdle() -> [Action] {
    guard !isAttemptRunning else { return [] }
    attempt += 1
    isAttemptRunning = true
    return [.start(attempt: attempt)]
  }
}

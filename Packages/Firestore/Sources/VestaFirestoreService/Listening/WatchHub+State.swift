import VestaConcurrency
import VestaCore
import VestaFirestoreBackend

extension WatchHub {
  enum Event: Sendable {
    case request(ListenRequest, of: WatchMachine.CallID)
    case end(WatchMachine.CallID)
    case started(WatchMachine.JobID, Result<WatchStart, FirestoreServiceError>)
    case answered(WatchMachine.JobID, WatchMachine.WatchID, Result<LimitedAnswer, FirestoreServiceError>)
    /// A call whose starts were postponed has read what was sent.
    case hasRead(WatchMachine.CallID)
    case rulesChanged
    case tick

    var isRulesChange: Bool { if case .rulesChanged = self { true } else { false } }
    var isEnd: Bool { if case .end = self { true } else { false } }
    var isTick: Bool { if case .tick = self { true } else { false } }
  }

  /// An object, so that a commit copies references for its many listeners and not their callers.
  final class OpenCall: Sendable {
    let mailbox: ListenMailbox
    /// Where the call was opened; `nil` for no preference.
    let executor: (any TaskExecutor)?
    /// The caller to ask the guard about; `nil` where no question is needed.
    let guarded: GuardedCaller?

    init(mailbox: ListenMailbox, executor: (any TaskExecutor)?, guarded: GuardedCaller?) {
      self.mailbox = mailbox
      self.executor = executor
      self.guarded = guarded
    }
  }

  /// The state that each turn works with and leaves to the next one.
  struct Serving: Sendable {
    var machine: WatchMachine
    var jobs: JobQueue
    /// A version at or below which no later commit is possible.
    var floor: Int64 = 0
  }

  struct State: Sendable {
    var calls: [WatchMachine.CallID: OpenCall] = [:]
    var events: [Event] = []
    var lastCall = 0
    /// The number of times that serving has begun; events of one time do not concern the next.
    var run = 0
    /// Whether calls are served: from the first call to the end of the last one.
    var isServing = false
    /// Whether a task takes turns, or is about to.
    var isTurning = false
    /// Whether something has happened since the last turn began.
    var isWoken = false
    /// Between turns.
    var resting: Serving?
    var observation: ListenerRegistration?
    var rules: ListenerRegistration?
    var ticking: Task<Void, Never>?
    var polling: Task<Void, Never>?

    /// Nothing, as before the first call; numbers are never used again.
    var cleared: State { State(lastCall: lastCall, run: run) }

    /// Notes that something has happened.
    ///
    /// - Returns: Whether a task has to take turns; otherwise one does already.
    mutating func wake() -> Bool {
      defer { (isWoken, isTurning) = (true, true) }
      return !isTurning
    }
  }

  /// The beginning of a task that takes turns.
  struct Start: Sendable {
    let run: Int
    /// `nil` for no preference.
    var executor: (any TaskExecutor)?
  }
}

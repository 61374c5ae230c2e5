import Dispatch

/// A bounded pool of dedicated threads, for work that may block: callbacks, transaction blocks and receivers of the
/// program, calls of C libraries that wait.
///
/// On Linux Swift's tasks and Dispatch share as many threads as there are cores, and a blocked one is replaced only
/// after about a second. So code that may block runs on neither: a few blocked callbacks would stop all tasks of the
/// process. Here a thread starts when none is idle, and ends after it was idle for a while. At the limit, work waits in
/// the order in which it was submitted.
///
/// ```swift
/// let sum = try await BlockingPool.shared.run { legacySum(path) }
/// ```
///
/// Work that must not overlap uses a ``BlockingLane``.
public final class BlockingPool: Sendable {
  /// The pool that all products of a process share, of at most 256 threads.
  public static let shared = BlockingPool(limit: 256)

  /// The closure in a separate structure, as ``Locked`` requires.
  private struct Job: Sendable {
    let run: @Sendable () -> Void
  }

  /// An idle thread: it waits for a signal, and finds its job here.
  private final class IdleThread: Sendable {
    let signal = DispatchSemaphore(value: 0)
    let job = Locked<Job?>(nil)
  }

  private struct State {
    var waiting = Fifo<Job>()
    /// The thread that became idle last is used first.
    var idle: [IdleThread] = []
    var threads = 0
  }

  private enum Step {
    case start
    case wake(IdleThread)
    case wait
  }

  private let limit: Int
  private let idleTime: Duration
  private let isBackground: Bool
  private let state = Locked(State())

  /// A pool without threads; they start with the first work.
  ///
  /// - Parameters:
  ///   - limit: The largest number of threads; at least one.
  ///   - idleTime: How long an idle thread waits for work before it ends.
  ///   - isBackground: Whether other threads of the process take precedence where there are fewer cores than threads:
  ///     for work that computes for long.
  public init(limit: Int, idleTime: Duration = .seconds(5), isBackground: Bool = false) {
    self.limit = max(1, limit)
    self.idleTime = idleTime
    self.isBackground = isBackground
  }

  /// The number of threads, idle ones included.
  public var threadCount: Int { state.withLock { $0.threads } }

  /// The number of submitted jobs for which no thread is free.
  public var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Runs `work` on a thread of the pool, later; returns at once.
  public func async(_ work: @escaping @Sendable () -> Void) {
    let job = Job(run: work)
    let step = state.withLock { state -> Step in
      if let thread = state.idle.popLast() {
        thread.job.withLock { $0 = job }
        return .wake(thread)
      }
      guard state.threads < limit else {
        state.waiting.append(job)
        return .wait
      }
      state.threads += 1
      return .start
    }
    switch step {
    case .wait: break
    case .wake(let thread): thread.signal.signal()
    case .start:
      let isStarted = PlatformThread.start {
        if self.isBackground { PlatformThread.yieldToOthers() }
        self.serve(job)
      }
      if !isStarted { startFailed(job) }
    }
  }

  /// Runs `work` on a thread of the pool; suspends the task until it has run.
  ///
  /// - Parameter work: May block.
  /// - Returns: The result of `work`.
  /// - Throws: The error of `work`; `CancellationError`, at once, when the task is cancelled before `work` has begun,
  ///   and then `work` never runs. Once begun it runs to its end, and its result is returned.
  public func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await Turn<Result>().wait { turn in
      async {
        guard let continuation = turn.begin() else { return }
        continuation.resume(with: Swift.Result { try work() })
      }
    }
  }

  /// Runs `work` on a thread of the pool, to its end, whether the task is cancelled or not.
  ///
  /// - Parameter work: May block.
  /// - Returns: The result of `work`.
  /// - Throws: The error of `work`.
  public func runToEnd<Result: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let result: Swift.Result<Result, Failure> = await withCheckedContinuation { continuation in
      async { continuation.resume(returning: Swift.Result { () throws(Failure) in try work() }) }
    }
    return try result.get()
  }
}

extension BlockingPool: TaskExecutor {
  /// Runs a part of a task on a thread of the pool; the Swift runtime calls this.
  ///
  /// A task prefers the pool with `withTaskExecutorPreference`, for work that computes for long: on the threads of all
  /// tasks it would hold up the others.
  ///
  /// - Parameter job: The part to run.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

extension BlockingPool {
  /// The life of a thread: its first job, then every one that it finds or is woken for.
  private func serve(_ first: Job) {
    let thread = IdleThread()
    var job: Job? = first
    while let current = job.take() {
      current.run()
      job = nextJob(for: thread)
    }
  }

  /// The next job of a thread; `nil` when the thread has to end.
  private func nextJob(for thread: IdleThread) -> Job? {
    let waiting = state.withLock { state -> Job? in
      if let job = state.waiting.popFirst() { return job }
      state.idle.append(thread)
      return nil
    }
    if let waiting { return waiting }
    if thread.signal.wait(timeout: .now() + idleTime.dispatchInterval) == .timedOut {
      // Within the lock: the taker of the thread from the list has given it a job, and signals.
      let ends = state.withLock { state -> Bool in
        guard let index = state.idle.firstIndex(where: { $0 === thread }) else { return false }
        state.idle.remove(at: index)
        state.threads -= 1
        return true
      }
      if ends { return nil }
      thread.signal.wait()
    }
    return thread.job.withLock { $0.take() }
  }

  /// The system has no thread left: the job runs on Dispatch, which has some already.
  private func startFailed(_ job: Job) {
    state.withLock { $0.threads -= 1 }
    DispatchQueue.global().async(execute: job.run)
  }
}

extension Duration {
  fileprivate var dispatchInterval: DispatchTimeInterval {
    let (seconds, attoseconds) = components
    guard seconds < 1_000_000 else { return .seconds(1_000_000) }
    return .nanoseconds(Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
  }
}

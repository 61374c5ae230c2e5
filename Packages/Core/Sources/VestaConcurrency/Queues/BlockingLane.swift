/// A serial queue on the threads of a ``BlockingPool``: one closure at a time, in order, on any thread of the pool.
///
/// Every receiver of events has a lane, so one that blocks holds up itself alone. A lane that has much to do gives its
/// thread to other lanes after each closure when they wait for one.
///
/// ```swift
/// let lane = BlockingLane()
/// lane.async { receiver.receive(message) }
/// ```
public final class BlockingLane: Sendable {
  /// The closure in a separate structure, as ``Locked`` requires.
  private struct Job: Sendable {
    let run: @Sendable () -> Void
  }

  private struct State {
    var waiting = Fifo<Job>()
    /// Whether a thread serves the lane, or will.
    var isServed = false
  }

  private let pool: BlockingPool
  private let state = Locked(State())

  /// An empty lane.
  ///
  /// - Parameter pool: The pool whose threads run the closures.
  public init(on pool: BlockingPool = .shared) { self.pool = pool }

  /// The number of closures that wait.
  public var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Runs `work` after everything that was submitted before, later; returns at once.
  public func async(_ work: @escaping @Sendable () -> Void) {
    let job = Job(run: work)
    let starts = state.withLock { state -> Bool in
      state.waiting.append(job)
      defer { state.isServed = true }
      return !state.isServed
    }
    if starts { pool.async(serve) }
  }

  /// Runs `work` after everything that was submitted before; suspends the task until it has run.
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

  private func serve() {
    while true {
      // The closure is released before the next one is taken, or the lane given up.
      do {
        let job = state.withLock { state -> Job? in
          if let job = state.waiting.popFirst() { return job }
          state.isServed = false
          return nil
        }
        guard let job else { return }
        job.run()
      }
      if pool.waitingCount > 0 { return pool.async(serve) }
    }
  }
}

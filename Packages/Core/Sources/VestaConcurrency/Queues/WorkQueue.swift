import Dispatch

/// A serial queue on which a component runs everything that must not run at the same time.
///
/// The three kinds of methods of a component that is confined to its queue use it like this:
/// - a public asynchronous method starts with `queue.async { … }` and calls back elsewhere,
/// - a public synchronous method is `queue.sync { … }` around a private one,
/// - a private method begins with `queue.assertOnQueue()`.
///
/// A child queue has a separate order and shares its root's: nothing on a root, its children and their
/// children ever runs at the same time. Calling `sync` where it would wait for itself, on the queue, on a relative of
/// it, or in something that was called by `sync` from there, stops the process with a sentence in every build; it never
/// deadlocks. (Two threads that `sync` to each other's queues crosswise are not detected.)
///
/// A queue can be the executor of an actor, whose isolated code then counts as code on the queue:
///
/// ```swift
/// actor Session {
///   let queue = WorkQueue(label: "auth")
///   nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }
/// }
/// ```
public final class WorkQueue: SerialExecutor, CustomStringConvertible {
  /// The name that was given.
  public let label: String

  private let parent: WorkQueue?
  private let queue: DispatchQueue
  /// The dedicated threads that run the work; `nil` for Dispatch's.
  private let lane: BlockingLane?

  /// Makes a queue.
  ///
  /// - Parameters:
  ///   - label: Its name, for messages and debuggers.
  ///   - target: The queue whose order it shares; without one it is a root.
  public init(label: String, target: WorkQueue? = nil) {
    self.label = label
    parent = target
    lane = nil
    queue = DispatchQueue(label: label, target: target?.queue)
  }

  /// Makes a root whose work runs on dedicated threads, because it may block: it calls code of the program.
  ///
  /// - Parameters:
  ///   - label: Its name, for messages and debuggers.
  ///   - pool: The threads.
  public init(label: String, on pool: BlockingPool) {
    self.label = label
    parent = nil
    lane = BlockingLane(on: pool)
    queue = DispatchQueue(label: label)
  }

  /// The label.
  public var description: String { "WorkQueue(\(label))" }

  /// Whether the calling code has the queue to itself.
  ///
  /// That is so in a closure of the queue or of a child of it, and in everything such a closure calls synchronously,
  /// `sync` to another queue included.
  public var isCurrent: Bool { ThreadHoldings.contains(ObjectIdentifier(self)) }

  /// Runs `work` on the queue, later, and returns at once.
  ///
  /// - Parameter work: Runs after everything that was submitted to the queue before.
  public func async(_ work: @escaping @Sendable () -> Void) {
    submit { self.hold(while: work) }
  }

  private func submit(_ work: @escaping @Sendable () -> Void) {
    guard let lane else { return queue.async(execute: work) }
    // Dispatch runs the closure on the thread of the lane.
    lane.async { self.queue.sync(execute: work) }
  }

  /// Runs `work` on the queue and waits for it.
  ///
  /// Stops the process when called where it would wait for itself.
  ///
  /// - Parameter work: Runs after everything that was submitted to the queue before.
  /// - Returns: The result of `work`.
  /// - Throws: The error of `work`.
  public func sync<Result, Failure: Error>(_ work: () throws(Failure) -> Result) throws(Failure) -> Result {
    if ThreadHoldings.contains(ObjectIdentifier(root)) { stopBecauseOfDeadlock() }
    var outcome: Swift.Result<Result, Failure>?
    let end = DispatchSemaphore(value: 0)
    defer { end.signal() }
    if let lane {
      // The lane stands still for this thread, after everything that was submitted before.
      let turn = DispatchSemaphore(value: 0)
      lane.async {
        turn.signal()
        end.wait()
      }
      turn.wait()
    }
    // Dispatch runs the closure on this thread, so what the thread holds already stays known.
    queue.sync { hold { outcome = Swift.Result { () throws(Failure) in try work() } } }
    guard let outcome else { preconditionFailure("the queue has returned without running its closure") }
    return try outcome.get()
  }

  /// Runs `work` on the queue; suspends the task, and blocks no thread, until it has run.
  ///
  /// May be called from anywhere, also from a task that an actor on this queue runs.
  ///
  /// - Parameter work: Runs after everything that was submitted to the queue before.
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

  /// Stops the process, in every build, unless ``isCurrent``.
  ///
  /// - Parameters:
  ///   - file: The source location of the caller.
  ///   - line: The source location of the caller.
  public func assertOnQueue(file: StaticString = #fileID, line: UInt = #line) {
    guard !isCurrent else { return }
    // fatalError and not preconditionFailure, which says nothing in a release build.
    fatalError(
      "This code must run on the queue '\(label)'. Call it through async, sync or run.", file: file, line: line)
  }

  // MARK: - Serving as an executor

  /// Runs a part of a task on the queue; the Swift runtime calls this.
  ///
  /// - Parameter job: The part to run.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    submit { self.hold { job.runSynchronously(on: self.asUnownedSerialExecutor()) } }
  }

  /// Stops the process unless the calling code is isolated to the queue; `assumeIsolated` calls this.
  public func checkIsolated() { assertOnQueue() }

  /// Whether the calling code is isolated to the queue.
  public func isIsolatingCurrentContext() -> Bool? { isCurrent }
}

extension WorkQueue {
  private var root: WorkQueue {
    var queue = self
    while let parent = queue.parent { queue = parent }
    return queue
  }

  /// Runs `body` with the queue and all it is a descendant of marked as held by this thread.
  private func hold(while body: () -> Void) {
    guard let parent else { return ThreadHoldings.hold(ObjectIdentifier(self), while: body) }
    parent.hold { ThreadHoldings.hold(ObjectIdentifier(self), while: body) }
  }

  private func stopBecauseOfDeadlock() -> Never {
    // fatalError and not preconditionFailure, which says nothing in a release build.
    fatalError(
      """
      sync on the queue '\(label)' from code that already runs on '\(root.label)', whose order it shares: \
      it would wait for itself. Call the private method directly, or use async or run.
      """)
  }
}

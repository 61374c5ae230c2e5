import Dispatch

/// Lets any number of readers at a shared resource, or one writer.
///
/// - Any number of reads run at once. One write runs at a time, without concurrent reads.
/// - A read is synchronous: it returns when its closure has run. A write is asynchronous: `enqueueWrite` returns at
///   once and the closure runs later, on a queue of the coordinator.
/// - A read submitted before a write runs before that write; a read submitted after a write runs after it and sees
///   its effects; writes run in the order of their submission.
/// - A read inside a read, or inside a write's closure, on the same thread runs at once. `enqueueWrite` may be called
///   from inside either, and its closure runs after they have ended.
///
/// Not possible: a read that waits for another thread which itself wants to read. If a write arrived between the two,
/// they wait for each other.
///
/// ```swift
/// let coordinator = ReadWriteCoordinator()
/// coordinator.enqueueWrite { table.insert(row) }
/// let count = coordinator.read { table.count }   // sees the row
/// ```
public final class ReadWriteCoordinator: Sendable {
  private typealias Machine = ReadWriteMachine<Reader, @Sendable () -> Void>

  private let machine = Locked(Machine())
  private let writes: DispatchQueue

  /// Makes an unused coordinator.
  ///
  /// - Parameter label: The name of its writing queue, for debuggers.
  public init(label: String = "vesta.read-write-coordinator") {
    writes = DispatchQueue(label: label)
  }

  /// The number of closures that wait for their turn.
  var waitingCount: Int { machine.withLock { $0.waitingCount } }

  @usableFromInline
  var identity: ObjectIdentifier { ObjectIdentifier(self) }

  /// Runs `body` while no write runs; blocks the calling thread while a write is ahead.
  ///
  /// - Parameter body: The read.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`; the read has ended then.
  @inlinable
  public func read<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    if ThreadHoldings.contains(identity) { return try body() }
    beginRead()
    defer { endRead() }
    return try ThreadHoldings.hold(identity, while: body)
  }

  /// Runs `body` while no write runs; suspends the task, and blocks no thread, while a write is ahead.
  ///
  /// - Parameter body: The read.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`; `CancellationError`, at once, when the task is cancelled before its turn,
  ///   and then `body` never runs.
  public func read<Result>(_ body: () throws -> Result) async throws -> Result {
    try Task.checkCancellation()
    if !machine.withLock({ $0.readerArrived() }) { try await waitToRead() }
    defer { endRead() }
    return try ThreadHoldings.hold(identity, while: body)
  }

  /// Has `body` run alone, later, on the coordinator's queue, and returns at once.
  ///
  /// - Parameter body: The write.
  public func enqueueWrite(_ body: @escaping @Sendable () -> Void) {
    perform(machine.withLock { $0.writeArrived(body) })
  }

  /// Has `body` run alone on the coordinator's queue, and returns when it has run.
  ///
  /// - Parameter body: The write.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`; `CancellationError`, at once, when the task is cancelled before `body` has begun,
  ///   and then `body` never runs. Once begun it runs to its end, and its result is returned.
  public func write<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await Turn<Result>().wait { turn in
      enqueueWrite {
        guard let continuation = turn.begin() else { return }
        continuation.resume(with: Swift.Result { try body() })
      }
    }
  }
}

extension ReadWriteCoordinator {
  /// A caller that waits for a write to end.
  private enum Reader: Sendable {
    case thread(DispatchSemaphore)
    case task(Turn<Void>)
  }

  @usableFromInline
  func beginRead() {
    guard !machine.withLock({ $0.readerArrived() }) else { return }
    let gate = DispatchSemaphore(value: 0)
    // The write may have ended in between.
    if enterOrWait(.thread(gate)) { return }
    gate.wait()
  }

  private func waitToRead() async throws {
    try await Turn<Void>().wait { turn in
      if enterOrWait(.task(turn)) { wake([.task(turn)]) }
    }
  }

  /// - Returns: Whether the reader is active already; if not, it will be woken when it is.
  private func enterOrWait(_ reader: Reader) -> Bool {
    machine.withLock { machine in
      if machine.readerArrived() { return true }
      machine.readerWaits(reader)
      return false
    }
  }

  @usableFromInline
  func endRead() {
    perform(machine.withLock { $0.readerEnded() })
  }

  private func perform(_ action: Machine.Action) {
    switch action {
    case .none: break
    case .admit(let readers): wake(readers)
    case .run(let write): writes.async { self.runWrites(startingWith: write) }
    }
  }

  /// Runs a write and, without another trip through the queue, the writes directly after it.
  private func runWrites(startingWith first: @escaping @Sendable () -> Void) {
    var next: (@Sendable () -> Void)? = first
    while let write = next.take() {
      ThreadHoldings.hold(identity, while: write)
      let action = machine.withLock { $0.writeEnded() }
      if case .run(let follower) = action { next = follower } else { perform(action) }
    }
  }

  private func wake(_ readers: [Reader]) {
    for reader in readers {
      switch reader {
      case .thread(let gate): gate.signal()
      case .task(let turn):
        // A reader that was cancelled while it waited was admitted all the same: it ends here.
        if let continuation = turn.begin() { continuation.resume() } else { endRead() }
      }
    }
  }
}

public import VestaListenerInterop
public import VestaStoreInterop
import VestaConcurrency

/// An ordered store in one SQLite file.
///
/// Reads run on the calling thread, without suspending, each on a reader connection and a snapshot of its own. Writes
/// take turns: the task that finds the turn free runs its body at once, in its own task and on its own thread. Whoever
/// comes meanwhile waits, and is served by the leader within the same commit, so many transactions share one sync.
///
/// - A crash at any moment leaves every transaction that was acknowledged, and of the others each whole or not at all.
/// - A body that waits for something slow holds up the writers behind it, never a reader.
/// - A transaction body may run in another task than the one that called `write`, as the contract says; it may run
///   again when that task is cancelled.
///
/// ```swift
/// let store = try await SQLiteStore.open(named: "notes", in: "/var/lib/app")
/// try await store.write { try await $0.put(Array("hello".utf8), for: Array("greeting".utf8)) }
/// let greeting = try await store.read { try await $0.get(Array("greeting".utf8)) }
/// try await store.close()
/// ```
public final class SQLiteStore: OrderedStore, CommitObservable {
  private struct Turns {
    var queue = WriteQueue()
    var whenIdle: [@Sendable () -> Void] = []
  }

  private enum Ending {
    case notBegun
    case underWay([@Sendable () -> Void])
    case done
  }

  let readers: ReaderPool
  let writer: WriterSession
  let bodies = StoreBodies()
  let files: StoreFiles
  private let tuning: StoreTuning
  private let versions: StoreVersions
  private let commitNews = ListenerRegistry<StoreVersion>()
  private let turns = Locked(Turns())
  private let ending = Locked(Ending.notBegun)
  // Later commits are above this version after a restart too, without another write.
  private let durableFloor: Locked<StoreVersion>

  /// Opens a store, and makes it when it is not there; what `StoreProvider.openStore` promises.
  ///
  /// After a crash this brings the file back into order, which takes longer the longer the log is: about 0.1 s.
  ///
  /// - Parameters:
  ///   - name: What the store holds; the name of its directory.
  ///   - directory: The directory above.
  ///   - options: How the store is to behave.
  /// - Returns: The open store; close it.
  /// - Throws: `StoreError` with the path and a hint; nothing is left open then.
  public static func open(
    named name: String, in directory: String, options: StoreOptions = StoreOptions()
  ) async throws -> SQLiteStore {
    try SQLiteStore(named: name, in: directory, options: options, tuning: StoreTuning())
  }

  init(named name: String, in directory: String, options: StoreOptions, tuning: StoreTuning) throws {
    files = try StoreFiles(name: name, in: directory)
    try files.prepareDatabase()
    writer = try WriterSession(path: files.database, options: options, tuning: tuning)
    try files.noteOpened()
    try files.markComplete()
    versions = StoreVersions(above: max(writer.version, writer.floor), clock: options.clock)
    durableFloor = Locked(writer.floor)
    readers = ReaderPool(path: files.database, tuning: tuning)
    self.tuning = tuning
  }

  /// The database file.
  public var path: String { files.database }

  // MARK: Reading

  /// Reads at one moment in time; see `OrderedStore`.
  ///
  /// Up to 64 bodies read at once; a body beyond them waits, suspended, unless it is inside another one.
  public func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    try Task.checkCancellation()
    let lease = try await readers.acquire(inside: bodies.current())
    let reader = SQLiteReader(lease.connection)
    do {
      let result = try await bodies.run(.read) { try await body(reader) }
      if let failure = reader.failure { throw failure }
      try reader.end()
      readers.release(lease)
      return result
    } catch {
      retire(lease, reader)
      throw error
    }
  }

  /// Takes a connection back from a read that failed; one that is not in order any more is not used again.
  private func retire(_ lease: ReaderLease, _ reader: SQLiteReader) {
    do {
      try reader.end()
      if lease.connection.isInTransaction { try lease.connection.run(.rollback) }
      readers.release(lease)
    } catch {
      readers.discard(lease)
    }
  }

  // MARK: Writing

  /// Changes the store: all of the body's changes, or none; see `OrderedStore`.
  @discardableResult
  public func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    try Task.checkCancellation()
    try bodies.refuseInside(.write, "write", path: path)
    let result = Locked<Result?>(nil)
    let request = WriteRequest { transaction in
      let value = try await body(transaction)
      result.withLock { $0 = value }
    }
    let outcome = await withTaskCancellationHandler {
      await submit(request)
    } onCancel: {
      cancel(request)
    }
    let version = try outcome.get()
    guard let value = result.withLock({ $0 }) else { throw CancellationError() }
    return StoreCommit(value: value, version: version)
  }

  /// Leads if the turn is free, or waits to be served or to lead.
  private func submit(_ request: WriteRequest) async -> WriteOutcome {
    switch turns.withLock({ $0.queue.tryToLead() }) {
    case .lead: return await lead(request)
    case .closed: return .failure(StoreError(.closed, operation: "write", path: path))
    case .wait, .cancelled: break
    }
    do {
      let call = try await bodies.whileWaiting("write", path: path) {
        await withCheckedContinuation { continuation in
          enqueue(.init(request: request) { continuation.resume(returning: $0) })
        }
      }
      switch call {
      case .lead: return await lead(request)
      case .done(let outcome): return outcome
      }
    } catch {
      return .failure(error)
    }
  }

  private func enqueue(_ waiter: WriteQueue.Waiter) {
    switch turns.withLock({ $0.queue.enter(waiter) }) {
    case .wait: break
    case .lead: waiter.resume(.lead)
    case .cancelled: waiter.resume(.done(.failure(CancellationError())))
    case .closed: waiter.resume(.done(.failure(StoreError(.closed, operation: "write", path: path))))
    }
  }

  private func cancel(_ request: WriteRequest) {
    request.cancel()
    let waiter = turns.withLock { $0.queue.remove(request) }
    waiter?.resume(.done(.failure(CancellationError())))
  }

  /// A member of a commit, with the outcome if the commit succeeds.
  private struct Member {
    let request: WriteRequest
    let resume: (@Sendable (WriteQueue.Call) -> Void)?
    var outcome = WriteOutcome.failure(CancellationError())
  }

  /// Runs the own body and those of the waiting, commits them together, tells everybody, and passes the turn on.
  private func lead(_ own: WriteRequest) async -> WriteOutcome {
    if let work = own.maintenance { return await maintain(work) }
    var members = [Member(request: own, resume: nil)]
    var ownOutcome = WriteOutcome.failure(CancellationError())
    // What waits is taken once; later rounds run again whom the failure of another has cost the commit.
    var takesMore = true
    while !members.isEmpty {
      var again: [Member] = []
      for member in await commit(&members, takesMore: takesMore, again: &again) {
        if let resume = member.resume { resume(.done(member.outcome)) } else { ownOutcome = member.outcome }
      }
      takesMore = false
      members = again
    }
    await writer.keepLogShort()
    passOn()
    return ownOutcome
  }

  /// Does something with the writer outside of any transaction, and passes the turn on.
  private func maintain(_ work: WriteRequest.Maintenance) async -> WriteOutcome {
    defer { passOn() }
    do {
      try await work(writer)
      return .success(writer.version)
    } catch {
      return .failure(error)
    }
  }

  /// Takes the turn for something that is not a transaction, and waits for it like any writer.
  func withExclusiveTurn(_ operation: String, _ work: @escaping WriteRequest.Maintenance) async throws {
    try Task.checkCancellation()
    try bodies.refuseInside(nil, operation, path: path)
    let request = WriteRequest.maintaining(work)
    let outcome = await withTaskCancellationHandler {
      await submit(request)
    } onCancel: {
      cancel(request)
    }
    _ = try outcome.get()
  }

  /// Runs members, and those who wait, in one commit.
  ///
  /// - Parameter again: Gets the members to run again, without the one whose failure took the commit from them.
  /// - Returns: The other members, with their final outcomes.
  private func commit(_ members: inout [Member], takesMore: Bool, again: inout [Member]) async -> [Member] {
    var group = CommitGroup(writer, bodies: bodies, versions: versions)
    var ready: [Member] = []
    // Bodies that saw, or would see, the cancellation of this task; they wait for another leader.
    var disturbed: [Member] = []
    for var member in members {
      if group.loss == nil, disturbed.isEmpty { member.outcome = await group.run(member.request) }
      if isDisturbed(member) { disturbed.append(member) } else { ready.append(member) }
    }
    while takesMore, group.loss == nil, group.count < tuning.groupLimit, let next = takeNext() {
      var member = Member(request: next.request, resume: next.resume)
      member.outcome = await group.run(next.request)
      if isDisturbed(member) {
        disturbed.append(member)
        break
      }
      ready.append(member)
    }
    for member in disturbed.reversed() { putBack(member) }
    let bodyFailed = group.loss != nil
    let loss = group.commit(files.checkInPlace)
    versions.settle()
    guard let loss else {
      durableFloor.withLock { $0 = max($0, writer.version, writer.floor) }
      for version in group.committed { commitNews.emit(version) }
      return ready
    }
    var done: [Member] = []
    for (index, var member) in ready.enumerated() {
      // The last body that ran is the one at fault; who has succeeded before it, or has not run, is innocent.
      guard case .success = member.outcome else {
        if index < group.count { done.append(member) } else { again.append(member) }
        continue
      }
      if bodyFailed {
        again.append(member)
      } else {
        member.outcome = .failure(loss)
        done.append(member)
      }
    }
    return done
  }

  /// The next body to serve.
  ///
  /// None while this task is cancelled, as the body's own calls would notice it, and none inside a transaction of
  /// another store, as the body would seem to be inside it too.
  private func takeNext() -> WriteQueue.Waiter? {
    if Task.isCancelled || StoreBodies.isInsideTransaction { return nil }
    return turns.withLock { $0.queue.takeNextBody() }
  }

  /// Lets one wait again that was disturbed, in front of the others.
  private func putBack(_ member: Member) {
    guard let resume = member.resume else { return }
    let error: (any Error)? = turns.withLock { turns in
      if member.request.hasBeenCancelled { return CancellationError() }
      let waiter = WriteQueue.Waiter(request: member.request, resume: resume)
      return turns.queue.putBack(waiter) ? nil : StoreError(.closed, operation: "write", path: path)
    }
    if let error { resume(.done(.failure(error))) }
  }

  /// Whether a body was cut short by the cancellation of the leader, which is no business of its caller.
  private func isDisturbed(_ member: Member) -> Bool {
    guard member.resume != nil, case .failure(let error) = member.outcome, error is CancellationError else {
      return false
    }
    return Task.isCancelled && !member.request.hasBeenCancelled
  }

  private func passOn() {
    let (next, idle): (WriteQueue.Waiter?, [@Sendable () -> Void]) = turns.withLock { turns in
      let next = turns.queue.passOn()
      guard turns.queue.isIdle else { return (next, []) }
      defer { turns.whenIdle = [] }
      return (next, turns.whenIdle)
    }
    next?.resume(.lead)
    for finish in idle { finish() }
  }

  // MARK: Versions

  /// How far a floor is made durable ahead of the one asked for, so that not every call writes: one second.
  private static let floorStep: Int64 = 1_000_000

  /// Raises the floor of the versions to come; see `OrderedStore`.
  ///
  /// About once a second this writes to the file, so that the floor survives a restart.
  @discardableResult
  public func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion {
    try bodies.refuseInside(.write, "raiseFloor", path: path)
    if turns.withLock({ $0.queue.isClosed }) { throw StoreError(.closed, operation: "raiseFloor", path: path) }
    let raised = try await bodies.whileWaiting("raiseFloor", path: path) { try await versions.raise(to: version) }
    // What is at or below the last commit, or the last floor written, survives already.
    guard raised > durableFloor.withLock({ $0 }) else { return raised }
    let writer = writer
    try await write { transaction in
      let floor = StoreVersion(microseconds: raised.microseconds + Self.floorStep)
      guard raised > max(writer.version, writer.floor), let transaction = transaction as? SQLiteTransaction else {
        return
      }
      try transaction.setFloor(floor)
    }
    return raised
  }

  // MARK: Commits

  /// Calls back after every commit; see `CommitObservable`.
  public func observeCommits(_ observer: @escaping @Sendable (StoreVersion) -> Void) -> InteropRegistration {
    let registration = commitNews.add(observer)
    return InteropRegistration { registration.cancel() }
  }

  /// The commits from here on as a stream, none left out; it ends when the store is closed.
  public var commits: AsyncStream<StoreVersion> { commitNews.events }

  // MARK: Closing

  /// Ends the store; see `OrderedStore`.
  ///
  /// The log is written back into the file on the way, so that the file alone is the whole store then.
  public func close() async throws {
    try bodies.refuseInside(nil, "close", path: path)
    let isFirst: Bool = ending.withLock { ending in
      guard case .notBegun = ending else { return false }
      ending = .underWay([])
      return true
    }
    guard isFirst else { return await waitForEnd() }
    // Writes first: who sees that reads are refused knows that waiting writes are.
    refuseWrites()
    readers.refuse()
    await waitForTurns()
    await readers.close()
    writer.close()
    commitNews.finish()
    files.release()
    let waiting: [@Sendable () -> Void] = ending.withLock { ending in
      defer { ending = .done }
      guard case .underWay(let waiting) = ending else { return [] }
      return waiting
    }
    for finish in waiting { finish() }
  }

  /// Waits until the one that closes the store has done so.
  private func waitForEnd() async {
    await withCheckedContinuation { continuation in
      let isDone: Bool = ending.withLock { ending in
        guard case .underWay(let waiting) = ending else { return true }
        ending = .underWay(waiting + [{ continuation.resume() }])
        return false
      }
      if isDone { continuation.resume() }
    }
  }

  /// Refuses new transactions and those that wait for their turn.
  private func refuseWrites() {
    let refused = turns.withLock { $0.queue.close() }
    for waiter in refused { waiter.resume(.done(.failure(StoreError(.closed, operation: "write", path: path)))) }
  }

  /// Waits until the transactions that have begun are committed.
  private func waitForTurns() async {
    await withCheckedContinuation { continuation in
      let isIdle = turns.withLock { turns in
        if !turns.queue.isIdle { turns.whenIdle.append { continuation.resume() } }
        return turns.queue.isIdle
      }
      if isIdle { continuation.resume() }
    }
  }

  /// Makes every sync of the writer take so much longer, to see what a slow disk would do.
  ///
  /// - Parameter microseconds: How much longer; zero for no longer.
  @_spi(Benchmarking)
  public func delaySyncs(microseconds: Int) async throws {
    try await withTurn { $0.delaySyncs(microseconds: microseconds) }
  }

  /// Does something with the writer while nobody else does.
  func withTurn(_ body: @escaping @Sendable (WriterSession) throws -> Void) async throws {
    let writer = writer
    try await write { _ in try body(writer) }
  }

  /// How many transactions wait to be served.
  var waitingWrites: Int { turns.withLock { $0.queue.waitingCount } }

  /// How many pages the log had after the last commit.
  func logPages() async throws -> Int {
    let pages = Locked(0)
    try await withTurn { writer in pages.withLock { $0 = writer.logPages } }
    return pages.withLock { $0 }
  }
}

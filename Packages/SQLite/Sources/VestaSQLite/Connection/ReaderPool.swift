import VestaConcurrency
import VestaStoreInterop

/// A connection that one body reads with.
struct ReaderLease: Sendable {
  let connection: Connection
  // The body that has this reader beyond the limit of the pool.
  fileprivate let owner: StoreBody?
}

/// Connections to read with, each for one body at a time.
///
/// - **Limit.** Bodies that never suspend need no more readers than there are threads. Bodies that do suspend
///   hold theirs, so there is a limit; beyond it a task waits, suspended, in the order of arrival.
/// - **Nesting.** A read inside a body would wait for its own body, so each body may have one reader beyond the limit;
///   its other child tasks wait for that one, or for the pool. So there are never more readers than the limit and one
///   for each body that is running.
/// - **Memory.** The first few readers have large page caches and are preferred, the others small ones.
/// - **Trimming.** Opening a reader costs more than most reads. So all are kept while they are in demand; all but a few
///   of the ones that were idle for a while are closed.
/// - **No `FairQueue`.** Waiters want different things: any reader, one for their body, one that is open. And the lock
///   of the pool alone decides between a grant and a cancellation, so no reader is handed to a task that has left.
/// - **No descriptors left.** When a connection cannot be opened, the task waits for one that is open; only where there
///   is none it gets the error.
final class ReaderPool: Sendable {
  private struct Waiter: Sendable {
    let id: Int
    let body: StoreBody?
    // Whether it waits because no more connections could be opened.
    let needsOpenOne: Bool
    let resume: @Sendable (Result<Grant, any Error>) -> Void
  }

  private struct State {
    var idle: [Connection] = []
    // Connections in the pool, in use or idle; those beyond the limit are counted in `extra`.
    var open = 0
    var warm = 0
    var extra: Set<ObjectIdentifier> = []
    var waiting: [Waiter] = []
    var nextID = 0
    var isClosed = false
    // The smallest number of idle readers since the last look at them, and whether there will be another look.
    var fewestIdle = 0
    var isTrimming = false
    var whenEmpty = Waiters()
  }

  private enum Grant: Sendable {
    case reader(ReaderLease)
    case open(isWarm: Bool, owner: StoreBody?)
    case wait
  }

  private let state = Locked(State())
  private let path: String
  private let tuning: StoreTuning

  init(path: String, tuning: StoreTuning) {
    self.path = path
    self.tuning = tuning
  }

  /// How many connections there are, in use or not.
  var openCount: Int { state.withLock { $0.open + $0.extra.count } }

  /// How many connections have a large page cache.
  var warmCount: Int { state.withLock { $0.warm } }

  /// How many tasks wait for one.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Lends a reader; give it back with `release` or `discard`.
  ///
  /// - Parameter body: The body of this store that the caller is inside of.
  func acquire(inside body: StoreBody?) async throws -> ReaderLease {
    try Task.checkCancellation()
    var grant: Grant = try state.withLock { try self.grant(&$0, inside: body) }
    var mustReuse = false
    while true {
      if case .wait = grant { grant = try await wait(inside: body, needsOpenOne: mustReuse) }
      switch grant {
      case .reader(let lease): return lease
      case .wait: continue
      case .open(let isWarm, let owner):
        do {
          return ReaderLease(connection: try openConnection(isWarm: isWarm), owner: owner)
        } catch {
          let others = takeBack(isWarm: isWarm, owner: owner)
          // Inside a body the one to wait for may be the body's own.
          guard others > 0, body == nil else { throw error }
          (grant, mustReuse) = (.wait, true)
        }
      }
    }
  }

  /// Takes a reader back for the next one.
  func release(_ lease: ReaderLease) {
    var trimsLater = false
    let (surplus, waiter): (ReaderLease?, Waiter?) = state.withLock { state in
      guard lease.owner == nil, !state.isClosed || !state.waiting.isEmpty else { return (lease, nil) }
      // The one that has waited longest, whatever it waits for: a free connection serves all.
      if !state.waiting.isEmpty { return (nil, state.waiting.removeFirst()) }
      state.idle.append(lease.connection)
      guard state.idle.count > tuning.idleReaders, !state.isTrimming else { return (nil, nil) }
      (state.isTrimming, state.fewestIdle) = (true, state.idle.count)
      trimsLater = true
      return (nil, nil)
    }
    waiter?.resume(.success(.reader(lease)))
    if let surplus { discard(surplus) }
    if trimsLater { scheduleTrim() }
  }

  /// Closes readers that were not needed since the last call, as far as there are more than are kept for good.
  ///
  /// - Returns: Whether there are still more.
  @discardableResult
  func trim() -> Bool {
    let (surplus, isTrimming) = state.withLock { state in
      var surplus: [Connection] = []
      let count = min(state.fewestIdle, state.idle.count - tuning.idleReaders)
      while surplus.count < count {
        // Those with a large page cache last.
        surplus.append(state.idle.remove(at: state.idle.firstIndex { !$0.isWarm } ?? 0))
      }
      state.fewestIdle = state.idle.count
      state.isTrimming = state.idle.count > tuning.idleReaders
      return (surplus, state.isTrimming)
    }
    for connection in surplus { discard(ReaderLease(connection: connection, owner: nil)) }
    return isTrimming
  }

  /// Looks again and again, as long as there are more readers than are kept for good.
  private func scheduleTrim() {
    Task.detached { [weak self, tuning] in
      repeat { try? await tuning.sleep(tuning.readerTrimInterval) } while self?.trim() == true
    }
  }

  /// Closes a reader and counts it out; a waiting read may open another one.
  func discard(_ lease: ReaderLease) {
    lease.connection.close()
    _ = takeBack(isWarm: lease.connection.isWarm, owner: lease.owner)
  }

  /// Counts a connection out that was closed, or never opened; returns how many others there are.
  private func takeBack(isWarm: Bool, owner: StoreBody?) -> Int {
    let (others, resume, finished) = state.withLock { state in
      if let owner { state.extra.remove(ObjectIdentifier(owner)) } else { state.open -= 1 }
      if isWarm { state.warm -= 1 }
      let others = state.open + state.extra.count
      let resume = nextToOpen(&state)
      return (others, resume, state.isClosed && others == 0 ? state.whenEmpty.takeAll() : Waiters())
    }
    resume?()
    finished.resume()
    return others
  }

  private typealias Resumption = @Sendable () -> Void

  /// Resumes the first waiter that may open a connection now.
  private func nextToOpen(_ state: inout State) -> Resumption? {
    for (index, waiter) in state.waiting.enumerated() {
      // A task that could not open one waits for a connection that is given back, unless there is none left.
      if waiter.needsOpenOne, state.open + state.extra.count > 0 { continue }
      guard let grant = room(&state, inside: waiter.body) else { continue }
      state.waiting.remove(at: index)
      return { waiter.resume(.success(grant)) }
    }
    return nil
  }

  /// Refuses new readers from here on.
  func refuse() { state.withLock { $0.isClosed = true } }

  /// Waits for the readers that are out, after `refuse`.
  func close() async {
    let idle = state.withLock { state in
      let idle = state.idle
      state.idle = []
      state.open -= idle.count
      return idle
    }
    for connection in idle { connection.close() }
    await state.wait(in: \.whenEmpty) { $0.open + $0.extra.count == 0 }
  }

  private func grant(_ state: inout State, inside body: StoreBody?) throws -> Grant {
    if state.isClosed { throw StoreError(.closed, operation: "read", path: path) }
    if let index = state.idle.lastIndex(where: \.isWarm) ?? state.idle.indices.last {
      let connection = state.idle.remove(at: index)
      state.fewestIdle = min(state.fewestIdle, state.idle.count)
      return .reader(ReaderLease(connection: connection, owner: nil))
    }
    return room(&state, inside: body) ?? .wait
  }

  /// A place for another connection, if there is one: in the pool, or beyond it for a body that has none there.
  private func room(_ state: inout State, inside body: StoreBody?) -> Grant? {
    if state.open < tuning.readerLimit {
      state.open += 1
      let isWarm = state.warm < tuning.warmReaders
      if isWarm { state.warm += 1 }
      return .open(isWarm: isWarm, owner: nil)
    }
    guard let body, state.extra.insert(ObjectIdentifier(body)).inserted else { return nil }
    return .open(isWarm: false, owner: body)
  }

  private func openConnection(isWarm: Bool) throws -> Connection {
    let connection = try Connection(path: path, operation: "read", isWarm: isWarm)
    connection.tune(tuning)
    let kilobytes = isWarm ? tuning.readerCacheKilobytes : tuning.coldReaderCacheKilobytes
    try Schema.prepareReader(connection, cacheKilobytes: kilobytes)
    return connection
  }

  private func wait(inside body: StoreBody?, needsOpenOne: Bool) async throws -> Grant {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let waiter = Waiter(id: id, body: body, needsOpenOne: needsOpenOne) { continuation.resume(with: $0) }
        if let answer = enqueue(waiter) { waiter.resume(answer) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0) }
      }
      waiter?.resume(.failure(CancellationError()))
    }
  }

  /// Queues a waiter, unless the state has changed since it was asked to wait; the answer in that case.
  private func enqueue(_ waiter: Waiter) -> Result<Grant, any Error>? {
    state.withLock { state in
      if Task.isCancelled { return .failure(CancellationError()) }
      let isWorthWaiting = waiter.needsOpenOne && state.idle.isEmpty && state.open + state.extra.count > 0
      let answer: Result<Grant, any Error> =
        isWorthWaiting && !state.isClosed ? .success(.wait) : Result { try grant(&state, inside: waiter.body) }
      guard case .success(.wait) = answer else { return answer }
      state.waiting.append(waiter)
      return nil
    }
  }
}

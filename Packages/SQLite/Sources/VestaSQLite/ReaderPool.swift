import VestaStoreInterop
import VestaConcurrency

/// Connections to read with, each for one body at a time.
///
/// Bodies that never suspend need no more readers than there are threads. Those that do suspend hold theirs, so there is
/// a limit; beyond it a task waits, suspended, in the order of arrival. A body inside another body of the same store
/// gets a reader beyond the limit, as the one it would wait for may be its own. The reader used last is used next: its
/// page cache is the warmest.
final class ReaderPool: Sendable {
  private struct Waiter: Sendable {
    let id: Int
    let resume: @Sendable (Result<Connection, any Error>) -> Void
  }

  private struct State {
    var idle: [Connection] = []
    var open = 0
    var waiting: [Waiter] = []
    var nextID = 0
    var isClosed = false
    var whenEmpty: [@Sendable () -> Void] = []
  }

  private enum Grant {
    case reader(Connection)
    case open, wait
  }

  private let state = Locked(State())
  private let path: String
  private let tuning: StoreTuning

  init(path: String, tuning: StoreTuning) {
    self.path = path
    self.tuning = tuning
  }

  /// How many connections there are, in use or not.
  var openCount: Int { state.withLock { $0.open } }

  /// How many tasks wait for one.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Gets a reader; give it back with `release` or `discard`.
  func acquire(isNested: Bool) async throws -> Connection {
    switch try state.withLock({ try grant(&$0, isNested: isNested) }) {
    case .reader(let connection): return connection
    case .open: return try openConnection()
    case .wait: return try await wait()
    }
  }

  /// Takes a reader back for the next one.
  func release(_ connection: Connection) {
    let (waiter, surplus): (Waiter?, Connection?) = state.withLock { state in
      if state.open <= tuning.readerLimit, !state.waiting.isEmpty { return (state.waiting.removeFirst(), nil) }
      let isWanted = !state.isClosed && state.open <= tuning.readerLimit && state.idle.count < tuning.idleReaders
      guard isWanted else { return (nil, connection) }
      state.idle.append(connection)
      return (nil, nil)
    }
    if let waiter { return waiter.resume(.success(connection)) }
    guard let surplus else { return }
    surplus.close()
    discard()
  }

  /// Counts a reader out that has been, or will be, let go of.
  func discard() {
    let (waiter, finished): (Waiter?, [@Sendable () -> Void]) = state.withLock { state in
      if state.open <= tuning.readerLimit, !state.waiting.isEmpty { return (state.waiting.removeFirst(), []) }
      state.open -= 1
      guard state.isClosed, state.open == 0 else { return (nil, []) }
      defer { state.whenEmpty = [] }
      return (nil, state.whenEmpty)
    }
    for finish in finished { finish() }
    guard let waiter else { return }
    // The place goes to the one that waits, with a connection of its own.
    waiter.resume(Result { try openConnection() })
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
    await withCheckedContinuation { continuation in
      let isEmpty = state.withLock { state in
        if state.open > 0 { state.whenEmpty.append { continuation.resume() } }
        return state.open == 0
      }
      if isEmpty { continuation.resume() }
    }
  }

  private func grant(_ state: inout State, isNested: Bool) throws -> Grant {
    if state.isClosed { throw StoreError(.closed, operation: "read", path: path) }
    if let connection = state.idle.popLast() { return .reader(connection) }
    guard isNested || state.open < tuning.readerLimit else { return .wait }
    state.open += 1
    return .open
  }

  private func openConnection() throws -> Connection {
    do {
      let connection = try Connection(path: path, operation: "read")
      try Schema.prepareReader(connection, tuning: tuning)
      return connection
    } catch {
      discard()
      throw error
    }
  }

  private func wait() async throws -> Connection {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        enqueue(Waiter(id: id) { continuation.resume(with: $0) })
      }
    } onCancel: {
      let waiter = state.withLock { state in
        state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0) }
      }
      waiter?.resume(.failure(CancellationError()))
    }
  }

  /// Queues a waiter, unless things have changed since it was told to wait.
  private func enqueue(_ waiter: Waiter) {
    let grant: Result<Grant, any Error> = state.withLock { state in
      Result {
        if Task.isCancelled { throw CancellationError() }
        let grant = try self.grant(&state, isNested: false)
        if case .wait = grant { state.waiting.append(waiter) }
        return grant
      }
    }
    switch grant {
    case .success(.wait): break
    case .success(.reader(let connection)): waiter.resume(.success(connection))
    case .success(.open): waiter.resume(Result { try openConnection() })
    case .failure(let error): waiter.resume(.failure(error))
    }
  }
}

import VestaConcurrency
import VestaDatabaseBackend
import VestaServiceInterop

/// The client's hold on its connection: its release ends the connection.
///
/// The room holds the connection itself, which would never end with a client that is dropped without a word.
final class ConnectionHandle: DatabaseConnection {
  private let connection: EngineConnection

  init(_ connection: EngineConnection) { self.connection = connection }

  deinit { connection.close() }

  func send(_ request: DatabaseRequest, id: Int) { connection.send(request, id: id) }

  func close() { connection.close() }
}

/// A connection of the engine: the order of what it asks and of what it is sent.
final class EngineConnection: Sendable {
  private struct State {
    var outbox: [DatabaseServerMessage] = []
    var isDelivering = false
    var isClosing = false
    var isEnded = false
    /// In whose name requests are made.
    var caller = CallContext()
    /// Requests that wait while a token is being checked.
    var held: [(DatabaseRequest, Int)]?
    var operations = 0
    /// How many jobs of the connection wait or run.
    var jobs = 0
    /// Jobs that wait while a hash is being checked; `nil` while none is.
    var waiting: [Room.Job]?
  }

  let session: String
  private let room: Room
  private let receive: @Sendable (DatabaseServerMessage) -> Void
  private let state = Locked(State())

  init(room: Room, session: String, receive: @escaping @Sendable (DatabaseServerMessage) -> Void) {
    self.room = room
    self.session = session
    self.receive = receive
  }

  /// The user that is signed in.
  var user: String? { caller.user?.uid }

  /// In whose name requests are made.
  var caller: CallContext { state.withLock { $0.caller } }

  // MARK: Requests

  func send(_ request: DatabaseRequest, id: Int) {
    let isHeld = state.withLock { state in
      if state.isClosing { return true }
      state.held?.append((request, id))
      return state.held != nil
    }
    if !isHeld { start(request, id: id) }
  }

  func close() {
    let isFirst = state.withLock { state in
      defer { state.isClosing = true }
      return !state.isClosing
    }
    if isFirst { room.submit(.close(self)) }
  }

  private func start(_ request: DatabaseRequest, id: Int) {
    guard case .authenticate = request else { return room.take(request, of: self, id) }
    state.withLock { $0.held = [(request, id)] }
    Task { await carryOutHeld() }
  }

  /// Carries out what waits for a token, in order; a second token holds up what follows it.
  private func carryOutHeld() async {
    while true {
      let next = state.withLock { state -> (DatabaseRequest, Int)? in
        guard state.held?.isEmpty == false else {
          state.held = nil
          return nil
        }
        return state.held?.removeFirst()
      }
      guard let (request, id) = next else { return }
      if case .authenticate(let token) = request {
        if let refusal = await signIn(token) { post([.reply(id, refusal)]) } else { room.submit(.signedIn(self, id)) }
      } else {
        room.submit(.request(self, request, id))
      }
    }
  }

  /// - Returns: Why the token is not accepted; `nil` when it is.
  private func signIn(_ token: String) async -> DatabaseReply? {
    do {
      let caller = try await room.access.caller(token: token)
      state.withLock { $0.caller = caller }
      return nil
    } catch let error as DatabaseAccessError {
      return DatabaseReply(error.status, message: error.message)
    } catch {
      // Nobody has said that the token is bad: the client keeps it, and tries again.
      return DatabaseReply(.unavailable, message: "The token could not be verified: \(error)")
    }
  }

  /// Whether a job of the connection waits or runs.
  var hasJobs: Bool { state.withLock { $0.jobs > 0 } }

  func jobBegins() { state.withLock { $0.jobs += 1 } }

  func jobEnds() { state.withLock { $0.jobs -= 1 } }

  /// Lets later jobs wait.
  func suspend() { state.withLock { $0.waiting = $0.waiting ?? [] } }

  /// Keeps a job for later where jobs wait; the end of the connection never does.
  ///
  /// - Returns: Whether it waits.
  func keep(_ job: Room.Job) -> Bool {
    if case .close = job { return false }
    return state.withLock { state in
      state.waiting?.append(job)
      return state.waiting != nil
    }
  }

  /// Returns the jobs that have waited; later ones do not wait.
  func resume() -> [Room.Job] {
    state.withLock { state in
      defer { state.waiting = nil }
      return state.waiting ?? []
    }
  }

  func signOut() { state.withLock { $0.caller = CallContext() } }

  /// The number of the next operation for the end of the session.
  func nextOperation() -> Int {
    state.withLock { state in
      state.operations += 1
      return state.operations
    }
  }

  // MARK: Messages

  /// Puts messages after the waiting ones; returns whether the caller has to deliver them.
  func enqueue(_ messages: [DatabaseServerMessage]) {
    state.withLock { state in
      guard !state.isEnded else { return }
      state.outbox += messages
      if messages.contains(where: { if case .closed = $0 { true } else { false } }) { state.isEnded = true }
    }
  }

  /// Delivers what waits, unless another thread is doing so.
  func deliver() {
    guard
      state.withLock({ state in
        defer { state.isDelivering = true }
        return !state.isDelivering
      })
    else { return }
    while true {
      let messages = state.withLock { state in
        defer { state.outbox = [] }
        if state.outbox.isEmpty { state.isDelivering = false }
        return state.outbox
      }
      if messages.isEmpty { return }
      for message in messages { receive(message) }
    }
  }

  func post(_ messages: [DatabaseServerMessage]) {
    enqueue(messages)
    deliver()
  }
}

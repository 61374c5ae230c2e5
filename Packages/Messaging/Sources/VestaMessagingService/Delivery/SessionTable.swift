import VestaConcurrency
import VestaMessagingBackend

/// The connections of this engine, and what ``DispatchMachine`` decides about them, under one lock.
///
/// The table is a hint: which topics a connected registration has is read from the store, and read again at the
/// place in the order of messages at which its subscriptions change.
final class SessionTable: Sendable {
  private struct State {
    var machine: DispatchMachine
    var sessions: [Int: Session] = [:]
    /// The loads that wait for the dispatcher.
    var waiting = Waiters()
  }

  private let state: Locked<State>

  init(maximumInstants: Int = MessagingServiceTuning().maximumInstants) {
    state = Locked(State(machine: DispatchMachine(maximumInstants: maximumInstants)))
  }

  var count: Int { state.withLock { $0.machine.count } }
  var position: Int64? { state.withLock { $0.machine.position } }
  /// The last message whose dispatch is awaited.
  var awaited: Int64 { state.withLock { $0.machine.awaited } }
  /// The number of loads that wait for the dispatcher.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  // MARK: Connections

  /// Adds a connection in place of an earlier one, which it returns; `nil` and false when the table is closed.
  func add(_ session: Session) -> (isAdded: Bool, earlier: Session?) {
    state.withLock { state in
      let opening = state.machine.connected(
        session.id, session.key, platform: session.platform, startNumber: session.startNumber)
      guard case .opened(let earlier) = opening else { return (false, nil) }
      state.sessions[session.id] = session
      return (true, earlier.flatMap { state.sessions.removeValue(forKey: $0) })
    }
  }

  func remove(_ session: Session) {
    let waiting = state.withLock { state in
      state.sessions[session.id] = nil
      return state.machine.ended(session.id, session.key) ? state.waiting.takeAll() : Waiters()
    }
    waiting.resume()
    session.silence()
  }

  func remove(_ session: Session, ending error: MessagingServiceError) {
    session.end(error)
    remove(session)
  }

  func close() -> [Session] {
    let (sessions, waiting) = state.withLock { state in
      state.machine.close()
      defer { state.sessions = [:] }
      return (Array(state.sessions.values), state.waiting.takeAll())
    }
    waiting.resume()
    return sessions
  }

  func session(_ key: RegistrationKey) -> Session? {
    state.withLock { state in state.machine.connection(of: key).flatMap { state.sessions[$0] } }
  }

  /// Begins to dispatch after a message, if nothing is dispatched yet.
  func start(after number: Int64) { state.withLock { $0.machine.started(after: number) } }

  /// Ends the loading of a connection that has read everything up to a message.
  ///
  /// - Returns: False when messages arrived in between: it has to read again.
  func endLoading(_ session: Session, topics: [String: Int64], upTo number: Int64) -> Bool {
    state.withLock { $0.machine.loaded(session.id, session.key, topics: topics, upTo: number) }
  }

  /// Marks a connection as loading: it has to read from the store; see
  /// ``DispatchMachine/markLoading(_:_:missed:_:)``.
  func markLoading(_ session: Session, missed: Int64, _ message: DispatchedMessage? = nil) {
    state.withLock { $0.machine.markLoading(session.id, session.key, missed: missed, message) }
  }

  /// Takes the immediate messages up to a number, for the connection that loads.
  func takeInstants(_ session: Session, upTo number: Int64) -> [DispatchedMessage] {
    state.withLock { $0.machine.takeInstants(session.id, of: session.key, upTo: number) }
  }

  /// Returns those to the table that the connection had no room for.
  func returnInstants(_ session: Session, _ messages: [DispatchedMessage]) {
    state.withLock { $0.machine.returnInstants(session.id, of: session.key, messages) }
  }

  // MARK: Dispatching

  /// Whether the caller is the one that dispatches; another one that does so repeats its round.
  func beginDispatch() -> Bool { state.withLock { $0.machine.beginRound() } }

  func endDispatch() -> Bool { state.withLock { $0.machine.endRound() } }

  /// Moves the position past a number that belongs to no message.
  func advance(to number: Int64) { state.withLock { $0.machine.advance(to: number) } }

  /// Waits until everything up to a message was dispatched, or dispatching has ended.
  ///
  /// - Parameters:
  ///   - number: A message that was committed.
  ///   - start: Has the dispatcher look for messages.
  func waitForDispatch(upTo number: Int64, start: @Sendable () -> Void) async {
    while state.withLock({ $0.machine.isAwaited(number) }) {
      start()
      await state.wait(in: \.waiting) { $0.machine.isDispatched(number) }
    }
  }

  /// Resumes the waiting loads, which then check the position again.
  func wakeWaiting() { state.withLock { $0.waiting.takeAll() }.resume() }

  /// The connections that a message is for, to which it is announced; loading ones read again.
  func recipients(of message: DispatchedMessage) -> [Session] {
    state.withLock { state in
      state.machine.arrived(message).compactMap { recipient in
        let session = state.sessions[recipient.id]
        // Under the lock: a load that begins after it takes the message for one that is under way.
        session?.announce(message.number, isBroadcast: recipient.isBroadcast)
        return session
      }
    }
  }
}

extension Session {
  /// Whether a message that is dispatched was not read for this connection before: an immediate one is never read.
  func wants(_ message: DispatchedMessage) -> Bool {
    message.number > position || message.isInstant(on: platform) && message.number > startNumber
  }
}

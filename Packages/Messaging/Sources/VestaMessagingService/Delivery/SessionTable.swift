import VestaConcurrency
import VestaMessagingBackend

/// The connections of this engine, and the last message that was dispatched to them.
///
/// The table is a hint: which topics a connected registration has is read from the store, and read again at the
/// place in the order of messages at which its subscriptions change. A connection is *loading* while it reads what
/// waits for it; messages that arrive during this make it read again.
final class SessionTable: Sendable {
  private struct Entry {
    var session: Session
    var topics: [String: Int64] = [:]
    /// Set while the connection is loading: the last message that arrived during it.
    var missed: Int64? = 0
    /// The immediate messages (time to live 0) that arrived during it: no later read finds them.
    var instants: [DispatchedMessage] = []
  }

  private struct State {
    var entries: [RegistrationKey: Entry] = [:]
    var byTopic: [String: Set<RegistrationKey>] = [:]
    var loading: Set<RegistrationKey> = []
    /// The last message that was dispatched; `nil` without connections.
    var position: Int64?
    /// The last message that loading connections have read: they deliver after it has been dispatched.
    var awaited: Int64 = 0
    var waiting = Waiters()
    var isDispatching = false
    var dispatchesAgain = false
    var isClosed = false
  }

  private let state = Locked(State())
  /// The most immediate messages that are kept for one connection that does not keep up.
  private let maximumInstants: Int

  init(maximumInstants: Int = MessagingServiceTuning().maximumInstants) {
    self.maximumInstants = max(1, maximumInstants)
  }

  var count: Int { state.withLock { $0.entries.count } }
  var position: Int64? { state.withLock { $0.position } }
  /// The number of loads that wait for the dispatcher.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  // MARK: Connections

  /// Adds a connection in place of an earlier one, which it returns; `nil` and false when the table is closed.
  func add(_ session: Session) -> (isAdded: Bool, earlier: Session?) {
    state.withLock { state in
      guard !state.isClosed else { return (false, nil) }
      let earlier = state.entries[session.key]
      for topic in earlier?.topics.keys ?? [:].keys { Self.remove(session.key, from: topic, &state) }
      state.entries[session.key] = Entry(session: session)
      state.loading.insert(session.key)
      return (true, earlier?.session)
    }
  }

  func remove(_ session: Session) {
    let waiting = state.withLock { state in
      guard let entry = state.entries[session.key], entry.session === session else { return Waiters() }
      state.entries[session.key] = nil
      state.loading.remove(session.key)
      for topic in entry.topics.keys { Self.remove(session.key, from: topic, &state) }
      guard state.entries.isEmpty else { return Waiters() }
      state.position = nil
      return state.waiting.takeAll()
    }
    waiting.resume()
    session.silence()
  }

  func close() -> [Session] {
    let (sessions, waiting) = state.withLock { state in
      state.isClosed = true
      defer { (state.entries, state.byTopic, state.loading, state.position) = ([:], [:], [], nil) }
      return (state.entries.values.map(\.session), state.waiting.takeAll())
    }
    waiting.resume()
    return sessions
  }

  func session(_ key: RegistrationKey) -> Session? { state.withLock { $0.entries[key]?.session } }

  /// Begins to dispatch after a message, if nothing is dispatched yet.
  func start(after number: Int64) {
    state.withLock { state in
      if state.position == nil, !state.entries.isEmpty { state.position = number }
    }
  }

  /// Ends the loading of a connection that has read everything up to a message.
  ///
  /// - Returns: False when messages arrived in between: it has to read again.
  func settle(_ session: Session, topics: [String: Int64], at number: Int64) -> Bool {
    state.withLock { state in
      guard var entry = state.entries[session.key], entry.session === session else { return true }
      for topic in entry.topics.keys where topics[topic] == nil { Self.remove(session.key, from: topic, &state) }
      for topic in topics.keys { state.byTopic[topic, default: []].insert(session.key) }
      entry.topics = topics
      let isDone = (entry.missed ?? 0) <= number
      entry.missed = isDone ? nil : 0
      if isDone { state.loading.remove(session.key) }
      state.entries[session.key] = entry
      return isDone
    }
  }

  /// Has a connection read from the store again, from the next time on.
  ///
  /// - Parameters:
  ///   - session: The connection.
  ///   - missed: The message that it had no room for; zero when it is to read for another reason.
  ///   - message: The same message: an immediate one is kept for the connection.
  func setLoading(_ session: Session, missed: Int64, _ message: DispatchedMessage? = nil) {
    state.withLock { state in
      guard state.entries[session.key]?.session === session else { return }
      noteMissed(missed, message, session.key, &state)
    }
  }

  /// Takes the immediate messages up to a number, for the connection that loads.
  func takeInstants(_ session: Session, upTo number: Int64) -> [DispatchedMessage] {
    state.withLock { state in
      guard let entry = state.entries[session.key], entry.session === session, !entry.instants.isEmpty else {
        return []
      }
      state.entries[session.key]?.instants.removeAll { $0.number <= number }
      return entry.instants.filter { $0.number <= number && $0.number > session.startNumber }
    }
  }

  /// Returns those to the table that the connection had no room for.
  func returnInstants(_ session: Session, _ messages: [DispatchedMessage]) {
    state.withLock { state in
      guard !messages.isEmpty, state.entries[session.key]?.session === session else { return }
      state.entries[session.key]?.instants.insert(contentsOf: messages, at: 0)
    }
  }

  private func noteMissed(
    _ number: Int64, _ message: DispatchedMessage?, _ key: RegistrationKey, _ state: inout State
  ) {
    guard var entry = state.entries.removeValue(forKey: key) else { return }
    entry.missed = max(entry.missed ?? 0, number)
    if let message, message.isInstant(on: entry.session.platform) {
      entry.instants.append(message)
      if entry.instants.count > maximumInstants { entry.instants.removeFirst() }
    }
    state.entries[key] = entry
    state.loading.insert(key)
  }

  private static func remove(_ key: RegistrationKey, from topic: String, _ state: inout State) {
    state.byTopic[topic]?.remove(key)
    if state.byTopic[topic]?.isEmpty == true { state.byTopic[topic] = nil }
  }

  // MARK: Dispatching

  /// Whether the caller is the one that dispatches; another one that does so repeats its round.
  func beginDispatch() -> Bool {
    state.withLock { state in
      guard state.position != nil else { return false }
      guard !state.isDispatching else {
        state.dispatchesAgain = true
        return false
      }
      state.isDispatching = true
      return true
    }
  }

  func endDispatch() -> Bool {
    state.withLock { state in
      if state.dispatchesAgain, state.position != nil {
        state.dispatchesAgain = false
        return false
      }
      (state.isDispatching, state.dispatchesAgain) = (false, false)
      return true
    }
  }

  /// Moves the position past a number that belongs to no message.
  func passed(_ number: Int64) {
    state.withLock { state in state.position = state.position.map { max($0, number) } }
  }

  /// The last message whose dispatch is awaited.
  var awaited: Int64 { state.withLock { $0.awaited } }

  /// Waits until everything up to a message was dispatched, or dispatching has ended.
  ///
  /// - Parameters:
  ///   - number: A message that was committed.
  ///   - start: Has the dispatcher look for messages.
  func waitForDispatch(upTo number: Int64, start: @Sendable () -> Void) async {
    let isReached: @Sendable (State) -> Bool = { state in state.position.map { $0 >= number } ?? true }
    while true {
      let isDone = state.withLock { state in
        if !isReached(state) { state.awaited = max(state.awaited, number) }
        return isReached(state)
      }
      if isDone { return }
      start()
      await state.wait(in: \.waiting, until: isReached)
    }
  }

  /// Resumes the waiting loads, which then check the position again.
  func wakeWaiting() { state.withLock { $0.waiting.takeAll() }.resume() }

  /// The connections that a message is for, to which it is announced; loading ones read again.
  func recipients(of message: DispatchedMessage) -> [Session] {
    state.withLock { state in
      state.position = state.position.map { max($0, message.number) }
      switch message.audience {
      case .registration(let key):
        guard state.loading.contains(key) else {
          let session = state.entries[key]?.session
          session?.announce(message.number, isBroadcast: false)
          return session.map { [$0] } ?? []
        }
        noteMissed(message.number, message, key, &state)
        return []
      case .topic(let topic):
        for key in state.loading { noteMissed(message.number, message, key, &state) }
        return Self.settled(state.byTopic[topic] ?? [], message.number, state) { $0[topic] ?? .max < message.number }
      case .condition(let condition):
        for key in state.loading { noteMissed(message.number, message, key, &state) }
        return Self.settled(state.entries.keys, message.number, state) { topics in
          condition.holds(for: Set(topics.filter { $0.value < message.number }.keys))
        }
      }
    }
  }

  private static func settled(
    _ keys: some Sequence<RegistrationKey>, _ number: Int64, _ state: State,
    where isWanted: ([String: Int64]) -> Bool
  ) -> [Session] {
    keys.compactMap { key in
      guard let entry = state.entries[key], entry.missed == nil, isWanted(entry.topics) else { return nil }
      entry.session.announce(number, isBroadcast: true)
      return entry.session
    }
  }
}

extension Session {
  /// Whether a message that is dispatched was not read for this connection before: an immediate one is never read.
  func wants(_ message: DispatchedMessage) -> Bool {
    message.number > position || message.isInstant(on: platform) && message.number > startNumber
  }
}

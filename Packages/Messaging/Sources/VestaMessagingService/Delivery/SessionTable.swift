import VestaConcurrency
import VestaMessagingBackend

/// The connections of this engine, and up to which message they were told.
///
/// What is kept here is a hint: which topics a connected registration has is read from the store, and read again at the
/// place in the order of messages at which its subscriptions change. A connection is *loading* while it reads what
/// waits for it; messages that come meanwhile make it read again.
final class SessionTable: Sendable {
  private struct Entry {
    var session: Session
    var topics: [String: Int64] = [:]
    /// Set while the connection is loading: the last message that came meanwhile.
    var missed: Int64? = 0
  }

  private struct State {
    var entries: [RegistrationKey: Entry] = [:]
    var byTopic: [String: Set<RegistrationKey>] = [:]
    /// The last message that was dispatched; `nil` without connections.
    var position: Int64?
    var isDispatching = false
    var dispatchesAgain = false
    var isClosed = false
  }

  private let state = Locked(State())

  var count: Int { state.withLock { $0.entries.count } }
  var position: Int64? { state.withLock { $0.position } }

  // MARK: Connections

  /// Adds a connection in place of an earlier one, which it returns; `nil` and false when the table is closed.
  func add(_ session: Session) -> (isAdded: Bool, earlier: Session?) {
    state.withLock { state in
      guard !state.isClosed else { return (false, nil) }
      let earlier = state.entries[session.key]
      for topic in earlier?.topics.keys ?? [:].keys { state.byTopic[topic]?.remove(session.key) }
      state.entries[session.key] = Entry(session: session)
      return (true, earlier?.session)
    }
  }

  func remove(_ session: Session) {
    state.withLock { state in
      guard let entry = state.entries[session.key], entry.session === session else { return }
      state.entries[session.key] = nil
      for topic in entry.topics.keys { Self.remove(session.key, from: topic, &state) }
      if state.entries.isEmpty { state.position = nil }
    }
    session.silence()
  }

  func close() -> [Session] {
    state.withLock { state in
      state.isClosed = true
      defer { (state.entries, state.byTopic, state.position) = ([:], [:], nil) }
      return state.entries.values.map(\.session)
    }
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
  /// - Returns: False when messages came meanwhile: it has to read again.
  func settle(_ session: Session, topics: [String: Int64], at number: Int64) -> Bool {
    state.withLock { state in
      guard var entry = state.entries[session.key], entry.session === session else { return true }
      for topic in entry.topics.keys where topics[topic] == nil { Self.remove(session.key, from: topic, &state) }
      for topic in topics.keys { state.byTopic[topic, default: []].insert(session.key) }
      entry.topics = topics
      let isDone = (entry.missed ?? 0) <= number
      entry.missed = isDone ? nil : 0
      state.entries[session.key] = entry
      return isDone
    }
  }

  /// Has a connection read from the store again, from the next time on.
  func setLoading(_ session: Session, missed: Int64) {
    state.withLock { state in
      guard var entry = state.entries[session.key], entry.session === session else { return }
      entry.missed = max(entry.missed ?? 0, missed)
      state.entries[session.key] = entry
    }
  }

  private static func remove(_ key: RegistrationKey, from topic: String, _ state: inout State) {
    state.byTopic[topic]?.remove(key)
    if state.byTopic[topic]?.isEmpty == true { state.byTopic[topic] = nil }
  }

  // MARK: Dispatching

  /// Whether the caller is the one who dispatches; another one that is at it goes round again.
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

  /// Notes down that a number was passed that is no message.
  func passed(_ number: Int64) {
    state.withLock { state in state.position = state.position.map { max($0, number) } }
  }

  /// The connections that a message is for; those that are loading are told to read again.
  func recipients(of message: DispatchedMessage) -> [Session] {
    state.withLock { state in
      state.position = state.position.map { max($0, message.number) }
      switch message.audience {
      case .registration(let key): return Self.take([key], message.number, &state) { _ in true }
      case .topic(let topic):
        Self.noteLoading(message.number, &state)
        return Self.take(state.byTopic[topic] ?? [], message.number, &state) { $0[topic] ?? .max < message.number }
      case .condition(let condition):
        Self.noteLoading(message.number, &state)
        return Self.take(state.entries.keys, message.number, &state) { topics in
          condition.holds(for: Set(topics.filter { $0.value < message.number }.keys))
        }
      }
    }
  }

  private static func noteLoading(_ number: Int64, _ state: inout State) {
    for (key, entry) in state.entries where entry.missed != nil { state.entries[key]?.missed = number }
  }

  private static func take(
    _ keys: some Sequence<RegistrationKey>, _ number: Int64, _ state: inout State,
    where isWanted: ([String: Int64]) -> Bool
  ) -> [Session] {
    var sessions: [Session] = []
    for key in Array(keys) {
      guard let entry = state.entries[key] else { continue }
      if entry.missed != nil {
        state.entries[key]?.missed = number
      } else if isWanted(entry.topics) {
        sessions.append(entry.session)
      }
    }
    return sessions
  }
}

/// A message on its way to the connections.
struct DispatchedMessage: Sendable {
  enum Audience: Sendable {
    case registration(RegistrationKey)
    case topic(String)
    case condition(TopicCondition)
  }

  var number: Int64
  var record: MessageRecord
  var message: PushMessage
  var audience: Audience

  /// The message as it arrives on a platform.
  func delivery(platform: String, senderID: String) -> PushDelivery {
    let settings = DeliverySettings(message, platform: platform, now: Double(record.sentTime) / 1_000_000)
    let from =
      if case .topic(let topic) = message.target { "/topics/\(topic)" } else { senderID }
    return PushDelivery(
      messageID: Tokens.messageID(number, sentTime: record.sentTime), message: message, from: from,
      sentTime: record.sentTime, settings: settings)
  }

  /// A message of the store; `nil` for a note that is no message.
  init?(number: Int64, record: MessageRecord) throws {
    guard record.kind != .subscriptionChange else { return nil }
    self.number = number
    self.record = record
    message = try PushMessage(json: record.json)
    switch message.target {
    case .topic(let topic): audience = .topic(topic)
    case .condition(let text):
      guard let condition = try? TopicCondition(text) else { return nil }
      audience = .condition(condition)
    case .token, .installation: audience = .registration(record.registration)
    }
  }
}

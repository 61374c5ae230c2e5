import VestaMessagingBackend

/// The decisions about delivery to the connections of an engine: which ones a message reaches at once, which ones read
/// it from the store, and how far the messages were dispatched; pure.
///
/// A connection is *loading* while it reads what waits for it, and *settled* when it has read everything. A message
/// reaches settled connections without a read; a loading one notes that it has missed the message, and reads again.
///
/// ```
///             loaded(upTo: the last missed message)
///   loading ────────────────────────────────────────▶ settled
///      ▲  │ arrived: missed, reads again                 │ arrived: delivered
///      └──┴──────────────────────────────────────────────┘ markLoading: full window, acknowledgement, other topics
/// ```
///
/// Worked example: A connects when the last message is 7; it has the topic `news`.
///
/// | event | answer | A |
/// |---|---|---|
/// | `connected(A)`, `started(after: 7)` | there is no earlier connection of A | loading |
/// | `arrived(8 to news)` | no connection gets it now: A has missed 8 | loading |
/// | `loaded(A, news, upTo: 7)` | false: A reads again | loading |
/// | `isAwaited(8)`: A has read 8 | false: 8 was dispatched | loading |
/// | `loaded(A, news, upTo: 8)` | true | settled |
/// | `arrived(9 to news)` | A gets 9 | settled |
/// | `markLoading(A, missed: 9)`: its window is full | | loading |
///
/// - A load that has read a message before it was dispatched waits (``isAwaited(_:)``): immediate messages (time to
///   live 0) are never read, and keep their place in the order that way.
/// - An immediate message that a connection has missed is kept for it (``takeInstants(_:of:upTo:)``), up to a number.
/// - One round dispatches at a time (``beginRound()``); a request in between repeats it.
struct DispatchMachine: Sendable {
  private struct Connection: Sendable {
    let id: Int
    let platform: String
    /// The last message before the connection: immediate ones up to it are not for it.
    let startNumber: Int64
    /// The topics, and since which message.
    var topics: [String: Int64] = [:]
    /// Set while the connection is loading: the last message that it has missed.
    var missed: Int64? = 0
    /// The immediate messages that it has missed: no later read finds them.
    var instants: [DispatchedMessage] = []
  }

  /// The answer to a new connection.
  enum Opening: Sendable, Equatable {
    /// The engine was closed.
    case refused
    /// It is the connection of its registration, in place of an earlier one.
    case opened(earlier: Int?)
  }

  /// A connection that a message reaches at once.
  struct Recipient: Sendable, Hashable {
    let id: Int
    /// Whether the message is one for many.
    let isBroadcast: Bool
  }

  private var connections: [RegistrationKey: Connection] = [:]
  private var byTopic: [String: Set<RegistrationKey>] = [:]
  private var loading: Set<RegistrationKey> = []
  /// The last message that was dispatched; `nil` without connections.
  private(set) var position: Int64?
  /// The last message that loading connections have read: they deliver after it has been dispatched.
  private(set) var awaited: Int64 = 0
  private var isInRound = false
  private var repeatsRound = false
  private var isClosed = false
  /// The most immediate messages that are kept for one connection that does not keep up.
  private let maximumInstants: Int

  init(maximumInstants: Int) { self.maximumInstants = max(1, maximumInstants) }

  /// The number of connections.
  var count: Int { connections.count }

  /// The current connection of a registration.
  func connection(of key: RegistrationKey) -> Int? { connections[key]?.id }

  // MARK: Connections

  /// A registration has connected; the connection is loading.
  mutating func connected(_ id: Int, _ key: RegistrationKey, platform: String, startNumber: Int64) -> Opening {
    guard !isClosed else { return .refused }
    let earlier = connections[key]
    for topic in earlier?.topics.keys ?? [:].keys { remove(key, from: topic) }
    connections[key] = Connection(id: id, platform: platform, startNumber: startNumber)
    loading.insert(key)
    return .opened(earlier: earlier?.id)
  }

  /// A connection has ended; one that another has replaced is ignored.
  ///
  /// - Returns: Whether it was the last one: nothing is dispatched, and no load needs to wait.
  mutating func ended(_ id: Int, _ key: RegistrationKey) -> Bool {
    guard let connection = connections[key], connection.id == id else { return false }
    connections[key] = nil
    loading.remove(key)
    for topic in connection.topics.keys { remove(key, from: topic) }
    guard connections.isEmpty else { return false }
    position = nil
    return true
  }

  /// The engine is closed: all connections end, and none is opened.
  mutating func close() {
    isClosed = true
    (connections, byTopic, loading, position) = ([:], [:], [], nil)
  }

  // MARK: Loading

  /// A connection has read everything up to a message.
  ///
  /// - Parameter topics: Its topics by then, and since which message.
  /// - Returns: False when messages arrived in between: it has to read again.
  mutating func loaded(_ id: Int, _ key: RegistrationKey, topics: [String: Int64], upTo number: Int64) -> Bool {
    guard var connection = connections[key], connection.id == id else { return true }
    for topic in connection.topics.keys where topics[topic] == nil { remove(key, from: topic) }
    for topic in topics.keys { byTopic[topic, default: []].insert(key) }
    connection.topics = topics
    let isDone = (connection.missed ?? 0) <= number
    connection.missed = isDone ? nil : 0
    if isDone { loading.remove(key) }
    connections[key] = connection
    return isDone
  }

  /// Marks a connection as loading: it has to read from the store, from now on.
  ///
  /// - Parameters:
  ///   - missed: The message that it had no room for; zero when it is to read for another reason.
  ///   - message: The same message: an immediate one is kept for the connection.
  mutating func markLoading(_ id: Int, _ key: RegistrationKey, missed: Int64, _ message: DispatchedMessage? = nil) {
    guard connections[key]?.id == id else { return }
    noteMissed(missed, message, key)
  }

  /// Takes the immediate messages up to a number, for the connection that loads.
  mutating func takeInstants(_ id: Int, of key: RegistrationKey, upTo number: Int64) -> [DispatchedMessage] {
    guard let connection = connections[key], connection.id == id, !connection.instants.isEmpty else { return [] }
    connections[key]?.instants.removeAll { $0.number <= number }
    return connection.instants.filter { $0.number <= number && $0.number > connection.startNumber }
  }

  /// Returns the immediate messages that the connection had no room for.
  mutating func returnInstants(_ id: Int, of key: RegistrationKey, _ messages: [DispatchedMessage]) {
    guard !messages.isEmpty, connections[key]?.id == id else { return }
    connections[key]?.instants.insert(contentsOf: messages, at: 0)
  }

  private mutating func noteMissed(_ number: Int64, _ message: DispatchedMessage?, _ key: RegistrationKey) {
    // In its place: a copy of the entry would copy its messages.
    guard var connection = connections.removeValue(forKey: key) else { return }
    connection.missed = max(connection.missed ?? 0, number)
    if let message, message.isInstant(on: connection.platform) {
      connection.instants.append(message)
      if connection.instants.count > maximumInstants { connection.instants.removeFirst() }
    }
    connections[key] = connection
    loading.insert(key)
  }

  private mutating func remove(_ key: RegistrationKey, from topic: String) {
    byTopic[topic]?.remove(key)
    if byTopic[topic]?.isEmpty == true { byTopic[topic] = nil }
  }

  // MARK: Dispatching

  /// Messages after a number are dispatched from now on, if none are yet.
  mutating func started(after number: Int64) {
    if position == nil, !connections.isEmpty { position = number }
  }

  /// Messages may have been committed.
  ///
  /// - Returns: Whether the caller is the one that dispatches them.
  mutating func beginRound() -> Bool {
    guard position != nil else { return false }
    guard !isInRound else {
      repeatsRound = true
      return false
    }
    isInRound = true
    return true
  }

  /// The caller has dispatched what it has found.
  ///
  /// - Returns: Whether that was all; otherwise it looks again.
  mutating func endRound() -> Bool {
    if repeatsRound, position != nil {
      repeatsRound = false
      return false
    }
    (isInRound, repeatsRound) = (false, false)
    return true
  }

  /// Moves the position to a number: all messages up to it were dispatched, are for no connection, or were removed.
  mutating func advance(to number: Int64) { position = position.map { max($0, number) } }

  /// Whether everything up to a message was dispatched, or dispatching has ended.
  func isDispatched(_ number: Int64) -> Bool { position.map { $0 >= number } ?? true }

  /// A load has read up to a message.
  ///
  /// - Returns: Whether it has to wait until the message was dispatched.
  mutating func isAwaited(_ number: Int64) -> Bool {
    if isDispatched(number) { return false }
    awaited = max(awaited, number)
    return true
  }

  /// A message is dispatched.
  ///
  /// - Returns: The connections that it reaches at once; loading ones have missed it.
  mutating func arrived(_ message: DispatchedMessage) -> [Recipient] {
    advance(to: message.number)
    switch message.audience {
    case .registration(let key):
      guard loading.contains(key) else {
        return connections[key].map { [Recipient(id: $0.id, isBroadcast: false)] } ?? []
      }
      noteMissed(message.number, message, key)
      return []
    case .topic(let topic):
      for key in loading { noteMissed(message.number, message, key) }
      return settledConnections(among: byTopic[topic] ?? []) { $0[topic] ?? .max < message.number }
    case .condition(let condition):
      for key in loading { noteMissed(message.number, message, key) }
      return settledConnections(among: connections.keys) { topics in
        condition.holds(for: Set(topics.filter { $0.value < message.number }.keys))
      }
    }
  }

  /// The connections that have read everything and whose topics are wanted.
  private func settledConnections(
    among keys: some Sequence<RegistrationKey>, where isWanted: ([String: Int64]) -> Bool
  ) -> [Recipient] {
    keys.compactMap { key in
      guard let connection = connections[key], connection.missed == nil, isWanted(connection.topics) else { return nil }
      return Recipient(id: connection.id, isBroadcast: true)
    }
  }
}

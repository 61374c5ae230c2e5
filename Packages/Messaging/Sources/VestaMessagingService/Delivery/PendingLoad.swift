import VestaBytes
import VestaMessagingBackend
import VestaStoreInterop

/// The messages that wait for one registration, as of one read.
///
/// Worked example: of the topic messages 4 (key `score`), 5 (high priority), 6 (key `score`) and the direct message 7,
/// none of them acknowledged, 5, 6 and 7 are delivered in this order: 5 is first, and 6 has replaced 4, which is
/// noted so that it is never delivered again. When 5 and 6 are acknowledged nothing for many is left, and the cursor
/// moves to 7.
///
/// With at most two messages that wait, and 1 to 5 sent to a topic, 4 and 5 are delivered: the cursor moves to 3 before
/// that, so that none of the dropped ones arrives later, and they are counted. See ``BroadcastSearch``.
struct PendingLoad: Sendable {
  struct Request: Sendable {
    var key: RegistrationKey
    var token: String
    var platform: String
    /// The messages that are under way to it, and the ones for many among them.
    var inFlight: Set<Int64>
    var broadcastsInFlight: [Int64]
    /// The most messages to read.
    var limit: Int
    /// The most messages that wait; of those for many the newest.
    var maximumWaiting: Int
    /// The time in microseconds since 1970.
    var now: Int64
    var tuning: MessagingServiceTuning
  }

  /// The findings of the read, to be written; see `MessagingCall.noteLoad`.
  struct Outcome: Sendable, Equatable {
    /// The token and the cursor at the time of the read: with others the outcome is void.
    var token: String
    var cursor: Int64
    /// Up to where every message for many was acknowledged, is not for this registration, or is dropped; `nil` to leave
    /// the cursor where it is.
    var cursorEnd: Int64?
    /// The number of messages for many that are dropped.
    var dropped: Int64 = 0
    /// The messages for this registration alone that have given way to others, and are not under way.
    var droppedDirect: [Int64] = []
    /// The messages for many that a later one has replaced.
    var replaced: [Int64] = []
    /// The messages for many below the cursor that are over, or dropped.
    var stale: [Int64] = []
    /// The messages for many that are under way.
    var underWay: [Int64] = []
    /// The topics with subscriptions that have ended.
    var pastTopics: [String] = []
    /// Whether it was noted down before that messages were dropped.
    var hasDropped = false

    var isWorthWriting: Bool {
      cursorEnd != nil || dropped > 0 || hasDropped || !(droppedDirect.isEmpty && replaced.isEmpty && stale.isEmpty)
    }
  }

  private let request: Request
  private let registration: RegistrationRecord
  private let subscriptions: [String: SubscriptionRecord]
  /// The last message there was.
  let lastNumber: Int64
  /// The current topics, and since which message.
  let topics: [String: Int64]
  private(set) var outcome: Outcome
  /// The messages to deliver: high priority first, then in order.
  private(set) var messages: [DispatchedMessage] = []
  /// Whether there is more than was asked for.
  private(set) var isTruncated = false

  /// Reads what waits.
  ///
  /// - Throws: ``MessagingServiceError`` with `unregistered` when the registration has another token by now.
  init(_ reader: MessagingReader, _ request: Request) async throws {
    guard let registration = try await reader.record(RegistrationRecord.self, Keys.registration(request.key)),
      registration.token == request.token
    else { throw MessagingServiceError.unregistered }
    self.request = request
    self.registration = registration
    lastNumber = try await reader.lastNumber()
    subscriptions = try await reader.subscriptions(request.key)
    topics = subscriptions.filter(\.value.isCurrent).mapValues(\.since)
    outcome = Outcome(token: registration.token, cursor: registration.cursor)
    outcome.underWay = request.broadcastsInFlight
    outcome.pastTopics = subscriptions.filter { !$0.value.past.isEmpty || $0.value.isOver }.keys.sorted()
    outcome.hasDropped = registration.dropped > 0
    let acknowledged = Set(try await reader.numbers(in: Keys.acknowledged(request.key)))
    let gone = try await reader.numbers(in: Keys.dropped(request.key))
    outcome.droppedDirect = gone.filter { !request.inFlight.contains($0) }
    var search = BroadcastSearch(
      reader: reader, key: request.key, cursor: registration.cursor, subscriptions: subscriptions,
      known: request.inFlight.union(acknowledged), maximumWaiting: request.maximumWaiting, tuning: request.tuning)
    search.owed = Set(try await reader.numbers(in: Keys.owed(request.key)))
    try await search.run(isWanted: isWanted, collapseKey: collapseKey)
    take(search, hasTrail: !acknowledged.isEmpty)
    let found = Self.ordered(try await direct(reader) + search.waiting.reversed(), request.platform)
    isTruncated = found.count > request.limit
    messages = Array(found.prefix(request.limit))
  }

  private mutating func take(_ search: BroadcastSearch, hasTrail: Bool) {
    (outcome.replaced, outcome.stale, outcome.dropped) = (search.replaced, search.stale, search.dropped)
    if let cut = search.cut, cut > registration.cursor {
      outcome.cursorEnd = cut
      return
    }
    let waiting = search.waiting.last { $0.number > registration.cursor }.map { $0.number - 1 } ?? lastNumber
    let underWay = request.broadcastsInFlight.first { $0 > registration.cursor }.map { $0 - 1 } ?? .max
    let end = min(waiting, underWay)
    let hasPast = subscriptions.values.contains { $0.past.contains { $0.last <= end } }
    // Acknowledgements that were noted down one by one, ended subscriptions, or a cursor that is far behind.
    let isWorthMoving = hasTrail || hasPast || end - registration.cursor > request.tuning.longestGap
    outcome.cursorEnd = end > registration.cursor && isWorthMoving ? end : nil
  }

  /// Returns the messages together with immediate ones, which are in no queue.
  func merged(with instants: [DispatchedMessage]) -> [DispatchedMessage] {
    instants.isEmpty ? messages : Self.ordered(messages + instants, request.platform)
  }

  /// Whether a message is for this registration: by the subscriptions that it had when the message was sent.
  func isFor(_ message: DispatchedMessage) -> Bool {
    switch message.audience {
    case .registration(let key): return key == request.key
    case .topic(let topic): return subscriptions[topic]?.holds(at: message.number) ?? false
    case .condition(let condition):
      guard message.number > registration.createdAfter else { return false }
      return condition.holds(for: Set(subscriptions.filter { $0.value.holds(at: message.number) }.keys))
    }
  }

  private static func ordered(_ messages: [DispatchedMessage], _ platform: String) -> [DispatchedMessage] {
    let sorted = messages.sorted { $0.number < $1.number }
    let high = Set(sorted.filter { $0.settings(on: platform).isHighPriority }.map(\.number))
    return sorted.filter { high.contains($0.number) } + sorted.filter { !high.contains($0.number) }
  }

  // MARK: Messages for this registration alone

  /// The first ones, of high priority and of normal priority; no more than can be delivered, and one.
  private func direct(_ reader: MessagingReader) async throws -> [DispatchedMessage] {
    var (high, normal): ([Int64], [Int64]) = ([], [])
    for entry in try await reader.reader.entries(in: Keys.queue(request.key)) {
      let record = StoreRow.intact(QueueRecord.self, entry.value, entry.key) ?? QueueRecord.damaged
      guard record.expiryTime > request.now else { continue }
      let number = try Keys.number(of: entry.key)
      guard !request.inFlight.contains(number) else { continue }
      if record.isHighPriority { high.append(number) } else { normal.append(number) }
    }
    let numbers = high.prefix(request.limit + 1) + normal.prefix(request.limit + 1)
    return try await dispatched(reader, Array(numbers)).filter { $0.record.expiryTime > request.now }
  }

  private func dispatched(_ reader: MessagingReader, _ numbers: [Int64]) async throws -> [DispatchedMessage] {
    let records = try await reader.messages(numbers)
    return numbers.compactMap { number in
      records[number].flatMap { DispatchedMessage(number: number, record: $0) }
    }
  }

  // MARK: Messages for many

  /// Whether a message for many waits for this registration; one below the cursor was for it when it was delivered.
  private func isWanted(_ message: DispatchedMessage) -> Bool {
    let timeToLive = message.settings(on: request.platform).timeToLive
    guard message.record.sentTime + Int64(timeToLive * 1_000_000) > request.now else { return false }
    return message.number <= registration.cursor || isFor(message)
  }

  private func collapseKey(_ message: DispatchedMessage) -> String? {
    message.settings(on: request.platform).collapseKey
  }
}

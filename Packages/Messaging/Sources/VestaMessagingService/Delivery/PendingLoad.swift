import VestaBytes
import VestaMessagingBackend
import VestaStoreInterop

/// The messages that wait for one registration, as of one read.
///
/// Worked example: of the topic messages 4 (key `score`), 5 (high priority), 6 (key `score`) and the direct message 7,
/// none of them acknowledged, 5, 6 and 7 are delivered in this order: 5 comes first, and 6 has replaced 4, which is
/// noted down so that it never comes back. When 5 and 6 are acknowledged nothing for many is left, and the cursor
/// moves to 7.
struct PendingLoad: Sendable {
  struct Request: Sendable {
    var key: RegistrationKey
    var token: String
    var platform: String
    /// The messages that are under way to it.
    var inFlight: Set<Int64>
    /// The most messages to read.
    var limit: Int
    /// The most messages that wait; of those for many the newest.
    var maximumWaiting: Int
    /// The time in microseconds since 1970.
    var now: Int64
  }

  private let request: Request
  private let registration: RegistrationRecord
  /// The last message there was.
  let lastNumber: Int64
  let topics: [String: Int64]
  /// The messages to deliver: those of high priority first, then in order.
  private(set) var messages: [DispatchedMessage] = []
  /// The messages for many that a later one has replaced.
  private(set) var replaced: [Int64] = []
  /// Whether there is more than was asked for.
  private(set) var isTruncated = false
  /// Up to where every message for many was acknowledged, is not for this registration, or is under way.
  private(set) var cursorEnd: Int64 = 0
  private var hasTrail = false

  /// Reads what waits.
  ///
  /// - Throws: ``MessagingServiceError`` with `unregistered` when the token is not that of the registration any more.
  init(_ reader: MessagingReader, _ request: Request) async throws {
    guard let registration = try await reader.record(RegistrationRecord.self, Keys.registration(request.key)),
      registration.token == request.token
    else { throw MessagingServiceError.unregistered }
    self.request = request
    self.registration = registration
    lastNumber = try await reader.lastNumber()
    topics = try await reader.subscriptions(request.key)
    let acknowledged = Set(try await reader.numbers(in: Keys.acknowledged(request.key)))
    hasTrail = !acknowledged.isEmpty
    let known = request.inFlight.union(acknowledged)
    let wanted = try await broadcasts(reader, known: known)
    let current = withoutReplaced(wanted)
    replaced = Set(wanted.map(\.number)).subtracting(current.map(\.number)).subtracting(known).sorted()
    let broadcasts = current.filter { !known.contains($0.number) }.suffix(request.maximumWaiting)
    cursorEnd = broadcasts.first.map { $0.number - 1 } ?? lastNumber
    let found = Self.ordered(try await direct(reader) + broadcasts, request.platform)
    isTruncated = found.count > request.limit
    messages = Array(found.prefix(request.limit))
  }

  /// Returns the messages together with immediate ones, which are in no queue.
  func merged(with instants: [DispatchedMessage]) -> [DispatchedMessage] {
    instants.isEmpty ? messages : Self.ordered(messages + instants, request.platform)
  }

  /// Whether a message is for this registration.
  func isFor(_ message: DispatchedMessage) -> Bool {
    switch message.audience {
    case .registration(let key): return key == request.key
    case .topic(let topic): return topics[topic].map { $0 < message.number } ?? false
    case .condition(let condition):
      guard message.number > registration.createdAfter else { return false }
      return condition.holds(for: Set(topics.filter { $0.value < message.number }.keys))
    }
  }

  /// Whether to move the cursor: when acknowledgements were noted down one by one, or it is far behind.
  func isWorthAdvancing(to number: Int64) -> Bool {
    number > registration.cursor && (hasTrail || number - registration.cursor > Self.longestGap)
  }

  /// After how many messages without one for this registration its cursor is moved all the same.
  private static let longestGap: Int64 = 1000

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

  /// The messages to topics and conditions that are for this registration; none when all of them are known to it.
  private func broadcasts(_ reader: MessagingReader, known: Set<Int64>) async throws -> [DispatchedMessage] {
    let limit = request.maximumWaiting + known.count
    var numbers = Set(
      try await reader.numbers(in: Keys.conditions(after: registration.cursor), order: .descending, limit: limit))
    for (topic, since) in topics {
      let range = Keys.topic(topic, after: max(since, registration.cursor))
      numbers.formUnion(try await reader.numbers(in: range, order: .descending, limit: limit))
    }
    guard !numbers.subtracting(known).isEmpty else { return [] }
    return try await dispatched(reader, numbers.sorted()).filter(isWanted)
  }

  private func isWanted(_ message: DispatchedMessage) -> Bool {
    let timeToLive = message.settings(on: request.platform).timeToLive
    return message.record.sentTime + Int64(timeToLive * 1_000_000) > request.now && isFor(message)
  }

  /// Without the messages that a later one with their collapse key has replaced, also if that one was acknowledged.
  private func withoutReplaced(_ messages: [DispatchedMessage]) -> [DispatchedMessage] {
    var last: [String: Int64] = [:]
    for message in messages {
      if let key = message.settings(on: request.platform).collapseKey { last[key] = message.number }
    }
    return messages.filter { message in
      message.settings(on: request.platform).collapseKey.map { last[$0] == message.number } ?? true
    }
  }
}

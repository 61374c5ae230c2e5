import VestaBytes
import VestaMessagingBackend
import VestaStoreInterop

/// What waits for one registration, read at one time.
struct PendingLoad: Sendable {
  /// The last message there was.
  var lastNumber: Int64 = 0
  var topics: [String: Int64] = [:]
  /// The messages to deliver: those of high priority first, then in order.
  var messages: [DispatchedMessage] = []
  /// Whether there is more than was asked for.
  var isTruncated = false
  /// Whether nothing for topics and conditions is unacknowledged, though acknowledgements are noted down one by one.
  var canAdvance = false

  /// Reads what waits.
  ///
  /// - Parameters:
  ///   - reader: The store at one time.
  ///   - key: Which registration.
  ///   - inFlight: The messages that are under way to it.
  ///   - limit: How many messages at most.
  ///   - now: The time in microseconds since 1970.
  init(
    _ reader: MessagingReader, _ key: RegistrationKey, inFlight: Set<Int64>, limit: Int, platform: String, now: Int64
  ) async throws {
    guard let registration = try await reader.record(RegistrationRecord.self, Keys.registration(key)) else {
      throw MessagingServiceError.unregistered
    }
    lastNumber = try await reader.lastNumber()
    topics = try await reader.subscriptions(key)
    let acknowledged = Set(try await reader.numbers(in: Keys.acknowledged(key)))
    let direct = try await Self.direct(reader, key, inFlight, now)
    let broadcasts = try await broadcasts(reader, registration, inFlight.union(acknowledged), limit, platform, now)
    let isBehind = lastNumber - registration.cursor > Self.longestGap
    canAdvance = broadcasts.isEmpty && (!acknowledged.isEmpty || isBehind)
    let records = try await reader.messages(direct.high + direct.normal)
    let normal = try Self.dispatched(direct.normal, records) + broadcasts
    messages = try Self.dispatched(direct.high, records) + normal.sorted { $0.number < $1.number }
    isTruncated = messages.count > limit
    messages = Array(messages.prefix(limit))
  }

  /// After how many messages without one for this registration its cursor is moved all the same.
  private static let longestGap: Int64 = 1000

  private static func direct(
    _ reader: MessagingReader, _ key: RegistrationKey, _ inFlight: Set<Int64>, _ now: Int64
  ) async throws -> (high: [Int64], normal: [Int64]) {
    var (high, normal): ([Int64], [Int64]) = ([], [])
    for entry in try await reader.reader.entries(in: Keys.queue(key)) {
      let record = try StoreRow.decode(QueueRecord.self, entry.value, entry.key)
      let number = try Keys.number(of: entry.key)
      guard record.expiryTime > now, !inFlight.contains(number) else { continue }
      if record.isHighPriority { high.append(number) } else { normal.append(number) }
    }
    return (high, normal)
  }

  private static func dispatched(
    _ numbers: [Int64], _ records: [Int64: MessageRecord]
  ) throws -> [DispatchedMessage] {
    try numbers.compactMap { number in
      try records[number].flatMap { try DispatchedMessage(number: number, record: $0) }
    }
  }

  /// The messages to topics and conditions that are for this registration and not known to it, in order.
  private func broadcasts(
    _ reader: MessagingReader, _ registration: RegistrationRecord, _ known: Set<Int64>, _ limit: Int,
    _ platform: String, _ now: Int64
  ) async throws -> [DispatchedMessage] {
    var numbers = Set(try await reader.numbers(in: Keys.conditions(after: registration.cursor)))
    for (topic, since) in topics {
      numbers.formUnion(try await reader.numbers(in: Keys.topic(topic, after: max(since, registration.cursor))))
    }
    var wanted: [DispatchedMessage] = []
    var rest = numbers.subtracting(known).sorted()[...]
    while wanted.count <= limit, !rest.isEmpty {
      let chunk = Array(rest.prefix(256))
      rest = rest.dropFirst(256)
      let messages = try Self.dispatched(chunk, try await reader.messages(chunk))
      wanted += messages.filter { isWanted($0, registration, platform, now) }
    }
    return wanted
  }

  private func isWanted(
    _ message: DispatchedMessage, _ registration: RegistrationRecord, _ platform: String, _ now: Int64
  ) -> Bool {
    let settings = DeliverySettings(
      message.message, platform: platform, now: Double(message.record.sentTime) / 1_000_000)
    guard message.record.sentTime + Int64(settings.timeToLive * 1_000_000) > now else { return false }
    guard case .condition(let condition) = message.audience else { return true }
    guard message.number > registration.createdAfter else { return false }
    return condition.holds(for: Set(topics.filter { $0.value < message.number }.keys))
  }
}

import VestaBytes
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop

/// Reads the rows of the service.
struct MessagingReader {
  let reader: any StoreReader

  /// The sender of most registrations: theirs are read along with their tokens, in one round trip.
  var usualSenderID = ""

  func record<Record: FieldRecord>(_ type: Record.Type, _ key: [UInt8]) async throws -> Record? {
    guard let bytes = try await reader.get(key) else { return nil }
    return try StoreRow.decode(type, bytes, key)
  }

  /// The number of the last message.
  func lastNumber() async throws -> Int64 { try await sequence().number }

  /// The row with the number of the last message.
  ///
  /// A damaged one is logged and begins again: its counts at zero, its number at that of the newest message.
  ///
  /// - Parameter now: For the caller that takes the next number: the time, which is larger than every number there was.
  ///   The newest message may have been removed, and a number must not be used twice.
  func sequence(now: Int64 = 0) async throws -> SequenceRecord {
    try await sequence(in: try await reader.get(Keys.sequence), now: now)
  }

  /// That row, whose bytes were read already.
  func sequence(in bytes: [UInt8]?, now: Int64 = 0) async throws -> SequenceRecord {
    guard let bytes else { return SequenceRecord() }
    if let record = StoreRow.intact(SequenceRecord.self, bytes, Keys.sequence), record.number > 0 { return record }
    var record = SequenceRecord()
    record.number = max(now, try await numbers(in: Keys.messages(after: 0), order: .descending, limit: 1).first ?? 0)
    return record
  }

  /// The registration of a token.
  ///
  /// - Throws: ``MessagingServiceError`` when it is not registered, or no longer.
  func registration(token: String, now: Int64, lifetime: Int64) async throws -> (RegistrationKey, RegistrationRecord) {
    guard Tokens.isWellFormed(token) else {
      throw MessagingServiceError.invalid(
        "message.token", "The registration token is not a valid FCM registration token.")
    }
    guard let (key, registration) = try await registration(ofToken: token), registration.token == token,
      registration.lastSeenTime + lifetime > now
    else { throw MessagingServiceError.unregistered }
    return (key, registration)
  }

  private func registration(ofToken token: String) async throws -> (RegistrationKey, RegistrationRecord)? {
    let installationID = token.prefix { $0 != ":" }
    let usual = RegistrationKey(installationID: String(installationID), senderID: usualSenderID)
    let rows = [Keys.token(token), Keys.registration(usual)]
    let values = try await reader.get(rows)
    guard let bytes = values[0] else { return nil }
    let key = try StoreRow.decode(TokenRecord.self, bytes, rows[0]).key
    guard key == usual else {
      return try await record(RegistrationRecord.self, Keys.registration(key)).map { (key, $0) }
    }
    return try values[1].map { (key, try StoreRow.decode(RegistrationRecord.self, $0, rows[1])) }
  }

  /// The topics of a registration, those included that it has left while messages to them wait.
  func subscriptions(_ key: RegistrationKey) async throws -> [String: SubscriptionRecord] {
    var topics: [String: SubscriptionRecord] = [:]
    for entry in try await reader.entries(in: Keys.subscriptions(key)) {
      // Of a damaged row the topic is known still: it is in the key.
      let record = StoreRow.intact(SubscriptionRecord.self, entry.value, entry.key)
      topics[try Keys.topic(ofSubscription: entry.key)] = record ?? SubscriptionRecord(since: 0)
    }
    return topics
  }

  /// The subscriptions to one topic; a damaged row counts as a current one.
  func subscription(_ key: RegistrationKey, _ topic: String) async throws -> SubscriptionRecord? {
    let row = Keys.subscription(key, topic)
    guard let bytes = try await reader.get(row) else { return nil }
    return StoreRow.intact(SubscriptionRecord.self, bytes, row) ?? SubscriptionRecord(since: 0)
  }

  /// The number of entries of a range, up to a limit.
  func count(_ range: KeyRange, limit: Int) async throws -> Int {
    var count = 0
    _ = try await reader.scan(range, order: .descending, limit: limit) { _, _ in
      count += 1
      return .next
    }
    return count
  }

  /// Messages by their numbers, without removed ones.
  ///
  /// So are damaged ones, which are logged: one message must not stop the others.
  func messages(_ numbers: [Int64]) async throws -> [Int64: MessageRecord] {
    let keys = numbers.map(Keys.message)
    var messages: [Int64: MessageRecord] = [:]
    for (number, (key, bytes)) in zip(numbers, zip(keys, try await reader.get(keys))) {
      messages[number] = bytes.flatMap { StoreRow.intact(MessageRecord.self, $0, key) }
    }
    return messages
  }

  /// The number of the waiting message in a row of a collapse key; `nil` without one, and for a damaged one.
  func collapse(_ row: [UInt8]) async throws -> Int64? {
    try await reader.get(row).flatMap { StoreRow.intact(CollapseRecord.self, $0, row)?.number }
  }

  func numbers(in range: KeyRange, order: ScanOrder = .ascending, limit: Int? = nil) async throws -> [Int64] {
    try await reader.entries(in: range, order: order, limit: limit).map { try Keys.number(of: $0.key) }
  }
}

/// Tokens of registrations and ids of messages.
enum Tokens {
  /// A new token: the id of the installation, and 140 characters that cannot be guessed.
  static func make(_ installationID: String) -> String {
    "\(installationID):\(Base64.url.encode(SystemRandom.bytes(105)))"
  }

  static func isWellFormed(_ token: String) -> Bool {
    let parts = token.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, token.utf8.count <= 4096 else { return false }
    return isInstallationID(String(parts[0])) && parts[1].utf8.count >= 20 && parts[1].utf8.allSatisfy(isTokenByte)
  }

  static func isInstallationID(_ id: String) -> Bool {
    (1...200).contains(id.utf8.count) && id.utf8.allSatisfy(isTokenByte)
  }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// The id of a message: when it was sent, and its number.
  static func messageID(_ number: Int64, sentTime: Int64) -> String { "0:\(sentTime)%\(String(number, radix: 16))" }

  /// The number of a message; `nil` for an id that is none of this service.
  static func number(ofMessageID id: String) -> Int64? {
    guard id.hasPrefix("0:"), let mark = id.lastIndex(of: "%") else { return nil }
    return Int64(id[id.index(after: mark)...], radix: 16).flatMap { $0 > 0 ? $0 : nil }
  }
}

import VestaBytes

/// The rows of the store.
///
/// | key | value |
/// |---|---|
/// | `"sequence"` | ``SequenceRecord``: the number of the last message, and how many were accepted |
/// | `"token"`, token | ``TokenRecord``: whose token it is |
/// | `"registration"`, installation, sender | ``RegistrationRecord`` |
/// | `"subscription"`, installation, sender, topic | ``SubscriptionRecord``: since which message |
/// | `"member"`, topic, installation, sender | nothing; of registrations that a transport reaches |
/// | `"message"`, number | ``MessageRecord`` |
/// | `"queue"`, installation, sender, number | ``QueueRecord``: the message waits for one registration |
/// | `"collapse"`, installation, sender, key | ``CollapseRecord``: the waiting message with this collapse key |
/// | `"topic"`, topic, number | nothing; the messages to a topic, in order |
/// | `"condition"`, number | nothing; the messages to conditions, in order |
/// | `"acknowledged"`, installation, sender, number | nothing; messages to topics and conditions, above the cursor |
/// | `"owed"`, installation, sender, number | nothing; messages to topics and conditions under way, below the cursor |
/// | `"dropped"`, installation, sender, number | nothing; messages that gave way, perhaps while they were under way |
/// | `"expiry"`, time, number | nothing; when a message is removed |
/// | `"push"`, time, number, installation, sender | ``PushRecord``: when a message is handed to the transport of a \
/// registration; without a registration to the transports of the members of its topic |
/// | `"statistics"` | ``StatisticsRecord`` |
///
/// A message to a topic is one row of the message and one of the topic, however many registrations there are: each of
/// them reads the topics that it is subscribed to from its cursor on.
enum Keys {
  static let sequence = KeyEncoder(.string("sequence")).bytes
  static let statistics = KeyEncoder(.string("statistics")).bytes

  static func token(_ token: String) -> [UInt8] { KeyEncoder(.string("token"), .string(token)).bytes }

  static func registration(_ key: RegistrationKey) -> [UInt8] { encoder("registration", key).bytes }

  /// The registrations behind a row; all of them for `nil`.
  static func registrations(after row: [UInt8]?) -> KeyRange {
    let all = KeyEncoder(.string("registration")).range
    return row.map { KeyRange(from: $0 + [0], to: all.upper) } ?? all
  }

  static func registration(ofRow key: [UInt8]) throws -> RegistrationKey {
    var decoder = KeyDecoder(key)
    _ = try decoder.string()
    return RegistrationKey(installationID: try decoder.string(), senderID: try decoder.string())
  }

  static func subscription(_ key: RegistrationKey, _ topic: String) -> [UInt8] {
    var encoder = encoder("subscription", key)
    encoder.append(string: topic)
    return encoder.bytes
  }

  static func subscriptions(_ key: RegistrationKey) -> KeyRange { encoder("subscription", key).range }

  static func topic(ofSubscription key: [UInt8]) throws -> String {
    var decoder = KeyDecoder(key)
    for _ in 0..<3 { _ = try decoder.string() }
    return try decoder.string()
  }

  static func member(_ topic: String, _ key: RegistrationKey) -> [UInt8] {
    KeyEncoder(.string("member"), .string(topic), .string(key.installationID), .string(key.senderID)).bytes
  }

  static func members(_ topic: String) -> KeyRange { KeyEncoder(.string("member"), .string(topic)).range }

  /// The members of a topic after one; all of them for `nil`.
  static func members(_ topic: String, after key: RegistrationKey?) -> KeyRange {
    let all = members(topic)
    return key.map { KeyRange(from: member(topic, $0) + [0], to: all.upper) } ?? all
  }

  static func registration(ofMember key: [UInt8]) throws -> RegistrationKey {
    var decoder = KeyDecoder(key)
    for _ in 0..<2 { _ = try decoder.string() }
    return RegistrationKey(installationID: try decoder.string(), senderID: try decoder.string())
  }

  static func message(_ number: Int64) -> [UInt8] { KeyEncoder(.string("message"), .int(number)).bytes }

  static func messages(after number: Int64) -> KeyRange {
    KeyRange(from: message(number + 1), to: KeyEncoder(.string("message")).range.upper)
  }

  static func messages(before number: Int64) -> KeyRange {
    KeyRange(from: KeyEncoder(.string("message")).bytes, to: message(number))
  }

  static func queued(_ key: RegistrationKey, _ number: Int64) -> [UInt8] { numbered(encoder("queue", key), number) }
  static func queue(_ key: RegistrationKey) -> KeyRange { encoder("queue", key).range }

  static func collapse(_ key: RegistrationKey, _ collapseKey: String) -> [UInt8] {
    var encoder = encoder("collapse", key)
    encoder.append(string: collapseKey)
    return encoder.bytes
  }

  static func collapses(_ key: RegistrationKey) -> KeyRange { encoder("collapse", key).range }

  static func topic(_ topic: String, _ number: Int64) -> [UInt8] {
    numbered(KeyEncoder(.string("topic"), .string(topic)), number)
  }

  /// The messages to a topic after a number, and up to another one, if there is one.
  static func topic(_ topic: String, after number: Int64, upTo last: Int64? = nil) -> KeyRange {
    let end = last.map { Self.topic(topic, $0 + 1) } ?? KeyEncoder(.string("topic"), .string(topic)).range.upper
    return KeyRange(from: Self.topic(topic, number + 1), to: end)
  }

  static func condition(_ number: Int64) -> [UInt8] { numbered(KeyEncoder(.string("condition")), number) }

  static func conditions(after number: Int64, upTo last: Int64? = nil) -> KeyRange {
    let end = last.map { condition($0 + 1) } ?? KeyEncoder(.string("condition")).range.upper
    return KeyRange(from: condition(number + 1), to: end)
  }

  static func acknowledged(_ key: RegistrationKey, _ number: Int64) -> [UInt8] {
    numbered(encoder("acknowledged", key), number)
  }

  static func acknowledged(_ key: RegistrationKey) -> KeyRange { encoder("acknowledged", key).range }

  static func acknowledged(_ key: RegistrationKey, upTo number: Int64) -> KeyRange {
    KeyRange(from: encoder("acknowledged", key).bytes, to: acknowledged(key, number + 1))
  }

  static func owed(_ key: RegistrationKey, _ number: Int64) -> [UInt8] { numbered(encoder("owed", key), number) }
  static func owed(_ key: RegistrationKey) -> KeyRange { encoder("owed", key).range }
  static func dropped(_ key: RegistrationKey, _ number: Int64) -> [UInt8] { numbered(encoder("dropped", key), number) }
  static func dropped(_ key: RegistrationKey) -> KeyRange { encoder("dropped", key).range }

  static func expiry(_ time: Int64, _ number: Int64) -> [UInt8] {
    KeyEncoder(.string("expiry"), .int(time), .int(number)).bytes
  }

  static func expiries(upTo time: Int64) -> KeyRange {
    KeyRange(from: KeyEncoder(.string("expiry")).bytes, to: KeyEncoder(.string("expiry"), .int(time + 1)).bytes)
  }

  static func push(_ time: Int64, _ number: Int64, _ key: RegistrationKey?) -> [UInt8] {
    KeyEncoder(
      .string("push"), .int(time), .int(number), .string(key?.installationID ?? ""), .string(key?.senderID ?? "")
    ).bytes
  }

  static let pushes = KeyEncoder(.string("push")).range

  /// The messages for transports after a row; all of them for `nil`.
  static func pushes(after row: [UInt8]?) -> KeyRange {
    row.map { KeyRange(from: $0 + [0], to: pushes.upper) } ?? pushes
  }

  static func push(ofRow key: [UInt8]) throws -> (time: Int64, number: Int64, key: RegistrationKey?) {
    var decoder = KeyDecoder(key)
    _ = try decoder.string()
    let (time, number) = (try decoder.int(), try decoder.int())
    let key = RegistrationKey(installationID: try decoder.string(), senderID: try decoder.string())
    return (time, number, key.installationID.isEmpty ? nil : key)
  }

  /// The number that ends a key.
  static func number(of key: [UInt8]) throws -> Int64 {
    guard case .int(let number)? = try KeyDecoder.elements(of: key).last else {
      throw BytesError(.malformed, "The key \(KeyPrinter.text(for: key)) does not end with a number.")
    }
    return number
  }

  private static func encoder(_ table: String, _ key: RegistrationKey) -> KeyEncoder {
    KeyEncoder(.string(table), .string(key.installationID), .string(key.senderID))
  }

  private static func numbered(_ encoder: KeyEncoder, _ number: Int64) -> [UInt8] {
    var encoder = encoder
    encoder.append(int: number)
    return encoder.bytes
  }
}

/// Which registration: an installation may have one for each sender.
struct RegistrationKey: Hashable, Sendable {
  var installationID: String
  var senderID: String
}

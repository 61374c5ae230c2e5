import VestaBytes
import VestaCore
import VestaMessagingBackend
import VestaServiceInterop

/// The number of the last message, and what is counted in the transaction that accepts one.
///
/// Every send writes this row, so that counting there costs nothing and a crash loses no count.
struct SequenceRecord: FieldRecord {
  var number: Int64 = 0
  var accepted: Int64 = 0
  var collapsed: Int64 = 0
  var discarded: Int64 = 0

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &number)
    try visitor.field(2, &accepted)
    try visitor.field(3, &collapsed)
    try visitor.field(4, &discarded)
  }
}

/// The number of the waiting message with a collapse key.
struct CollapseRecord: FieldRecord {
  var number: Int64 = 0

  init() {}
  init(_ number: Int64) { self.number = number }

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &number)
  }
}

/// The registration of a token.
struct TokenRecord: FieldRecord {
  var installationID = ""
  var senderID = ""

  init() {}
  init(_ key: RegistrationKey) { (installationID, senderID) = (key.installationID, key.senderID) }

  var key: RegistrationKey { RegistrationKey(installationID: installationID, senderID: senderID) }

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &installationID)
    try visitor.field(2, &senderID)
    if visitor.isReading { try require(!installationID.isEmpty && !senderID.isEmpty, "It names no registration.") }
  }
}

/// A registration.
struct RegistrationRecord: FieldRecord {
  var token = ""
  var platform = ""
  var appID = ""
  var pushAddress: String?
  var createTime: Int64 = 0
  var lastSeenTime: Int64 = 0
  var tokenTime: Int64 = 0
  /// The last message before the registration: later ones may be for it.
  var createdAfter: Int64 = 0
  /// Up to which message to a topic or condition everything is acknowledged.
  var cursor: Int64 = 0
  /// The number of messages that wait for this registration alone.
  var waiting: Int64 = 0
  /// The number of topics it is subscribed to.
  var topics: Int64 = 0
  /// The number of topics that it has left, while messages to them wait.
  var leftTopics: Int64 = 0
  /// The number of messages to topics and conditions that were dropped, and not reported to it.
  var dropped: Int64 = 0

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &token)
    try visitor.field(2, &platform)
    try visitor.field(3, &appID)
    try visitor.field(4, &pushAddress)
    try visitor.field(5, &createTime)
    try visitor.field(6, &lastSeenTime)
    try visitor.field(7, &tokenTime)
    try visitor.field(8, &createdAfter)
    try visitor.field(9, &cursor)
    try visitor.field(10, &waiting)
    try visitor.field(11, &topics)
    try visitor.field(12, &leftTopics)
    try visitor.field(13, &dropped)
    if visitor.isReading { try require(!token.isEmpty && lastSeenTime != 0, "It has no token or no time.") }
  }
}

/// The subscriptions of a registration to one topic, the current one and the ended ones with waiting messages: a
/// message is for who is subscribed when it is sent.
struct SubscriptionRecord: FieldRecord, Equatable {
  /// The last message before the current subscription; counts while it is not over.
  var since: Int64 = 0
  /// Whether there is no current subscription.
  var isOver = false
  /// The subscriptions that have ended, in order.
  var past: [Span] = []

  /// A subscription to the messages after one and up to another one.
  struct Span: FieldRecord, Equatable {
    var after: Int64 = 0
    var last: Int64 = 0

    mutating func visit(_ visitor: inout some RecordVisitor) throws {
      try visitor.field(1, &after)
      try visitor.field(2, &last)
    }
  }

  init() {}
  init(since: Int64) { self.since = since }

  var isCurrent: Bool { !isOver }

  /// Whether there was a subscription when a message was sent.
  func holds(at number: Int64) -> Bool {
    isCurrent && number > since || past.contains { $0.after < number && number <= $0.last }
  }

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &since)
    try visitor.field(2, &isOver)
    try visitor.field(3, &past)
  }
}

/// A message, or the note that the subscriptions of a registration have changed: those have a place in the order of
/// messages too.
struct MessageRecord: FieldRecord {
  enum Kind: Int, Sendable { case direct, topic, condition, subscriptionChange }

  var kind = Kind.direct
  var json: [UInt8] = []
  var sentTime: Int64 = 0
  var expiryTime: Int64 = 0
  /// The registration of a direct message or a subscription change.
  var installationID = ""
  var senderID = ""

  var registration: RegistrationKey { RegistrationKey(installationID: installationID, senderID: senderID) }

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &kind)
    try visitor.field(2, &json)
    try visitor.field(3, &sentTime)
    try visitor.field(4, &expiryTime)
    try visitor.field(5, &installationID)
    try visitor.field(6, &senderID)
  }
}

/// A message that waits for one registration.
struct QueueRecord: FieldRecord {
  var isHighPriority = false
  var expiryTime: Int64 = 0
  var collapseKey: String?

  /// Stands for a row that is damaged: the message itself knows when its time is over.
  static let damaged = {
    var record = QueueRecord()
    record.expiryTime = .max
    return record
  }()

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &isHighPriority)
    try visitor.field(2, &expiryTime)
    try visitor.field(3, &collapseKey)
  }
}

/// A message that is to be handed to a transport.
struct PushRecord: FieldRecord {
  /// The number of attempts that have failed.
  var failures: Int64 = 0
  /// The last member of the topic whose own row was written, where the row is for all members.
  var installationID = ""
  var senderID = ""
  /// The number of times at which an engine without a transport for the platform has left the message to others.
  var leaves: Int64 = 0

  var lastMember: RegistrationKey? {
    installationID.isEmpty ? nil : RegistrationKey(installationID: installationID, senderID: senderID)
  }

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &failures)
    try visitor.field(2, &installationID)
    try visitor.field(3, &senderID)
    try visitor.field(4, &leaves)
  }
}

/// The counts of messages after they were accepted.
struct StatisticsRecord: FieldRecord {
  var delivered: Int64 = 0
  var acknowledged: Int64 = 0
  var expired: Int64 = 0
  /// The dropped messages to topics and conditions, without the acknowledged ones of ``SequenceRecord/discarded``.
  var discarded: Int64 = 0

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &delivered)
    try visitor.field(2, &acknowledged)
    try visitor.field(3, &expired)
    try visitor.field(4, &discarded)
  }
}

/// Refuses a row without what every such row has: nothing must be removed because it seems to have ended.
private func require(_ isThere: Bool, _ message: String) throws {
  if !isThere { throw BytesError(.malformed, message) }
}

extension StoreRow {
  static func decode<Record: FieldRecord>(_ type: Record.Type, _ bytes: [UInt8], _ key: [UInt8]) throws -> Record {
    do {
      return try Record(fieldBytes: bytes)
    } catch {
      throw MessagingServiceError(
        .dataLoss,
        "The row \(KeyPrinter.text(for: key)) is damaged: \(error). Register the installation again to replace it.")
    }
  }

  /// The record of a row; `nil` for a damaged one, which is logged.
  static func intact<Record: FieldRecord>(_ type: Record.Type, _ bytes: [UInt8], _ key: [UInt8]) -> Record? {
    do {
      return try Record(fieldBytes: bytes)
    } catch {
      log.error("I-MSS000003", "The row \(KeyPrinter.text(for: key)) is damaged and not used: \(error)")
      return nil
    }
  }
}

private let log = Logger(service: "VestaMessagingService")

/// Reading of single rows; a damaged row is an error that names it.
enum StoreRow {}

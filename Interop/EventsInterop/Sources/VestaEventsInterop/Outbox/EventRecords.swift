public import VestaBytes

/// An event as an outbox keeps it.
public struct EventRecord: FieldRecord, Hashable {
  /// The type.
  public var type: String { EventTypeCode.type(storedType) }

  /// The type as the row has it: a short code, since each event has one.
  private var storedType = ""

  /// The database, bucket or tenant.
  public private(set) var scope = ""

  /// The path of what was changed.
  public private(set) var path = ""

  /// The source of the event's data, from which the engine makes it when the event is delivered.
  public private(set) var payload: [UInt8] = []

  /// The caller who has made the change; `nil` where the row does not say it, or says a kind that is unknown here.
  public var actor: EventActor? {
    actorKind.flatMap { EventActor.Kind(rawValue: $0) }.map { EventActor($0, id: actorID) }
  }

  private var actorKind: String?
  private var actorID: String?

  /// The id of an event that was sent again; otherwise the position says it.
  var id: String?

  /// The commit time of an event that was sent again; otherwise the position says it.
  var time: Int64?

  /// A record without content.
  public init() {}

  /// Reads a row of the queue; one that lost its bytes is damaged, although a record without fields can be read.
  init(row bytes: [UInt8]) throws {
    try self.init(fieldBytes: bytes)
    guard !storedType.isEmpty else { throw BytesError(.malformed, "field 1: the event has no type") }
  }

  init(_ draft: EventDraft) {
    storedType = EventTypeCode.code(draft.type)
    scope = draft.scope
    path = draft.path
    payload = draft.payload
    (actorKind, actorID) = (draft.actor?.kind.rawValue, draft.actor?.id)
  }

  /// Visits the fields.
  public mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &storedType)
    try visitor.field(2, &scope)
    try visitor.field(3, &path)
    try visitor.field(4, &id)
    try visitor.field(5, &time)
    try visitor.field(6, &payload)
    try visitor.field(7, &actorKind)
    try visitor.field(8, &actorID)
  }
}

/// An event as its row had it; one reference, since entries are passed on often.
public final class StoredEvent: Sendable, Hashable {
  let record: EventRecord

  init(_ record: EventRecord) { self.record = record }

  /// Whether the rows were equal.
  public static func == (left: StoredEvent, right: StoredEvent) -> Bool { left.record == right.record }

  /// Feeds the row.
  public func hash(into hasher: inout Hasher) { hasher.combine(record) }
}

/// The codes of the types of events in rows; a type without a code is written as it is.
enum EventTypeCode {
  private static let codes: [EventType: String] = [
    .documentCreated: "dc", .documentUpdated: "du", .documentDeleted: "dd", .userCreated: "uc", .userDeleted: "ud",
    .objectFinalized: "of", .objectDeleted: "od", .objectMetadataUpdated: "om", .valueCreated: "vc",
    .valueUpdated: "vu", .valueDeleted: "vd", .configUpdated: "cu", .scheduleDue: "sd",
  ]
  private static let types = Dictionary(uniqueKeysWithValues: codes.map { ($1, $0.rawValue) })

  static func code(_ type: EventType) -> String { codes[type] ?? type.rawValue }

  static func type(_ code: String) -> String { types[code] ?? code }
}

/// The failed attempts of an event.
struct EventState: FieldRecord, Hashable {
  var attempts = 0
  var retryTime: Int64 = 0
  var reason = ""

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &attempts)
    try visitor.field(2, &retryTime)
    try visitor.field(3, &reason)
  }
}

/// A dead letter.
struct DeadRecord: FieldRecord, Hashable {
  var record = EventRecord()
  var attempts = 0
  var reason = ""
  var time: Int64 = 0
  /// The bytes of a row of the queue that could not be read; the record is empty then.
  var unreadable: [UInt8]?

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &record)
    try visitor.field(2, &attempts)
    try visitor.field(3, &reason)
    try visitor.field(4, &time)
    try visitor.field(5, &unreadable)
  }
}

/// The right to deliver the events of a function: its owner, and the version with which it ends.
struct LeaseRecord: FieldRecord, Hashable {
  var owner = ""
  var expiry: Int64 = 0

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &owner)
    try visitor.field(2, &expiry)
  }
}

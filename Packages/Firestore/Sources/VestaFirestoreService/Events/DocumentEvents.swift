import VestaBytes
import VestaEngineInterop
import VestaEventsInterop
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop

/// The events of documents: the records of a commit's changes, and their form for functions.
enum DocumentEvents {
  /// The events that the engine offers.
  static let offer = EventOffer(
    service: "firestore.googleapis.com", keys: Keys.outbox,
    types: [.documentCreated, .documentUpdated, .documentDeleted]
  ) { try data(of: ChangedRows(fieldBytes: $0.payload), in: $0) }

  /// The events of the changes of a commit that a function wants.
  static func drafts(
    of changes: [CommitDraft.Change], in database: DatabaseName, for interest: EventInterest, by actor: EventActor?
  ) throws -> [EventDraft] {
    try changes.compactMap { change in
      let type: EventType =
        change.before == nil ? .documentCreated : change.after == nil ? .documentDeleted : .documentUpdated
      let path = change.path.description
      let functions = interest.functions(for: type, scope: database.database, path: path)
      guard !functions.isEmpty else { return nil }
      let rows = ChangedRows(project: database.project, before: change.before, after: change.after)
      return EventDraft(
        type, scope: database.database, path: path, functions: functions, actor: actor,
        payload: try rows.fieldBytes())
    }
  }

  /// The data of an event; damaged rows are found here, and the JSON is made when it is asked for.
  private static func data(of rows: ChangedRows, in event: EventRecord) throws -> EventData {
    let (after, before) = (try rows.after.map { try DocumentRow($0) }, try rows.before.map { try DocumentRow($0) })
    let names = (after == nil ? [] : ["value"]) + (before == nil ? [] : ["oldValue"])
    let (project, scope, path) = (rows.project, event.scope, event.path)
    return EventData(names: names) {
      let name = DatabaseName(project: project, database: scope).documentsPrefix + path
      var data = JSONObject()
      data["value"] = after.map { json($0, name) }
      data["oldValue"] = before.map { json($0, name) }
      return data
    }
  }

  private static func json(_ document: DocumentRow, _ name: String) -> JSONValue {
    .object([
      "name": .string(name), "fields": .object(DocumentJSON.fields(document.fields)),
      "createTime": .string(RFC3339.text(microseconds: document.created)),
      "updateTime": .string(RFC3339.text(microseconds: document.updated)),
    ])
  }
}

/// The rows of a document before and after a change, as an event keeps them; the event has the path.
struct ChangedRows: FieldRecord {
  var project = ""
  var before: [UInt8]?
  var after: [UInt8]?

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &project)
    try visitor.field(2, &before)
    try visitor.field(3, &after)
  }
}

/// Values in the JSON of the service: `{"integerValue": "1"}`; pure.
enum DocumentJSON {
  static func fields(_ map: MapValue) -> JSONObject {
    var object = JSONObject()
    for (name, value) in map { object[name] = .object(json(value)) }
    return object
  }

  static func json(_ value: Value) -> JSONObject {
    switch value {
    case .null: ["nullValue": .null]
    case .boolean(let value): ["booleanValue": .bool(value)]
    case .integer(let value): ["integerValue": .string(String(value))]
    case .double(let value): ["doubleValue": double(value)]
    case .timestamp(let value):
      ["timestampValue": .string(RFC3339.text(microseconds: value.microseconds ?? 0))]
    case .string(let value): ["stringValue": .string(value)]
    case .bytes(let value): ["bytesValue": .string(Base64.standard.encode(value))]
    case .reference(let value): ["referenceValue": .string(value)]
    case .geoPoint(let value):
      ["geoPointValue": .object(["latitude": .number(value.latitude), "longitude": .number(value.longitude)])]
    case .array(let values): ["arrayValue": .object(["values": .array(values.map { .object(json($0)) })])]
    case .map(let map): ["mapValue": .object(["fields": .object(fields(map))])]
    }
  }

  /// JSON has no numbers for these three.
  private static func double(_ value: Double) -> JSONValue {
    if value.isNaN { return .string("NaN") }
    return value.isInfinite ? .string(value < 0 ? "-Infinity" : "Infinity") : .number(value)
  }
}

import VestaBytes
import VestaEventsInterop
import VestaFirestoreBackend
import VestaFirestoreWire

/// The triggers and events of documents as functions of other programs know them; pure.
///
/// A function of the second generation gets a message of protobuf, in base64 as Firestore's emulator writes it, with
/// the attributes in fields of the request.
struct DocumentEventForm: EventTriggerForm {
  static let service = "firestore.googleapis.com"

  static let names = EventTypeNames(
    legacy: "providers/cloud.firestore/eventTypes/document.", modern: "google.cloud.firestore.document.v1.",
    verbs: [
      ("create", "created", [.documentCreated]), ("update", "updated", [.documentUpdated]),
      ("delete", "deleted", [.documentDeleted]),
      ("write", "written", [.documentCreated, .documentUpdated, .documentDeleted]),
    ])

  // MARK: Registrations

  func trigger(
    _ key: String, _ definition: JSONObject, project: String
  ) throws(EventTriggerError) -> EventTrigger? {
    guard let name = definition["eventType"]?.string, let (types, generation) = Self.names.types(named: name) else {
      return nil
    }
    let (database, document) =
      generation == .legacy
      ? try Self.place(definition["resource"]?.string ?? "")
      : (definition.eventFilter("database") ?? "(default)", definition.eventFilter("document") ?? "")
    let pattern: EventPattern
    do throws(EventPatternError) {
      pattern = try EventPattern(document)
    } catch {
      throw EventTriggerError(error.description)
    }
    if let length = pattern.length, !length.isMultiple(of: 2) {
      throw EventTriggerError("The pattern \"\(document)\" is one of collections. Add a segment, such as {id}.")
    }
    return EventTrigger(
      key: key, eventType: name, generation: generation, types: types, scope: database, pattern: pattern)
  }

  /// The database and the pattern of `projects/P/databases/D/documents/PATTERN`.
  private static func place(_ resource: String) throws(EventTriggerError) -> (String, String) {
    let parts = resource.parts(at: "/", maxSplits: 5)
    guard parts.count == 6, parts[0] == "projects", parts[2] == "databases", parts[4] == "documents" else {
      throw EventTriggerError(
        "The resource \"\(resource.prefix(200))\" is not written projects/P/databases/D/documents/PATTERN.")
    }
    return (String(parts[3]), String(parts[5]))
  }

  // MARK: Events

  func messages(of event: Event, to trigger: EventTrigger, project: String) throws -> [EventMessage]? {
    guard event.source.hasPrefix("//\(Self.service)/") else { return nil }
    let mask = ChangedFields.paths(event.data["oldValue"]?.object, event.data["value"]?.object)
    return switch trigger.generation {
    case .legacy: [try Self.legacy(event, trigger, project, mask)]
    case .cloudEvent: [try Self.modern(event, trigger, project, mask)]
    case .multicast: []
    }
  }

  private static func legacy(
    _ event: Event, _ trigger: EventTrigger, _ project: String, _ mask: [String]
  ) throws -> EventMessage {
    var data = event.data
    data["updateMask"] = mask.isEmpty ? [:] : ["fieldPaths": .array(mask.map { .string($0) })]
    let name = "projects/\(project)/databases/\(event.scope)/documents/\(event.path)"
    return try EventMessage(json: [
      "data": .object(data),
      "context": [
        "eventId": .string(event.id), "timestamp": .string(EventTime.text(microseconds: event.time)),
        "eventType": .string(trigger.eventType),
        "resource": ["name": .string(name), "service": .string(service)],
      ],
    ])
  }

  private static func modern(
    _ event: Event, _ trigger: EventTrigger, _ project: String, _ mask: [String]
  ) throws -> EventMessage {
    var message = DocumentChangeMessage()
    func document(_ name: String) throws -> Document? {
      try event.data[name].map { try DocumentWire.message(json: $0) }
    }
    (message.value, message.oldValue) = (try document("value"), try document("oldValue"))
    message.updateMask = DocumentMask(fieldPaths: mask)
    var attributes: [EventMessage.Attribute] = [
      .init("specversion", "1.0"), .init("id", event.id), .init("type", trigger.eventType),
      .init("source", "//\(service)/projects/\(project)/databases/\(event.scope)"),
      .init("subject", "documents/\(event.path)"), .init("time", EventTime.text(microseconds: event.time)),
      .init("datacontenttype", "application/protobuf"), .init("dataschema", schema), .init("location", "us-central1"),
      .init("project", project), .init("database", event.scope), .init("namespace", "(default)"),
      .init("document", event.path),
    ]
    if trigger.eventType.hasSuffix(EventTypeNames.withContext) {
      attributes.append(.init("authtype", event.actor?.authType ?? "unknown"))
      if let id = event.actor?.id { attributes.append(.init("authid", id)) }
    }
    let bytes = try DocumentChangeWire.bytes(of: message)
    return EventMessage(
      contentType: "application/protobuf", attributes: attributes,
      body: Array(Base64.standard.encode(bytes).utf8))
  }

  private static let schema =
    "https://github.com/googleapis/google-cloudevents/blob/main/proto/google/events/cloud/firestore/v1/data.proto"
}

/// A change of a document as a function gets it.
struct DocumentChangeMessage: Sendable, Hashable {
  var value: Document?
  var oldValue: Document?
  var updateMask: DocumentMask?
}

/// The statement of `google.events.cloud.firestore.v1.DocumentEventData`, whose documents have the form of
/// Firestore's.
enum DocumentChangeWire: ProtobufSchema {
  static var empty: DocumentChangeMessage { DocumentChangeMessage() }

  static func visit(_ change: inout DocumentChangeMessage, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.optional(1, "value", &change.value, ProtobufMessage<DocumentWire>.self)
    try visitor.optional(2, "oldValue", &change.oldValue, ProtobufMessage<DocumentWire>.self)
    try visitor.optional(3, "updateMask", &change.updateMask, ProtobufMessage<DocumentMaskWire>.self)
  }
}

/// The paths of the fields that an update has changed; pure.
enum ChangedFields {
  /// The paths between two documents in the JSON of the service; none where one of them is absent.
  static func paths(_ before: JSONObject?, _ after: JSONObject?) -> [String] {
    guard let before, let after else { return [] }
    var paths: [String] = []
    compare(before["fields"]?.object ?? [:], after["fields"]?.object ?? [:], below: "", &paths)
    return paths.sorted()
  }

  private static func compare(
    _ before: JSONObject, _ after: JSONObject, below prefix: String, _ paths: inout [String]
  ) {
    for name in Set(before.names).union(after.names) {
      let (old, new) = (before[name], after[name])
      guard old != new else { continue }
      let path = prefix + segment(name)
      if let old = map(old), let new = map(new) {
        compare(old, new, below: path + ".", &paths)
      } else {
        paths.append(path)
      }
    }
  }

  private static func map(_ value: JSONValue?) -> JSONObject? {
    guard let map = value?.object?["mapValue"]?.object else { return nil }
    return map["fields"]?.object ?? [:]
  }

  /// A name as a segment of a path: in backquotes unless it is an identifier.
  private static func segment(_ name: String) -> String {
    let isSimple =
      name.utf8.first.map { $0 &- 48 >= 10 } ?? false
      && name.utf8.allSatisfy { $0 &- 48 < 10 || ($0 | 32) &- 97 < 26 || $0 == UInt8(ascii: "_") }
    return isSimple ? name : "`" + name.replacing("\\", with: "\\\\").replacing("`", with: "\\`") + "`"
  }
}

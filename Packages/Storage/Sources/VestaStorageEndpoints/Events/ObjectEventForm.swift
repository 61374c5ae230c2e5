import VestaBytes
import VestaEventsInterop

/// The triggers and events of objects as functions of other programs know them; pure.
///
/// The functions emulator gets both forms of an event, and passes each on to its functions of that generation.
struct ObjectEventForm: EventTriggerForm {
  static let service = "storage.googleapis.com"

  static let names = EventTypeNames(
    legacy: "google.storage.object.", modern: "google.cloud.storage.object.v1.",
    verbs: [
      ("finalize", "finalized", [.objectFinalized]), ("delete", "deleted", [.objectDeleted]),
      ("metadataUpdate", "metadataUpdated", [.objectMetadataUpdated]),
    ])

  // MARK: Registrations

  func trigger(
    _ key: String, _ definition: JSONObject, project: String
  ) throws(EventTriggerError) -> EventTrigger? {
    guard let name = definition["eventType"]?.string else { return nil }
    guard !["google.storage.object.archive", "google.cloud.storage.object.v1.archived"].contains(name) else {
      throw EventTriggerError("Objects are never archived here: there are no events of \(name).")
    }
    guard let (types, generation) = Self.names.types(named: name) else { return nil }
    let bucket = definition["resource"]?.string.map(Self.bucket) ?? definition.eventFilter("bucket")
    return EventTrigger(key: key, eventType: name, generation: generation, types: types, scope: bucket)
  }

  /// The bucket of `projects/_/buckets/B`, or the resource itself.
  private static func bucket(_ resource: String) -> String {
    let parts = resource.parts(at: "/")
    return parts.count >= 4 && resource.hasPrefix("projects/_/buckets/") ? String(parts[3]) : resource
  }

  // MARK: Events

  func messages(of event: Event, to trigger: EventTrigger, project: String) throws -> [EventMessage]? {
    guard event.source.hasPrefix("//\(Self.service)/") else { return nil }
    return switch trigger.generation {
    case .legacy: [try Self.legacy(event)]
    case .cloudEvent: [try Self.modern(event)]
    case .multicast: [try Self.legacy(event), try Self.modern(event)]
    }
  }

  private static func legacy(_ event: Event) throws -> EventMessage {
    try EventMessage(json: [
      "eventId": .string(event.id), "timestamp": .string(EventTime.text(microseconds: event.time)),
      "eventType": .string(names.legacyName(of: event.type) ?? event.type.rawValue),
      "resource": [
        "service": .string(service), "name": .string(name(of: event)), "type": "storage#object",
      ],
      "data": .object(object(event)),
    ])
  }

  private static func modern(_ event: Event) throws -> EventMessage {
    try EventMessage(
      json: [
        "specversion": "1.0", "id": .string(event.id), "type": .string(event.type.rawValue),
        "source": .string("//\(service)/\(name(of: event))"), "subject": .string("objects/\(event.path)"),
        "time": .string(EventTime.text(microseconds: event.time)), "datacontenttype": "application/json",
        "bucket": .string(event.scope), "data": .object(object(event)),
      ], contentType: "application/cloudevents+json")
  }

  private static func name(of event: Event) -> String { "projects/_/buckets/\(event.scope)/objects/\(event.path)" }

  /// The object as Google's JSON has it.
  private static func object(_ event: Event) -> JSONObject {
    var object: JSONObject = [
      "kind": "storage#object", "storageClass": "STANDARD",
      "id": .string("\(event.scope)/\(event.path)/\(event.data["generation"]?.string ?? "")"),
    ]
    for member in event.data.members { object[member.name] = member.value }
    return object
  }
}

import VestaBytes
import VestaEventsInterop

/// The triggers and events of accounts as functions of other programs know them: there is the first generation alone;
/// pure.
struct UserEventForm: EventTriggerForm {
  static let service = "firebaseauth.googleapis.com"

  static let names = EventTypeNames(
    legacy: "providers/firebase.auth/eventTypes/user.", modern: "google.firebase.auth.user.v1.",
    verbs: [("create", "created", [.userCreated]), ("delete", "deleted", [.userDeleted])])

  func trigger(
    _ key: String, _ definition: JSONObject, project: String
  ) throws(EventTriggerError) -> EventTrigger? {
    guard let name = definition["eventType"]?.string, let (types, generation) = Self.names.types(named: name) else {
      return nil
    }
    return EventTrigger(
      key: key, eventType: name, generation: generation, types: types, scope: definition.eventFilter("tenantid"))
  }

  func messages(of event: Event, to trigger: EventTrigger, project: String) throws -> [EventMessage]? {
    guard event.source.hasPrefix("//\(Self.service)/") else { return nil }
    if trigger.generation == .cloudEvent { return [try Self.modern(event, project)] }
    guard let type = Self.names.legacyName(of: event.type) else { return [] }
    return [
      try EventMessage(json: [
        "eventId": .string(event.id), "eventType": .string(type),
        "resource": ["name": .string("projects/\(project)"), "service": .string(Self.service)], "params": [:],
        "timestamp": .string(EventTime.text(microseconds: event.time)), "data": .object(Self.user(event)),
      ])
    ]
  }

  private static func modern(_ event: Event, _ project: String) throws -> EventMessage {
    try EventMessage(
      json: [
        "specversion": "1.0", "id": .string(event.id), "type": .string(event.type.rawValue),
        "source": .string("//\(service)/projects/\(project)"), "subject": .string("users/\(event.path)"),
        "time": .string(EventTime.text(microseconds: event.time)), "datacontenttype": "application/json",
        "data": .object(user(event)),
      ], contentType: "application/cloudevents+json")
  }

  /// The account as functions read it: its times have other names there.
  private static func user(_ event: Event) -> JSONObject {
    var user = event.data
    let times = user["metadata"]?.object ?? [:]
    var metadata = JSONObject()
    metadata["creationTime"] = times["createdAt"]
    metadata["lastSignInTime"] = times["lastSignedInAt"]
    user["metadata"] = .object(metadata)
    if user["customClaims"] == nil { user["customClaims"] = [:] }
    return user
  }
}

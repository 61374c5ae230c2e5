import VestaBytes
import VestaEventsInterop
import VestaServiceInterop

/// The triggers and events of the Realtime Database as functions of other programs know them; pure.
struct ValueEventForm: EventTriggerForm {
  static let service = "firebasedatabase.googleapis.com"

  static let names = EventTypeNames(
    legacy: "providers/google.firebase.database/eventTypes/ref.", modern: "google.firebase.database.ref.v1.",
    verbs: [
      ("create", "created", [.valueCreated]), ("update", "updated", [.valueUpdated]),
      ("delete", "deleted", [.valueDeleted]), ("write", "written", [.valueCreated, .valueUpdated, .valueDeleted]),
    ])

  // MARK: Registrations

  func trigger(
    _ key: String, _ definition: JSONObject, project: String
  ) throws(EventTriggerError) -> EventTrigger? {
    guard let name = definition["eventType"]?.string, let (types, generation) = Self.names.types(named: name) else {
      return nil
    }
    let (instance, reference) =
      generation == .legacy
      ? try Self.place(definition["resource"]?.string ?? "")
      : (definition.eventFilter("instance") ?? "*", definition.eventFilter("ref") ?? "")
    return try Self.trigger(key, name, types, generation, instance: instance, reference)
  }

  /// The function that `POST /.settings/functionTriggers.json` registers.
  ///
  /// - Parameters:
  ///   - body: `{"name","path","event"}`, with `namespacePattern` in the second generation.
  ///   - namespace: The database of the request.
  static func trigger(_ body: [UInt8], namespace: String) throws(EventTriggerError) -> EventTrigger {
    guard let object = try? JSONObject(json: body), let name = object["event"]?.string,
      let (types, generation) = names.types(named: name)
    else { throw EventTriggerError("The body needs the members name, path and event, a type of events of values.") }
    guard let key = object["name"]?.string?.parts(at: "/", omittingEmpty: true).last else {
      throw EventTriggerError("The name is not written projects/P/locations/L/functions/KEY.")
    }
    return try trigger(
      String(key), name, types, generation, instance: object["namespacePattern"]?.string ?? namespace,
      object["path"]?.string ?? "")
  }

  private static func trigger(
    _ key: String, _ name: String, _ types: Set<EventType>, _ generation: EventTrigger.Generation, instance: String,
    _ reference: String
  ) throws(EventTriggerError) -> EventTrigger {
    let pattern: EventPattern
    do throws(EventPatternError) {
      pattern = try EventPattern(reference)
    } catch {
      throw EventTriggerError(error.description)
    }
    guard pattern.length != nil else {
      throw EventTriggerError("The path \"\(reference)\" has no fixed depth. Use {name} for each key.")
    }
    return EventTrigger(
      key: key, eventType: name, generation: generation, types: types, scope: instance, pattern: pattern)
  }

  /// The database and the path of `projects/_/instances/I/refs/PATH`.
  private static func place(_ resource: String) throws(EventTriggerError) -> (String, String) {
    let parts = resource.parts(at: "/", maxSplits: 5)
    guard parts.count == 6, parts[0] == "projects", parts[2] == "instances", parts[4] == "refs" else {
      throw EventTriggerError(
        "The resource \"\(resource.prefix(200))\" is not written projects/_/instances/I/refs/PATH.")
    }
    return (String(parts[3]), String(parts[5]))
  }

  // MARK: Events

  func messages(of event: Event, to trigger: EventTrigger, project: String) throws -> [EventMessage]? {
    guard event.source.hasPrefix("//\(Self.service)/") else { return nil }
    let before = event.data["before"] ?? .null
    let change: JSONObject = [
      "data": before, "delta": ValueDelta.delta(before, event.data["after"] ?? .null),
    ]
    return switch trigger.generation {
    case .legacy: [try Self.legacy(event, trigger, change)]
    case .cloudEvent: [try Self.modern(event, trigger, change)]
    case .multicast: []
    }
  }

  private static func legacy(_ event: Event, _ trigger: EventTrigger, _ change: JSONObject) throws -> EventMessage {
    var context: JSONObject = [
      "eventId": .string(event.id), "timestamp": .string(EventTime.text(microseconds: event.time)),
      "eventType": .string(trigger.eventType),
      "resource": .string("projects/_/instances/\(event.scope)/refs/\(event.path)"),
    ]
    let params = (trigger.pattern?.match(event.path) ?? [:]).sorted { $0.key < $1.key }
    var object = JSONObject()
    for (name, value) in params { object[name] = .string(value) }
    context["params"] = .object(object)
    context["auth"] = .object(authentication(event.actor))
    return try EventMessage(json: ["data": .object(change), "context": .object(context)])
  }

  /// Who has made the change, as functions of the first generation read it.
  private static func authentication(_ actor: EventActor?) -> JSONObject {
    switch actor?.kind {
    case .owner, .system: return ["admin": true]
    case .user:
      let uid = JSONValue.string(actor?.id ?? "")
      return ["admin": false, "variable": ["uid": uid, "token": ["sub": uid]]]
    case .unauthenticated, nil: return ["admin": false]
    }
  }

  private static func modern(_ event: Event, _ trigger: EventTrigger, _ change: JSONObject) throws -> EventMessage {
    var object: JSONObject = [
      "specversion": "1.0", "id": .string(event.id), "type": .string(trigger.eventType),
      "source": .string("//\(service)/projects/_/locations/us-central1/instances/\(event.scope)"),
      "subject": .string("refs/\(event.path)"), "time": .string(EventTime.text(microseconds: event.time)),
      "datacontenttype": "application/json", "location": "us-central1", "instance": .string(event.scope),
      "ref": .string(event.path), "firebasedatabasehost": "firebaseio.com",
      "authtype": .string(event.actor?.authType ?? "unknown"),
    ]
    object["authid"] = event.actor?.id.map { .string($0) }
    object["data"] = .object(change)
    return try EventMessage(json: object, contentType: "application/cloudevents+json")
  }
}

/// The difference of two values, as functions get it: the values to put over the old one; pure.
enum ValueDelta {
  /// The difference; `null` for what was removed.
  static func delta(_ before: JSONValue, _ after: JSONValue) -> JSONValue {
    guard let old = before.object, let new = after.object else { return after }
    var result = JSONObject()
    for member in old.members where new[member.name] == nil { result[member.name] = .null }
    for member in new.members {
      guard let value = old[member.name] else {
        result[member.name] = member.value
        continue
      }
      if value != member.value { result[member.name] = delta(value, member.value) }
    }
    return .object(result)
  }
}

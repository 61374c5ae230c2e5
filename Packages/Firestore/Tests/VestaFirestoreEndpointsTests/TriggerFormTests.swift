import Testing
import VestaBytes
import VestaEventsInterop
import VestaFirestoreBackend
import VestaTransportInterop

@testable import VestaFirestoreEndpoints

/// Registrations of functions as tools write them, and what functions get.
@Suite struct TriggerFormTests {
  private static func change(_ before: String?, _ after: String?) throws -> Event {
    var data = JSONObject()
    for (name, fields) in [("value", after), ("oldValue", before)] {
      data[name] = try fields.map { fields in
        [
          "name": "projects/p/databases/d/documents/rooms/a", "fields": try JSONValue(json: Array(fields.utf8)),
          "createTime": "2026-01-31T12:00:00Z", "updateTime": "2026-01-31T12:00:00.000001Z",
        ]
      }
    }
    return Event(
      id: "7", type: .documentUpdated, source: "//firestore.googleapis.com/d", scope: "d", path: "rooms/a", time: 1_000,
      data: EventData(data), actor: .user("ada"))
  }

  @Test func `the changed fields of an update are named as paths`() throws {
    let before =
      #"{"a":{"integerValue":"1"},"m":{"mapValue":{"fields":{"x":{"nullValue":null}}}},"1 `b":{"booleanValue":true}}"#
    let after = #"{"m":{"mapValue":{"fields":{"x":{"integerValue":"2"},"y":{"integerValue":"3"}}}}}"#
    let event = try Self.change(before, after)
    #expect(
      ChangedFields.paths(event.data["oldValue"]?.object, event.data["value"]?.object)
        == ["`1 \\`b`", "a", "m.x", "m.y"])
    let created = event.data["value"]?.object
    #expect(ChangedFields.paths(nil, created).isEmpty)
  }

  @Test func `a name is quoted in a path unless it is an identifier`() throws {
    let names = ["a1", "_B9", "z", "1a", "a-b", "é", "a b"]
    let after: JSONObject = ["fields": .object(fields(names))]
    #expect(
      ChangedFields.paths(["fields": [:]], after) == ["_B9", "`1a`", "`a b`", "`a-b`", "`é`", "a1", "z"])
  }

  private func fields(_ names: [String]) -> JSONObject {
    var fields = JSONObject()
    for name in names { fields[name] = ["booleanValue": true] }
    return fields
  }

  @Test func `an event has the form of the generation that was registered`() throws {
    let form = DocumentEventForm()
    let body =
      #"{"eventType":"google.cloud.firestore.document.v1.written.withAuthContext","database":"d","document":{"value":"rooms/a","matchType":"EXACT"}}"#
    let (trigger, _) = try TriggerRegistration.modern(key: "k").trigger(Array(body.utf8), project: "p")
    #expect(trigger.types.count == 3 && trigger.scope == "d" && trigger.pattern?.isExact == true)
    let event = try Self.change("{}", #"{"a":{"stringValue":"x"}}"#)
    let message = try #require(try form.messages(of: event, to: trigger, project: "p")?.first)
    let change = try DocumentChangeWire.message(
      from: Base64.standard.decode(String(decoding: message.body, as: UTF8.self)))
    #expect(change.value?.fields["a"] == .string("x") && change.oldValue?.name == change.value?.name)
    #expect(change.updateMask?.fieldPaths == ["a"])
    #expect(
      message.attributes.contains(.init("authid", "ada")) && message.attributes.contains(.init("authtype", "app_user")))
    var foreign = event
    foreign.source = "//storage.googleapis.com/b"
    #expect(try form.messages(of: foreign, to: trigger, project: "p") == nil)
  }

  @Test(
    arguments: [
      "", "[]", "{}", #"{"eventTrigger":{}}"#,
      #"{"eventTrigger":{"eventType":"providers/cloud.firestore/eventTypes/document.write"}}"#,
      #"{"eventTrigger":{"eventType":"providers/cloud.firestore/eventTypes/document.write","resource":"projects/p/databases/d/documents/a"}}"#,
      #"{"eventTrigger":{"eventType":"providers/cloud.firestore/eventTypes/document.write","resource":"projects/p/databases/d/documents/"}}"#,
      #"{"eventTrigger":{"eventType":"providers/cloud.firestore/eventTypes/document.write","resource":"a/b/c/d/e/f/g"}}"#,
    ])
  func `what is no registration is refused`(body: String) {
    #expect(throws: EventTriggerError.self) {
      try TriggerRegistration.legacy(key: "k").trigger(Array(body.utf8), project: "p")
    }
  }

  @Test func `the calls of registrations are known by their paths`() {
    let path = "/emulator/v1/projects/p"
    #expect(
      FirestoreEmulatorCall(method: .put, target: "\(path)/triggers/a%20b")
        == .setTrigger(project: "p", .legacy(key: "a b")))
    #expect(
      FirestoreEmulatorCall(method: .delete, target: "\(path)/triggers/a") == .removeTrigger(project: "p", key: "a"))
    #expect(
      FirestoreEmulatorCall(method: .post, target: "\(path)/eventarcTrigger?eventarcTriggerId=a")
        == .setTrigger(project: "p", .modern(key: "a")))
    for (method, target) in [
      ("PUT", "\(path)/triggers/"), ("POST", "\(path)/eventarcTrigger"), ("POST", "\(path)/triggers/a"),
      ("PUT", "\(path)/triggers/a/b"), ("PUT", "/emulator/v1/projects//triggers/a"),
    ] {
      #expect(FirestoreEmulatorCall(method: method == "PUT" ? .put : .post, target: target) == nil, "\(target)")
    }
  }
}

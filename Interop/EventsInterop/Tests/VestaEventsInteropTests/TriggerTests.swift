import Testing
import VestaBytes
import VestaEventsInterop

@Suite struct TriggerTests {
  private static func event(_ scope: String) -> Event {
    Event(id: "1", type: .valueCreated, source: "//s/\(scope)", scope: scope, path: "a", time: 0, data: [:])
  }

  private static func trigger(_ scope: String?) throws -> EventTrigger {
    EventTrigger(
      key: "us-central1-f-0", eventType: "google.firebase.database.ref.v1.written", generation: .cloudEvent,
      types: [.valueCreated, .valueDeleted], scope: scope, pattern: try EventPattern("rooms/{room}"))
  }

  @Test func `a trigger is kept and read as it was`() throws {
    for scope in [nil, "demo", "demo-*"] {
      let trigger = try Self.trigger(scope)
      #expect(try EventTrigger(json: JSONObject(json: trigger.json.json())) == trigger)
    }
    for json in ["{}", #"{"key":"a","eventType":"b","generation":"other","types":["c"]}"#] {
      #expect(throws: EventTriggerError.self) { try EventTrigger(json: try JSONObject(json: Array(json.utf8))) }
    }
    var bad = try Self.trigger(nil).json
    bad["pattern"] = "a{b"
    #expect(throws: EventTriggerError.self) { try EventTrigger(json: bad) }
  }

  @Test(
    arguments: [
      (nil, "x", true), ("*", "x", true), ("demo", "demo", true), ("demo", "demo2", false), ("demo-*", "demo-a", true),
      ("demo-*", "demo", false), ("*-rtdb", "a-rtdb-rtdb", true), ("a*b*c", "aXbYc", true), ("a*b*c", "aXc", false),
      ("a*", "a", true), ("**", "", true),
    ] as [(String?, String, Bool)])
  func `wildcards of a scope stand for any characters`(scope: String?, name: String, isWanted: Bool) throws {
    let trigger = try Self.trigger(scope)
    #expect(trigger.wants(Self.event(name)) == isWanted)
    #expect(trigger.subscription.scope == (scope == "demo" ? "demo" : nil))
  }

  @Test func `a name is known in both generations`() {
    let names = EventTypeNames(
      legacy: "old.", modern: "new.", verbs: [("create", "created", [.valueCreated]), ("write", "written", [])])
    #expect(names.types(named: "old.create")?.generation == .legacy)
    #expect(names.types(named: "new.created.withAuthContext")?.types == [.valueCreated])
    #expect(names.types(named: "new.create") == nil)
    #expect(names.legacyName(of: .valueCreated) == "old.create")
  }
}

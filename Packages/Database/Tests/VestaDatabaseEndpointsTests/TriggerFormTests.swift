import Testing
import VestaBytes
import VestaEventsInterop

@testable import VestaDatabaseEndpoints

/// Registrations of functions that have changes of the tree, and what these get.
@Suite struct TriggerFormTests {
  @Test(
    arguments: [
      ("null", "1", "1"), ("1", "null", "null"), (#"{"a":1,"b":2}"#, #"{"b":3,"c":4}"#, #"{"a":null,"b":3,"c":4}"#),
      (#"{"a":{"x":1,"y":2},"b":1}"#, #"{"a":{"x":1,"y":3},"b":1}"#, #"{"a":{"y":3}}"#),
      ("1", #"{"a":1}"#, #"{"a":1}"#),
    ])
  func `a delta is what to put over the old value`(before: String, after: String, delta: String) throws {
    func json(_ text: String) throws -> JSONValue { try JSONValue(json: Array(text.utf8)) }
    #expect(ValueDelta.delta(try json(before), try json(after)) == (try json(delta)))
  }

  @Test func `a registration of either generation is read`() throws {
    let legacy =
      #"{"name":"projects/p/locations/_/functions/k","path":"/a/{b}","event":"providers/google.firebase.database/eventTypes/ref.create"}"#
    let first = try ValueEventForm.trigger(Array(legacy.utf8), namespace: "n")
    #expect(first.key == "k" && first.scope == "n" && first.types == [.valueCreated] && first.generation == .legacy)
    let modern =
      #"{"name":"projects/p/locations/r/triggers/k","path":"a","event":"google.firebase.database.ref.v1.written","namespacePattern":"*"}"#
    let second = try ValueEventForm.trigger(Array(modern.utf8), namespace: "n")
    #expect(second.scope == nil && second.types.count == 3 && second.generation == .cloudEvent)
    for bad in ["", "{}", legacy.replacing("/a/{b}", with: "a/{b=**}"), legacy.replacing("ref.create", with: "x")] {
      #expect(throws: EventTriggerError.self) { try ValueEventForm.trigger(Array(bad.utf8), namespace: "n") }
    }
  }
}

import Testing
import VestaBytes

/// A message that is JSON alone.
private struct Note: Equatable {
  var count: Int64 = 0
  var time: Duration?
  var changed: Int64?
  var labels: [String: String] = [:]
}

private enum NoteSchema: ProtobufSchema {
  static var empty: Note { Note() }

  static func visit(_ note: inout Note, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.constant(1, "kind", "note")
    try visitor.field(2, "count", &note.count, JSONInteger.self)
    try visitor.optional(3, "time", &note.time, JSONDuration.self)
    try visitor.optional(4, "changed", &note.changed, JSONTime.self)
    try visitor.field(5, "labels", &note.labels, JSONTexts.self)
  }
}

@Suite struct JSONKindTests {
  private func json(_ note: Note) throws -> String { String(decoding: try NoteSchema.json(of: note), as: UTF8.self) }

  private func note(_ json: String) throws -> Note { try NoteSchema.message(json: Array(json.utf8)) }

  @Test func `a number is a number, also zero, and a constant is written and not read`() throws {
    #expect(try json(Note()) == #"{"kind":"note","count":0}"#)
    #expect(try json(Note(count: .min)) == #"{"kind":"note","count":-9223372036854775808}"#)
    for count in [0, 1, -1, .max, .min] as [Int64] { #expect(try note(json(Note(count: count))).count == count) }
    #expect(try note(#"{"kind":[7],"count":"12"}"#) == Note(count: 12))
    for wrong in [#"{"count":1.5}"#, #"{"count":"x"}"#, #"{"count":true}"#, #"{"count":{}}"#] {
      #expect(throws: BytesError.self) { try note(wrong) }
    }
  }

  @Test(
    arguments: [
      (.zero, "0s"), (.seconds(1), "1s"), (.milliseconds(1_500), "1.500000000s"), (.nanoseconds(-1), "-0.000000001s"),
      (.milliseconds(-1_500), "-1.500000000s"), (.seconds(315_576_000_000), "315576000000s"),
    ] as [(Duration, String)])
  func `a duration is seconds with nine digits where there is a fraction`(time: Duration, text: String) throws {
    #expect(try json(Note(time: time)) == #"{"kind":"note","count":0,"time":"\#(text)"}"#)
    #expect(try note(#"{"time":"\#(text)"}"#).time == time)
  }

  @Test func `a duration has up to nine digits after the point`() throws {
    #expect(try note(#"{"time":"1.5s"}"#).time == .milliseconds(1_500))
    #expect(try note(#"{"time":"-0.000000001s"}"#).time == .nanoseconds(-1))
    for wrong in [
      "1", "s", "+1s", "-+1s", "1.s", ".5s", "1.1234567890s", "1.5.5s", "1.-5s", "315576000001s", "1 s", "",
    ] {
      #expect(throws: BytesError.self, "\(wrong)") { try note(#"{"time":"\#(wrong)"}"#) }
    }
    #expect(throws: BytesError.self) { try note(#"{"time":1}"#) }
  }

  @Test func `a time is a string, with as many digits as it has`() throws {
    #expect(try json(Note(changed: 0)) == #"{"kind":"note","count":0,"changed":"1970-01-01T00:00:00Z"}"#)
    for time in [0, 1, -1, 1_700_000_000_123_456] as [Int64] {
      #expect(try note(json(Note(changed: time))).changed == time)
    }
    for wrong in [#"{"changed":0}"#, #"{"changed":"yesterday"}"#, #"{"changed":""}"#] {
      #expect(throws: BytesError.self) { try note(wrong) }
    }
  }

  @Test func `strings are in the order of their names, and numbers and booleans are read as their text`() throws {
    let labels = ["b": "é", "a": "", "aa": "\""]
    #expect(try json(Note(labels: labels)) == #"{"kind":"note","count":0,"labels":{"a":"","aa":"\"","b":"é"}}"#)
    #expect(try note(json(Note(labels: labels))).labels == labels)
    let read = try note(#"{"labels":{"a":1,"b":1.5,"c":true,"d":null,"e":"x"}}"#)
    #expect(read.labels == ["a": "1", "b": "1.5", "c": "true", "e": "x"])
    for wrong in [#"{"labels":[]}"#, #"{"labels":{"a":[]}}"#, #"{"labels":{"a":{}}}"#, #"{"labels":"a"}"#] {
      #expect(throws: BytesError.self) { try note(wrong) }
    }
  }

  @Test func `such a message has no binary form`() {
    let code = { (body: () throws(BytesError) -> Void) -> BytesError.Code? in
      do throws(BytesError) { try body() } catch { return error.code }
      return nil
    }
    #expect(code { () throws(BytesError) in _ = try NoteSchema.bytes(of: Note()) } == .invalidValue)
    #expect(code { () throws(BytesError) in _ = try NoteSchema.message(from: [0x12, 0]) } == .invalidValue)
  }
}

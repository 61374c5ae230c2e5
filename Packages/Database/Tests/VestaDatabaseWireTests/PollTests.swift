import Testing
import VestaBytes
import VestaTesting

@testable import VestaDatabaseWire

@Suite struct PollTests {
  @Test func `openings keep values that are not encoded`() throws {
    let opening = try DatabaseOpening(query: "v=5&p=1:23:web:4f&ac=a+b&ls=x&ns=demo")
    #expect(opening.appID == "1:23:web:4f" && opening.appCheckToken == "a+b" && opening.namespace == "demo")
    #expect(try DatabaseOpening(query: opening.query) == opening)
    #expect(throws: BytesError.self) { _ = try DatabaseOpening(query: "v=4&ns=a") }
  }

  @Test func `a callback that is no number is refused, because it becomes part of a script`() {
    for callback in ["", "alert(1)", "1;x", "-1", "1234567890123456789"] {
      #expect(throws: BytesError.self) { _ = try DatabasePoll(query: "start=t&v=5&ns=a&ser=1&cb=\(callback)") }
    }
  }

  @Test func `polls survive a round trip`() throws {
    let polls: [DatabasePoll] = [
      .start(try DatabaseOpening(query: "v=5&ns=a&s=b"), callback: "17", serial: 3),
      .poll(
        id: "i", password: "p", serial: 4,
        [.init(number: 9, count: 2, text: "a-_."), .init(number: 10, count: 2, text: "")]),
      .poll(id: "i", password: "p", serial: 4, []), .frame(id: "i", password: "p"), .disconnect(id: "i", password: "p"),
    ]
    for poll in polls { #expect(try DatabasePoll(query: poll.query) == poll) }
    #expect(throws: BytesError.self) { _ = try DatabasePoll(query: "id=1") }
    #expect(throws: BytesError.self) { _ = try DatabasePoll(query: "id=1&pw=2&d0=a") }
  }

  @Test func `scripts call the functions of the page`() throws {
    let start = text(
      DatabasePollAnswer.start(callback: "7", id: "i\"d", password: "p-w_10", messages: [utf8(#"{"t":"c"}"#)]))
    #expect(start.contains(#"function pRTLPCB(n,d){parent.window["pRTLPCB7"]&&parent.window["pRTLPCB7"](n,d);}"#))
    #expect(start.contains(#"pLPCommand('start',"id","p-w_10");"#))
    #expect(start.hasSuffix("pRTLPCB(0,[{\"t\":\"c\"}]);\n"))
    #expect(
      text(DatabasePollAnswer.data(number: 3, messages: [utf8("\"</\""), utf8("\"\u{2029}é\"")]))
        == "pRTLPCB(3,[\"\\u003c/\",\"\\u2029é\"]);\n")
  }

  @Test func `segments in any order and more than once join to the messages`() throws {
    var random = SplitMix(seed: 8)
    var tuning = DatabaseWireTuning()
    for round in 0..<5_000 {
      tuning.segmentCharacters = 1 + random.below(9)
      let messages = (0..<3).map { _ in utf8("{\"a\":\"" + random.text() + "\"}") }
      var segments: [DatabasePoll.Segment] = []
      for message in messages {
        segments += DatabasePoll.segments(of: message, from: segments.count, tuning: tuning)
      }
      segments = segments.shuffled(using: &random) + segments.prefix(2)
      var machine = DatabaseSegmentMachine(tuning: tuning)
      var received: [[UInt8]] = []
      for segment in segments { received += try machine.received([segment]) }
      #expect(received == messages, "round \(round)")
    }
  }

  @Test func `segments that never join take bounded memory`() throws {
    var tuning = DatabaseWireTuning()
    tuning.maximumWaitingSegments = 10
    var machine = DatabaseSegmentMachine(tuning: tuning)
    let ahead = (1...10).map { DatabasePoll.Segment(number: $0, count: 1, text: "a") }
    #expect(try machine.received(ahead) == [])
    #expect(throws: BytesError.self) { _ = try machine.received([.init(number: 99, count: 1, text: "a")]) }
    tuning.maximumMessageBytes = 10
    var other = DatabaseSegmentMachine(tuning: tuning)
    #expect(throws: BytesError.self) {
      for number in 0..<9 { _ = try other.received([.init(number: number, count: 99, text: "abc")]) }
    }
  }

  @Test func `hostile polls are a poll or an error`() throws {
    var random = SplitMix(seed: 9)
    let query = utf8("id=a&pw=b&ser=3&seg0=0&ts0=1&d0=eyJhIjoxfQ..&seg1=1&ts1=2&d1=ey")
    var refused = 0
    for _ in 0..<20_000 {
      do {
        guard case .poll(_, _, _, let segments) = try DatabasePoll(query: text(random.damaged(query))) else { continue }
        var machine = DatabaseSegmentMachine()
        _ = try machine.received(segments)
      } catch {
        refused += 1
      }
    }
    #expect(refused > 200, "\(refused)")
  }
}

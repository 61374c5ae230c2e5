import Testing
import VestaBytes
import VestaTesting

@testable import VestaFirestoreWire

private func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }

private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

@Suite struct WebChannelTests {
  @Test func `requests are read by their query, and survive a round trip`() throws {
    func read(_ method: String, _ query: String) throws -> WebChannelRequest {
      try WebChannelRequest(method: method, query: query)
    }
    let session = WebChannelRequest.Session(id: "s", httpID: "g", database: "projects/p/databases/(default)")
    let requests: [WebChannelRequest] = [
      .open(database: session.database, sessionParameter: "gsessionid"), .open(database: nil, sessionParameter: nil),
      .forward(session, confirmed: 7), .back(session, confirmed: 0, .streaming),
      .back(session, confirmed: 3, .buffered(milliseconds: 20_000)),
      .back(session, confirmed: 3, .buffered(milliseconds: nil)),
      .terminate(session),
    ]
    for request in requests { #expect(try read("POST", request.query(number: 5)) == request) }
    #expect(try read("GET", "VER=8&SID=s&RID=9&TYPE=terminate&zx=1") == .terminate(.init(id: "s")))
    let largest = 999_999_999_999_999_999
    #expect(try read("POST", "VER=8&SID=s&RID=1&AID=\(largest)") == .forward(.init(id: "s"), confirmed: largest))
    for (method, query) in [
      ("POST", "VER=7"), ("POST", ""), ("GET", "VER=8"), ("GET", "VER=8&SID=s&RID=1"),
      ("POST", "VER=8&SID=s&RID=1&AID=x"), ("POST", "VER=8&SID=s&RID=1&AID=1\(String(repeating: "0", count: 18))"),
      ("GET", "VER=8&SID=s&RID=rpc&TO=-1"),
    ] {
      #expect(throws: BytesError.self, "\(query)") { _ = try read(method, query) }
    }
  }

  @Test func `bodies have headers without spaces, an offset, and gaps`() throws {
    let body =
      "headers=Authorization%3ABearer%20x%0D%0AX-A%3A%20b%0D%0A&count=2&ofs=4&req0___data__=%7B%22a%22%3A%22%2B%20%22%7D&req3___data__=%7B%7D"
    let read = try WebChannelBody(utf8(body))
    #expect(read.headers == [.init("authorization", "Bearer x"), .init("x-a", "b")])
    #expect(read.messages == [.init(4, #"{"a":"+ "}"#), .init(7, "{}")])
    #expect(try WebChannelBody(read.bytes) == read)
    #expect(try WebChannelBody(utf8("count=0")) == WebChannelBody())
    for body in [
      "count=1", "count=x", "ofs=-1", "req___data__=1&count=1", "reqx___data__=1", "count=1&req0___data__=%zz",
    ] {
      #expect(throws: BytesError.self, "\(body)") { _ = try WebChannelBody(utf8(body)) }
    }
    #expect(throws: BytesError.self) {
      _ = try WebChannelBody(utf8((0..<99).map { "req\($0)___data__=1" }.joined(separator: "&")), maximumMessages: 9)
    }
  }

  @Test func `frames are ASCII, so that their length is bytes and units`() throws {
    let opened = try WebChannelFrames.frame(of: [.init(0, .opened(session: "s", keepAliveMilliseconds: 30_000))])
    #expect(text(opened) == "29\n[[0,[\"c\",\"s\",\"\",8,14,30000]]]")
    let frame = try WebChannelFrames.frame(of: [.init(1, .data([["a": "é\u{1F600}"]]))])
    #expect(text(frame) == "34\n" + #"[[1,[{"a":"\u00e9\ud83d\ude00"}]]]"#)
    #expect(text(WebChannelFrames.answer(hasBackChannel: true, last: 5, outstanding: 7)) == "7\n[1,5,7]")
    let arrays: [WebChannelFrames.Numbered] = [
      .init(0, .opened(session: "s", keepAliveMilliseconds: 5)), .init(1, .noop), .init(2, .data([1, "x"])),
      .init(3, .close), .init(4, .stop), .init(5, .data([])),
    ]
    let stream = try arrays.flatMap { try WebChannelFrames.frame(of: [$0]) }
    let read = try Feeding.verify(stream) { pieces in
      var machine = WebChannelFrameMachine()
      return try pieces.flatMap { try machine.received($0) }
    }
    #expect(try read.flatMap { try WebChannelFrames.arrays($0) } == arrays)
  }

  @Test func `frames of a service that does not escape count UTF-16 units`() throws {
    let stream = utf8("5\n\"é\u{1F600}\"0\n3\né\u{1F600}1\né")
    let read = try Feeding.verify(stream) { pieces in
      var machine = WebChannelFrameMachine()
      return try pieces.flatMap { try machine.received($0) }
    }
    #expect(read.map { text($0) } == ["\"é\u{1F600}\"", "", "é\u{1F600}", "é"])
    for stream in ["x", "\n", "-1\n", "9999999999\n", "1\n\u{1F600}"] {
      var machine = WebChannelFrameMachine()
      #expect(throws: BytesError.self, "\(stream)") { _ = try machine.received(utf8(stream)) }
    }
    var small = WebChannelFrameMachine(maximumBytes: 3)
    #expect(throws: BytesError.self) { _ = try small.received(utf8("999\nabcd")) }
  }

  @Test func `a session with lost, repeated and reordered requests delivers everything once and in order`() throws {
    var random = SplitMix(seed: 1)
    for round in 0..<2_000 {
      var machine = WebChannelMachine()
      var (received, expected, nextSent) = ([String](), [String](), 0)
      let opening = try machine.open(session: "s", keepAliveMilliseconds: 5, WebChannelBody(messages: [.init(0, "m0")]))
      received += opening.messages
      var client = Client()
      try client.received(opening.response)
      var outstanding: [WebChannelBody.Message] = []
      var sent = ["m0"]
      for _ in 0..<20 {
        switch random.below(4) {
        case 0:
          outstanding.append(.init(sent.count, "m\(sent.count)"))
          sent.append("m\(sent.count)")
        case 1:
          // A request of some messages, in any order; its response may be lost, and then it is sent again.
          let messages = outstanding.filter { _ in random.oneIn(2) }
          let result = try machine.forward(WebChannelBody(messages: messages), confirmed: client.last)
          received += result.messages
          if random.oneIn(2) { outstanding.removeAll { messages.contains($0) } }
        case 2:
          expected.append("\(nextSent)")
          let frame = try machine.send(.data([.string("\(nextSent)")]))
          nextSent += 1
          if machine.hasBackChannel {
            if random.oneIn(3) { machine.backChannelEnded() } else { try client.received(frame) }
          }
        default: try client.received(machine.openBackChannel(confirmed: client.last))
        }
      }
      received += try machine.forward(WebChannelBody(messages: outstanding), confirmed: client.last).messages
      try client.received(machine.openBackChannel(confirmed: client.last))
      if received != sent || client.data != expected { Issue.record("round \(round)"); return }
      _ = try machine.forward(WebChannelBody(), confirmed: client.last)
      #expect(machine.unconfirmedBytes == 0)
    }
  }

  /// The arrays that a client has taken; a gap in their numbers is an error.
  private struct Client {
    var last = -1
    var data: [String] = []

    mutating func received(_ response: [UInt8]) throws {
      var machine = WebChannelFrameMachine()
      for frame in try machine.received(response) {
        for array in try WebChannelFrames.arrays(frame) where array.number > last {
          #expect(array.number == last + 1)
          last = array.number
          if case .data(let messages) = array.array { data += messages.compactMap(\.string) }
        }
      }
      #expect(machine.isAtStart)
    }
  }

  @Test func `a back channel gets something at once, and the end stays the end`() throws {
    var machine = WebChannelMachine()
    _ = try machine.open(session: "s", keepAliveMilliseconds: 5, WebChannelBody())
    #expect(text(try machine.openBackChannel(confirmed: 0)) == "14\n[[1,[\"noop\"]]]")
    #expect(text(try machine.forward(WebChannelBody(), confirmed: 0).response) == "8\n[1,1,17]")
    #expect(text(try machine.send(.close)) == "15\n[[2,[\"close\"]]]")
    #expect(machine.isClosed)
    #expect(try machine.send(.noop) == [])
    #expect(try machine.forward(WebChannelBody(messages: [.init(0, "x")]), confirmed: 1).messages == [])
    #expect(text(try machine.openBackChannel(confirmed: 1)) == "15\n[[2,[\"close\"]]]")
  }

  @Test func `a client that confirms nothing, or leaves a gap, takes bounded memory`() throws {
    var tuning = WebChannelMachine.Tuning()
    tuning.maximumUnconfirmedBytes = 100
    tuning.maximumWaitingMessages = 3
    var machine = WebChannelMachine(tuning: tuning)
    _ = try machine.open(session: "s", keepAliveMilliseconds: 5, WebChannelBody())
    #expect(throws: BytesError.self) { for _ in 0..<9 { _ = try machine.send(.noop) } }
    #expect(machine.isClosed && machine.unconfirmedBytes == 0)
    var other = WebChannelMachine(tuning: tuning)
    #expect(throws: BytesError.self) {
      _ = try other.forward(WebChannelBody(messages: (1...4).map { .init($0, "m") }), confirmed: 0)
    }
    // Messages that are next do not wait, however long they are.
    tuning.maximumWaitingBytes = 1
    var third = WebChannelMachine(tuning: tuning)
    let next = try third.forward(WebChannelBody(messages: (0...4).map { .init($0, "message") }), confirmed: 0)
    #expect(next.messages.count == 5)
  }

  @Test func `messages that are sent again take no memory, whether they were taken or wait`() throws {
    var tuning = WebChannelMachine.Tuning()
    (tuning.maximumWaitingMessages, tuning.maximumWaitingBytes) = (1, 10)
    var machine = WebChannelMachine(tuning: tuning)
    func send(_ numbers: Int...) throws -> [String] {
      try machine.forward(WebChannelBody(messages: numbers.map { .init($0, "message\($0)") }), confirmed: 0).messages
    }
    #expect(try send(0, 1) == ["message0", "message1"])
    for _ in 0..<3 { #expect(try send(0, 1, 3) == []) }
    #expect(!machine.isClosed)
    #expect(try send(1, 2, 3) == ["message2", "message3"])
    for _ in 0..<3 { #expect(try send(2, 3, 5) == []) }
    #expect(try send(4) == ["message4", "message5"])
  }

  @Test func `hostile bodies, queries and responses are a value or an error`() throws {
    var random = SplitMix(seed: 2)
    let body = utf8("headers=a%3Ab%0D%0A&count=2&ofs=4&req0___data__=%7B%7D&req3___data__=%7B%7D")
    let query = utf8("VER=8&database=d&gsessionid=g&SID=s&RID=rpc&AID=5&CI=1&TO=900&TYPE=xmlhttp")
    let response = try WebChannelFrames.frame(of: [.init(1, .data([["a": "é"]])), .init(2, .noop)])
    var refused = 0
    for round in 0..<20_000 {
      var bytes = [body, query, response][round % 3]
      for _ in 0...random.below(3) {
        let index = random.below(bytes.count)
        switch random.below(3) {
        case 0: bytes[index] = UInt8(random.below(256))
        case 1: bytes.remove(at: index)
        default: bytes.insert(bytes[random.below(bytes.count)], at: index)
        }
      }
      do {
        switch round % 3 {
        case 0:
          var machine = WebChannelMachine()
          _ = try machine.forward(WebChannelBody(bytes), confirmed: 0)
        case 1: _ = try WebChannelRequest(method: "POST", query: text(bytes))
        default:
          var machine = WebChannelFrameMachine()
          for frame in try machine.received(bytes) { _ = try WebChannelFrames.arrays(frame) }
        }
      } catch {
        refused += 1
      }
    }
    #expect(refused > 4_000 && refused < 19_800, "\(refused)")
  }
}

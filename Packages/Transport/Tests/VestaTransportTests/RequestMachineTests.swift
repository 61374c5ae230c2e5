import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

/// The events of a stream of requests; neighbouring pieces of a body are joined.
enum RequestEvent: Equatable {
  case head(RequestMachine.Head)
  case body([UInt8])
  case end(HTTPFields)
  case failure(ProtocolFailure)
}

/// Feeds a machine as a connection does: it keeps what was not used.
func requests(_ pieces: [[UInt8]], _ tuning: TransportTuning = TransportTuning()) -> [RequestEvent] {
  var machine = RequestMachine(tuning)
  var (events, kept) = ([RequestEvent](), [UInt8]())
  for piece in pieces {
    kept += piece
    do {
      var start = 0
      reading: while true {
        switch try kept.withUnsafeBufferPointer({ bytes throws(ProtocolFailure) in
          try machine.step(bytes, from: start)
        }) {
        case .head(let head, let used):
          events.append(.head(head))
          start += used
        case .body(let range, let used):
          if case .body(let before)? = events.last {
            events[events.count - 1] = .body(before + kept[range])
          } else {
            events.append(.body(Array(kept[range])))
          }
          start += used
        case .end(let trailers, let used):
          events.append(.end(trailers))
          start += used
        case .used(let used): start += used
        case .needsMore: break reading
        }
      }
      kept.removeFirst(start)
    } catch {
      return events + [.failure(error)]
    }
  }
  return events
}

/// The events of a stream, fed in all ways.
func requests(_ text: String, _ tuning: TransportTuning = TransportTuning()) throws -> [RequestEvent] {
  try Feeding.verify(Array(text.utf8)) { requests($0, tuning) }
}

@Suite struct RequestMachineTests {
  private func head(
    _ method: HTTPMethod = .get, _ target: String = "/", authority: String = "h", _ fields: HTTPFields = [:],
    minor: UInt8 = 1, body: BodyMachine.Framing? = nil, keeps: Bool = true, expects: Bool = false,
    upgrades: Bool = false
  ) -> RequestEvent {
    .head(
      RequestMachine.Head(
        method: method, target: target, authority: authority, fields: fields, minorVersion: minor, body: body,
        keepsAlive: keeps, expectsContinue: expects, asksForUpgrade: upgrades))
  }

  @Test func `requests in a row are read one by one`() throws {
    let text = """
      GET /a?b HTTP/1.1\r\nHost: h:80\r\nAccept: x, y\r\n\r\n\
      POST / HTTP/1.1\r\nhost:h\r\nContent-Length: 3\r\n\r\nabc\
      \r\nDELETE /c HTTP/1.1\r\nHOST:\th \r\nx:\r\n\r\n
      """
    #expect(
      try requests(text) == [
        head(.get, "/a?b", authority: "h:80", ["accept": "x, y"]),
        head(.post, "/", ["content-length": "3"], body: .length(3)), .body(Array("abc".utf8)), .end([:]),
        head(.delete, "/c", ["x": ""]),
      ])
  }

  @Test func `chunks are joined, and trailers follow`() throws {
    let text = """
      POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: Chunked\r\n\r\n\
      3\r\nabc\r\n0A;x="y"\r\n0123456789\r\n000\r\nx-sum: 1\r\n\r\nGET / HTTP/1.1\r\nhost: h\r\n\r\n
      """
    #expect(
      try requests(text) == [
        head(.post, "/", ["transfer-encoding": "Chunked"], body: .chunked), .body(Array("abc0123456789".utf8)),
        .end(["x-sum": "1"]), head(),
      ])
  }

  @Test func `the connection is kept as the version and its field say`() throws {
    let cases: [(String, Bool)] = [
      ("HTTP/1.1\r\nhost: h\r\n", true), ("HTTP/1.1\r\nhost: h\r\nconnection: x, Close\r\n", false),
      ("HTTP/1.0\r\n", false), ("HTTP/1.0\r\nconnection: keep-alive\r\n", true),
      ("HTTP/1.0\r\nconnection: keep-alive, close\r\n", false),
    ]
    for (lines, keeps) in cases {
      guard case .head(let head)? = try requests("GET / \(lines)\r\n").first else {
        Issue.record("no head: \(lines)")
        continue
      }
      #expect(head.keepsAlive == keeps, "\(lines)")
    }
  }

  @Test func `a target in absolute form names its host`() throws {
    #expect(
      try requests("GET http://Other:81/x HTTP/1.1\r\nhost: h\r\n\r\n") == [head(.get, "/x", authority: "other:81")])
    #expect(try requests("OPTIONS * HTTP/1.1\r\nhost: h\r\n\r\n") == [head(.options, "*")])
    #expect(try requests("CONNECT a:1 HTTP/1.1\r\nhost: h\r\n\r\n") == [head(.connect, "a:1")])
  }

  /// Each is refused with its status, however it is cut, and nothing after it is read as a request.
  @Test(arguments: [
    // Two ways to say where the body ends, and lengths that two parsers read differently.
    (400, "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n"),
    (400, "POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n"),
    (400, "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 4\r\ncontent-length: 4\r\n\r\n"),
    (400, "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 4, 4\r\n\r\n"),
    (400, "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: +4\r\n\r\n"),
    (400, "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 0x4\r\n\r\n"),
    (400, "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: \r\n\r\n"),
    (400, "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 1234567890123456789\r\n\r\n"),
    (400, "POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n"),
    (501, "POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: gzip, chunked\r\n\r\n"),
    (501, "POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: xchunked\r\n\r\n"),
    (501, "POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked,\r\n\r\n"),
    (400, "POST / HTTP/1.0\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n"),
    // White space and line ends.
    (400, "GET / HTTP/1.1\r\nhost : h\r\n\r\n"), (400, "GET / HTTP/1.1\r\nhost: h\r\n x: 1\r\n\r\n"),
    (400, "GET / HTTP/1.1\r\n host: h\r\n\r\n"), (400, "GET / HTTP/1.1\r\nhost: h\nx: 1\r\n\r\n"),
    (400, "GET / HTTP/1.1\nhost: h\r\n\r\n"), (400, "GET / HTTP/1.1\r\nhost: h\r\nx: a\rb\r\n\r\n"),
    (400, "GET / HTTP/1.1\r\nhost: h\r\nx: a\u{0}b\r\n\r\n"), (400, "GET / HTTP/1.1\r\nhost: h\r\nx: \u{7F}\r\n\r\n"),
    (400, "GET  / HTTP/1.1\r\nhost: h\r\n\r\n"), (400, "GET /  HTTP/1.1\r\nhost: h\r\n\r\n"),
    (400, "GET\t/ HTTP/1.1\r\nhost: h\r\n\r\n"), (400, " GET / HTTP/1.1\r\nhost: h\r\n\r\n"),
    (400, "GET / HTTP/1.1 \r\nhost: h\r\n\r\n"), (400, "GET / HTTP/1.1\r\nhost: h\r\nx\r\n\r\n"),
    (400, "GET / HTTP/1.1\r\nhost: h\r\n: x\r\n\r\n"), (400, "GET / HTTP/1.1\r\nhost: h\r\nx y: z\r\n\r\n"),
    (400, "GET / HTTP/1.1\r\nhost: h\r\nä: z\r\n\r\n"), (400, "GET / HTTP/1.1\r\nhost: h\r\n\rx\r\n\r\n"),
    // First lines.
    (400, "GET /\r\nhost: h\r\n\r\n"), (505, "GET / HTTP/2.0\r\nhost: h\r\n\r\n"),
    (505, "GET / HTTP/1.2\r\nhost: h\r\n\r\n"), (400, "GET / http/1.1\r\nhost: h\r\n\r\n"),
    (400, "GET / HTTP/1.11\r\nhost: h\r\n\r\n"), (400, "GET x HTTP/1.1\r\nhost: h\r\n\r\n"),
    (400, "GET * HTTP/1.1\r\nhost: h\r\n\r\n"), (400, "GET /\u{7F} HTTP/1.1\r\nhost: h\r\n\r\n"),
    (400, "GET ä HTTP/1.1\r\nhost: h\r\n\r\n"), (400, "GET http://u@h/ HTTP/1.1\r\nhost: h\r\n\r\n"),
    (501, "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGH / HTTP/1.1\r\nhost: h\r\n\r\n"),
    // Hosts.
    (400, "GET / HTTP/1.1\r\n\r\n"), (400, "GET / HTTP/1.1\r\nhost: h\r\nhost: h\r\n\r\n"),
    (400, "GET / HTTP/1.1\r\nhost: a/b\r\n\r\n"), (400, "GET / HTTP/1.1\r\nhost: a@b\r\n\r\n"),
    (400, "GET / HTTP/1.1\r\nhost: a b\r\n\r\n"), (417, "GET / HTTP/1.1\r\nhost: h\r\nexpect: x\r\n\r\n"),
  ])
  func `a head that could be read in two ways is refused`(status: Int, text: String) throws {
    let events = try requests(text + "GET /smuggled HTTP/1.1\r\nhost: h\r\n\r\n")
    guard case .failure(let failure)? = events.last else {
      Issue.record("not refused: \(events)")
      return
    }
    #expect(events.count == 1 && failure.status == status, "\(failure)")
  }

  @Test(arguments: [
    "g\r\n", "\r\n", "-1\r\na\r\n", "1 \r\na\r\n", "1\na\r\n", "1\r\nab\r\n", "1\r\na\n", "1;\u{1}\r\na\r\n",
    "0x1\r\na\r\n",
    "1000000000000000\r\na\r\n", "0\r\ncontent-length: 1\r\n\r\n", "0\r\nhost: h\r\n\r\n", "0\r\n x: 1\r\n\r\n",
    "0\r\nconnection: close\r\n\r\n", ";x\r\n",
  ])
  func `chunks that could be read in two ways are refused`(body: String) throws {
    let events = try requests("POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n\(body)\r\n\r\n")
    guard case .failure? = events.last else {
      Issue.record("not refused: \(events)")
      return
    }
  }

  @Test func `limits hold at their number and not beyond`() throws {
    var tuning = TransportTuning()
    tuning.headBytes = 64
    tuning.fieldCount = 2
    tuning.targetBytes = 10
    tuning.chunkLineBytes = 8
    func status(_ text: String) throws -> Int? {
      if case .failure(let failure)? = try requests(text, tuning).last { failure.status } else { nil }
    }
    let fixed = "GET / HTTP/1.1\r\nhost: h\r\nx: \r\n\r\n".utf8.count
    let full = String(repeating: "a", count: 64 - fixed)
    #expect(try status("GET / HTTP/1.1\r\nhost: h\r\nx: \(full)\r\n\r\n") == nil)
    #expect(try status("GET / HTTP/1.1\r\nhost: h\r\nx: \(full)a\r\n\r\n") == 431)
    #expect(try status("GET / HTTP/1.1\r\nhost: h\r\nx: \(String(repeating: "a", count: 100))") == 431)
    #expect(try status("GET / HTTP/1.1\r\nhost: h\r\na: 1\r\nb: 2\r\n\r\n") == nil)
    #expect(try status("GET / HTTP/1.1\r\nhost: h\r\na: 1\r\nb: 2\r\nc: 3\r\n\r\n") == 431)
    #expect(try status("GET /123456789 HTTP/1.1\r\nhost: h\r\n\r\n") == nil)
    #expect(try status("GET /1234567890 HTTP/1.1\r\nhost: h\r\n\r\n") == 414)
    tuning.headBytes = 200
    let chunked = "POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n"
    #expect(try status("\(chunked)1;345678\r\na\r\n0\r\n\r\n") == nil)
    #expect(try status("\(chunked)1;3456789\r\na\r\n0\r\n\r\n") == 400)
    #expect(try status("\(chunked)0\r\nx: \(String(repeating: "a", count: 300))\r\n\r\n") == 431)
  }

  @Test(arguments: UInt64(1)...40) func `random bytes and damaged requests never stop the machine`(seed: UInt64) throws
  {
    var random = SplitMix(seed: seed)
    let model = Array(
      """
      POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n3\r\nabc\r\n0\r\na: b\r\n\r\n\
      GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\nPUT /x HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\n\r\nhello
      """.utf8)
    for _ in 0..<25 {
      var bytes = random.oneIn(4) ? random.bytes(80) : model
      for _ in 0..<random.below(4) where !bytes.isEmpty {
        let place = random.below(bytes.count)
        switch random.below(3) {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.remove(at: place)
        default: bytes.insert(random.pick(Array("\r\n :;0aF".utf8)), at: place)
        }
      }
      // A head is looked at again when a line has ended: end the last one.
      _ = try Feeding.verify(bytes + Array("\r\n\r\n".utf8), seed: seed, rounds: 3) { requests($0) }
    }
  }
}

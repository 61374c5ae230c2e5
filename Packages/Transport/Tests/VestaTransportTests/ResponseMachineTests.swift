import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

enum ResponseEvent: Equatable {
  case head(ResponseMachine.Head)
  case body([UInt8])
  case end(HTTPFields)
  case failure(ProtocolFailure)
}

/// The events of the responses to requests with these methods, until the connection ends.
func responses(_ pieces: [[UInt8]], to methods: [HTTPMethod]) -> [ResponseEvent] {
  var machine = ResponseMachine(TransportTuning())
  var methods = methods[...]
  machine.method = methods.popFirst() ?? .get
  var (events, kept) = ([ResponseEvent](), [UInt8]())
  do {
    for piece in pieces {
      kept += piece
      var start = 0
      reading: while true {
        switch try kept.withUnsafeBufferPointer({ bytes throws(ProtocolFailure) in
          try machine.step(bytes, from: start)
        }) {
        case .head(let head, let used):
          events.append(.head(head))
          if head.body == nil, !head.status.isInterim { machine.method = methods.popFirst() ?? .get }
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
          machine.method = methods.popFirst() ?? .get
          start += used
        case .used(let used): start += used
        case .needsMore: break reading
        }
      }
      kept.removeFirst(start)
    }
  } catch {
    return events + [.failure(error)]
  }
  if machine.connectionEnded() { events.append(.end([:])) }
  return events
}

@Suite struct ResponseMachineTests {
  private func responses(_ text: String, to methods: [HTTPMethod] = [.get, .get]) throws -> [ResponseEvent] {
    try Feeding.verify(Array(text.utf8)) { VestaTransportTests.responses($0, to: methods) }
  }

  private func head(
    _ status: HTTPStatus, _ fields: HTTPFields = [:], _ body: BodyMachine.Framing? = nil, keeps: Bool = true
  ) -> ResponseEvent {
    .head(ResponseMachine.Head(status: status, fields: fields, body: body, keepsAlive: keeps))
  }

  @Test func `responses are read with the body that their status, fields and method say`() throws {
    #expect(
      try responses(
        """
        HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nab\
        HTTP/1.1 204\r\ncontent-length: 3\r\n\r\nHTTP/1.1 200 \r\ncontent-length: 9\r\n\r\n\
        HTTP/1.1 200 Fine day\r\ntransfer-encoding: chunked\r\n\r\n1\r\nc\r\n0\r\nt: 1\r\n\r\n\
        HTTP/1.1 500 X\r\nconnection: close\r\n\r\nrest
        """, to: [.post, .get, .head, .get, .get]) == [
          head(100), head(200, ["content-length": "2"], .length(2)), .body(Array("ab".utf8)), .end([:]),
          head(204, ["content-length": "3"]), head(200, ["content-length": "9"]),
          head(200, ["transfer-encoding": "chunked"], .chunked), .body(Array("c".utf8)), .end(["t": "1"]),
          head(500, ["connection": "close"], .untilEnd, keeps: false), .body(Array("rest".utf8)), .end([:]),
        ])
  }

  @Test(arguments: [
    "HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 099 OK\r\n\r\n",
    "x\r\n\r\n",
    "HTTP/1.1 200 OK\nx: y\r\n\r\n", "HTTP/1.1 200 \u{1}\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n",
    "HTTP/1.3 200 OK\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n", "HTTP/1.1 200 OK\r\nx : y\r\n\r\n",
  ])
  func `what is no response is an error`(text: String) throws {
    guard case .failure? = try responses(text).last else {
      Issue.record("not refused")
      return
    }
  }

  @Test func `what is written is read again`() throws {
    var out: [UInt8] = []
    var fields: HTTPFields = ["x-a": "1", "content-length": "77", "connection": "close", "transfer-encoding": "no"]
    fields.append("set-cookie", "a")
    MessageWriter.head(
      HTTPResponse(404, fields: fields), .length(3), .usual, date: Array("date: now\r\n".utf8), into: &out)
    out += Array("abc".utf8)
    MessageWriter.head(HTTPResponse(200), .chunked, .close, date: [], into: &out)
    for part in ["0123456789abcdef", "x"] {
      MessageWriter.chunk(part.utf8.count, into: &out)
      out += Array(part.utf8)
      MessageWriter.chunkEnd(into: &out)
    }
    MessageWriter.end(trailers: ["t": "u"], into: &out)
    let events = try Feeding.verify(out) { VestaTransportTests.responses($0, to: [.get, .get]) }
    #expect(
      events == [
        head(404, ["x-a": "1", "set-cookie": "a", "date": "now", "content-length": "3"], .length(3)),
        .body(Array("abc".utf8)), .end([:]),
        head(200, ["transfer-encoding": "chunked", "connection": "close"], .chunked, keeps: false),
        .body(Array("0123456789abcdefx".utf8)), .end(["t": "u"]),
      ])
  }

  @Test func `a request is written as a server reads it, or not at all`() {
    var out: [UInt8] = []
    let request = HTTPRequest(.put, "/a?b", authority: "h:1", fields: ["x": "y", "host": "other"])
    MessageWriter.head(request, .length(12), .usual, into: &out)
    #expect(
      String(decoding: out, as: UTF8.self) == "PUT /a?b HTTP/1.1\r\nhost: h:1\r\nx: y\r\ncontent-length: 12\r\n\r\n")
    for bad in ["/a b", "/\r\nx: y", "", "/ä"] {
      #expect(!MessageWriter.isWritable(HTTPRequest(.get, bad, authority: "h")))
    }
    #expect(!MessageWriter.isWritable(HTTPRequest("G T", "/", authority: "h")))
    #expect(!MessageWriter.isWritable(HTTPRequest(.get, "/", authority: "h\r\nx: y")))
    #expect(MessageWriter.isWritable(request))
  }
}

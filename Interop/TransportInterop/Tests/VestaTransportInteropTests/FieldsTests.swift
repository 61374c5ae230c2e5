import Testing
import VestaTransportInterop

@Suite struct FieldsTests {
  @Test(
    arguments: [
      (200, "OK"), (206, "Partial Content"), (304, "Not Modified"), (408, "Request Timeout"),
      (413, "Content Too Large"),
      (414, "URI Too Long"), (416, "Range Not Satisfiable"), (426, "Upgrade Required"), (429, "Too Many Requests"),
      (431, "Request Header Fields Too Large"), (501, "Not Implemented"), (503, "Service Unavailable"), (299, ""),
    ] as [(Int, String)])
  func `a status has the words of its standard`(code: Int, reason: String) {
    #expect(HTTPStatus(code).reason == reason)
    #expect("\(HTTPStatus(code))" == (reason.isEmpty ? "\(code)" : "\(code) \(reason)"))
  }

  @Test func `fields keep their order and are found in any case`() {
    var fields: HTTPFields = [.contentType: "text/plain", "x-a": "1"]
    fields.append("x-b", "2")
    fields.append("X-A", "3")
    #expect(fields.map(\.name) == ["content-type", "x-a", "x-b", "x-a"])
    #expect(fields["X-a"] == "1, 3")
    #expect(fields.values("x-a") == ["1", "3"])
    #expect(fields.first("x-a") == "1")
    fields["x-a"] = "4"
    #expect(fields.map(\.value) == ["text/plain", "2", "4"])
    fields["x-b"] = nil
    #expect(!fields.contains("x-b") && fields.count == 2)
  }

  @Test func `a value never contains a line's end`() {
    let fields: HTTPFields = ["x": " \t a\r\nb\0c \t"]
    #expect(fields["x"] == "a  b c")
    let name = "y: 1\r\nz"
    #expect(([HTTPFieldName(stringLiteral: name): "2"] as HTTPFields).isEmpty)
  }

  @Test func `names that are no tokens are none`() {
    for bad in ["", "a b", "a:", "ä", "a\r", "\u{7F}", "(", "a/b", "\u{0}"] {
      #expect(HTTPFieldName(bad as String) == nil)
    }
    let token = "!#$%&'*+-.^_`|~09AZaz"
    #expect(HTTPFieldName(token as String)?.lowercased == token.lowercased())
    let count = (0...255).count { HTTPFieldName.isTokenByte(UInt8($0)) }
    #expect(count == 77)
  }

  @Test func `fields of a parsed head are found where they lie`() {
    let head = Array("GET / HTTP/1.1\r\nHoSt: a\r\nX: \r\n\r\n".utf8)
    let fields = HTTPFields(
      buffer: head,
      spans: [
        .init(nameStart: 16, nameCount: 4, valueStart: 22, valueCount: 1),
        .init(nameStart: 25, nameCount: 1, valueStart: 28, valueCount: 0),
      ])
    #expect(fields[.host] == "a" && fields["x"] == "")
    #expect(fields == ["host": "a", "x": ""])
    #expect(fields.hashValue == (["host": "a", "x": ""] as HTTPFields).hashValue)
    #expect(HTTPFields(buffer: head, spans: [.init(nameStart: 30, nameCount: 9, valueStart: 0, valueCount: 1)]).isEmpty)
  }

  @Test func `secrets are left out of descriptions`() {
    let fields: HTTPFields = ["authorization": "Bearer secret", "x": "1"]
    #expect(fields.description == "authorization: …\nx: 1")
  }

  @Test(
    arguments: [
      ([:], "http://h:1"), (["x-forwarded-proto": "HTTPS"], "https://h:1"),
      (["x-forwarded-proto": "http"], "http://h:1"),
      (["x-forwarded-proto": "javascript"], "http://h:1"), (["x-forwarded-proto": ""], "http://h:1"),
    ] as [(HTTPFields, String)])
  func `the origin of a request has the scheme that a proxy was reached by`(fields: HTTPFields, origin: String) {
    #expect(HTTPRequest(.get, "/a", authority: "h:1", fields: fields).origin == origin)
  }
}

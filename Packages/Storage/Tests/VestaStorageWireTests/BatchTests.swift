import Testing
import VestaBytes
import VestaStorageBackend
import VestaStorageWire
import VestaTesting

@Suite struct BatchTests {
  private let type = "multipart/mixed; boundary=\"==1==\""

  private func body(_ parts: String..., lineBreak: String) -> [UInt8] {
    let text = parts.map { "--==1==\n\($0)\n" }.joined() + "--==1==--\n"
    return utf8(text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: lineBreak))
  }

  @Test(arguments: ["\n", "\r\n"])
  func `calls are read whatever ends their lines`(lineBreak: String) throws {
    let change =
      "Content-Type: application/http\nContent-ID: <a+1>\n\n"
      + "PATCH /storage/v1/b/b/o/a%2Fb?x=y HTTP/1.1\nContent-Type: application/json\nContent-Length: 2\n\n{}"
    let absolute = "content-type: application/http\n\nDELETE http://localhost:1/storage/v1/b/b/o/c HTTP/1.1\n\n"
    // Some libraries write an empty line after the body: the length says where it ends.
    let long = "Content-Type: application/http\n\nPUT /b/d HTTP/1.1\nContent-Length: 3\n\n{ }\n\n"
    let calls = try BatchWire.calls(contentType: type, body: body(change, absolute, long, lineBreak: lineBreak))
    #expect(
      calls == [
        BatchCall(
          id: "<a+1>", "PATCH", "/storage/v1/b/b/o/a%2Fb?x=y",
          fields: [.init("content-type", "application/json"), .init("content-length", "2")], body: utf8("{}")),
        BatchCall("DELETE", "/storage/v1/b/b/o/c"),
        BatchCall("PUT", "/b/d", fields: [.init("content-length", "3")], body: utf8("{ }")),
      ])
  }

  @Test func `what is no batch is refused`() {
    let call = "Content-Type: application/http\n\nGET /b HTTP/1.1\n\n"
    let whole = body(call, lineBreak: "\n")
    for wrong in ["multipart/related; boundary=b", "multipart/mixed", "application/json", ""] {
      #expect(throws: BytesError.self) { try BatchWire.calls(contentType: wrong, body: whole) }
    }
    for wrong in [
      [], body(lineBreak: "\n"), Array(whole.dropLast(4)), body("no part", lineBreak: "\n"),
      body("a: b\n\nGET\n\n", lineBreak: "\n"), body("a: b\n\nGET ftp://x/ HTTP/1.1\n\n", lineBreak: "\n"),
    ] {
      #expect(throws: BytesError.self) { try BatchWire.calls(contentType: type, body: wrong) }
    }
    let many = utf8(String(repeating: "--==1==\n\(call)\n", count: 101) + "--==1==--\n")
    #expect(throws: BytesError.self) { try BatchWire.calls(contentType: type, body: many) }
  }

  @Test func `damaged batches are refused or read, and nothing else`() {
    let call = "Content-Type: application/http\n\nPUT /b/c/o/d HTTP/1.1\nContent-Length: 3\n\n{ }"
    let whole = body(call, call, lineBreak: "\r\n")
    for seed in 0..<2_000 as Range<UInt64> {
      var random = SplitMix(seed: seed)
      _ = try? BatchWire.calls(contentType: type, body: random.damaged(whole))
    }
  }

  @Test func `answers name the parts that they are for`() {
    let body = BatchWire.body(of: [
      BatchAnswer(id: "<a>", status: 200, reason: "OK", contentType: "application/json", body: utf8("{\n}")),
      BatchAnswer(id: nil, status: 204, reason: "No Content"),
    ])
    #expect(
      text(body) == """
        --batch_vesta\r
        Content-Type: application/http\r
        Content-ID: <response-a>\r
        \r
        HTTP/1.1 200 OK\r
        Content-Type: application/json\r
        Content-Length: 3\r
        \r
        { }\r
        --batch_vesta\r
        Content-Type: application/http\r
        \r
        HTTP/1.1 204 No Content\r
        Content-Length: 0\r
        \r
        \r
        --batch_vesta--\r

        """)
  }
}

@Suite struct CompositionTests {
  @Test func `a composition has sources with their generations, and metadata`() throws {
    let json = """
      {"sourceObjects":[{"name":"a","generation":"7"},{"name":"b","generation":null,
      "objectPreconditions":{"ifGenerationMatch":8}}],"destination":{"contentType":"a/b"},"deleteSourceObjects":true}
      """
    let body = try ComposeBody(json: utf8(json))
    #expect(
      body.sources == [
        ComposeBody.Source(name: "a", generation: 7), ComposeBody.Source(name: "b", ifGenerationMatch: 8),
      ])
    #expect(body.destination.metadata.contentType == "a/b" && body.deletesSources)
    for wrong in [
      "", "{}", #"{"sourceObjects":[]}"#, #"{"sourceObjects":[{}]}"#, #"{"sourceObjects":[{"name":""}]}"#,
      #"{"sourceObjects":[{"name":"a","generation":"x"}]}"#, #"{"sourceObjects":[{"name":"a","generation":-1}]}"#,
    ] {
      #expect(throws: BytesError.self) { try ComposeBody(json: utf8(wrong)) }
    }
    func sources(_ count: Int) throws -> Int {
      let many = Array(repeating: #"{"name":"a"}"#, count: count).joined(separator: ",")
      return try ComposeBody(json: utf8(#"{"sourceObjects":[\#(many)]}"#)).sources.count
    }
    #expect(try sources(1) == 1 && sources(32) == 32)
    #expect(throws: BytesError.self) { try sources(33) }
  }

  @Test(arguments: [
    ("a*", ["a", "ab"], ["", "ba", "a/b"]), ("a**", ["a", "a/b/c"], ["b"]), ("**/c", ["a/c", "a/b/c"], ["c", "a/cd"]),
    ("?", ["a", "é"], ["", "/", "ab"]), ("[a-c]x", ["ax", "cx"], ["dx", "x", "-x"]), ("[!a-c]", ["d"], ["a", "/", ""]),
    ("[]a]", ["]", "a"], ["b"]), ("{a,b*}.txt", ["a.txt", "bc.txt"], ["c.txt", "a.tx", "b/c.txt"]),
    ("{,a}b", ["b", "ab"], ["a"]),
    (#"\*\?"#, ["*?"], ["ab"]), ("", [""], ["a"]),
  ])
  func `patterns match whole names`(pattern: String, names: [String], others: [String]) throws {
    let pattern = try NamePattern(pattern)
    for name in names { #expect(pattern.matches(name), "\(name)") }
    for name in others { #expect(!pattern.matches(name), "\(name)") }
  }

  @Test func `many stars are no more work than their number times the length of the name`() throws {
    let pattern = try NamePattern(String(repeating: "*?", count: 40) + "{*,*b}")
    #expect(pattern.matches(String(repeating: "a", count: 80)))
    #expect(!pattern.matches(String(repeating: "a", count: 80) + "/"))
  }

  @Test func `patterns that do not end are refused`() {
    for wrong in ["[", "[a", "{a", "{a,{b}}", "[b-a]", String(repeating: "a", count: 1_025)] {
      #expect(throws: BytesError.self) { try NamePattern(wrong) }
    }
  }
}

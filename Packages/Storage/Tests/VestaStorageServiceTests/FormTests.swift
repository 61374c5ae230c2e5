import Testing
import VestaBytes
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageEndpoints
import VestaStorageWire
import VestaTesting
import VestaTransportInterop

@testable import VestaStorageService

/// Forms with a policy, as `generate_signed_post_policy_v4` of Google's library for Python makes them.
@Suite struct FormTests {
  private let server: EndpointServer
  private let bucket = "demo.appspot.com"

  init() throws { server = try EndpointServer() }

  private func serve(isDevelopment: Bool = true) async throws {
    try await server.listen(server.host(server.engine(), isDevelopment: isDevelopment))
  }

  private typealias Answer = (status: Int, fields: HTTPFields, text: String)

  private func send(
    _ method: HTTPMethod, _ target: String, _ body: [UInt8] = [], _ fields: HTTPFields = [:]
  ) async throws -> Answer {
    let answer = try await server.send(method, target, fields, body)
    return (answer.status, answer.fields, String(decoding: answer.body, as: UTF8.self))
  }

  private func form(
    _ fields: [(String, String)], file: String? = "hello", named name: String = "my;cat.txt", path: String? = nil
  ) async throws -> Answer {
    var text = ""
    for (name, value) in fields {
      text += "--b\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
    }
    if let file {
      text +=
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\(name)\"\r\nContent-Type: a/b\r\n\r\n"
      text += "\(file)\r\n--b\r\nContent-Disposition: form-data; name=\"submit\"\r\n\r\nUpload\r\n"
    }
    return try await send(
      .post, path ?? "/\(bucket)/", Array("\(text)--b--\r\n".utf8), ["content-type": "multipart/form-data; boundary=b"])
  }

  private func policy(_ conditions: String, seconds: Int64 = 60) -> String {
    let time = RFC3339.text(microseconds: (server.clock.seconds + seconds) * 1_000_000)
    return Base64.standard.encode(
      Array(#"{"conditions":[{"bucket":"\#(bucket)"},\#(conditions)],"expiration":"\#(time)"}"#.utf8))
  }

  private func code(_ answer: Answer) -> String {
    String(answer.text.split(separator: "Code>").dropFirst().first?.prefix { $0 != "<" } ?? "\(answer.status)")
  }

  @Test func `a form uploads what its policy allows`() async throws {
    try await serve()
    let policy = policy(
      #"["starts-with","$key","u/"],{"Content-Type":"text/plain"},["eq","$x-goog-meta-k","v"],["content-length-range",5,5],{"success_action_status":"201"},{"x-goog-date":"d"}"#
    )
    let fields = [
      ("key", "u/${filename}"), ("Content-Type", "text/plain"), ("x-goog-meta-k", "v"), ("x-goog-date", "d"),
      ("success_action_status", "201"), ("x-ignore-me", "x"), ("policy", policy), ("x-goog-signature", "00"),
    ]
    let made = try await form(fields)
    #expect(made.status == 201 && made.text.contains("<Key>u/my;cat.txt</Key>"), "\(made.text)")
    let read = try await send(.get, "/\(bucket)/u/my;cat.txt")
    #expect(read.text == "hello" && read.fields["content-type"] == "text/plain")
    #expect(read.fields["x-goog-meta-k"] == "v")
    for (file, word) in [("hell", "EntityTooSmall"), ("hello!", "EntityTooLarge")] {
      #expect(code(try await form(fields, file: file)) == word)
    }
    #expect(try await send(.get, "/\(bucket)/u/my;cat.txt").text == "hello")
  }

  @Test(arguments: ["cat.txt", "/home/ada/cat.txt", "ada/cat.txt"])
  func `the name of a file is the last part of the path that a browser may send`(name: String) async throws {
    try await serve()
    let policy = policy(#"["starts-with","$key","u/"]"#)
    #expect(try await form([("key", "u/${filename}"), ("policy", policy)], named: name).status == 204)
    #expect(try await send(.get, "/\(bucket)/u/cat.txt").text == "hello")
  }

  @Test func `a form that its policy does not allow uploads nothing`() async throws {
    try await serve()
    let own = policy(#"{"key":"a"}"#)
    for (fields, word) in [
      ([("key", "b"), ("policy", own)], "InvalidPolicyDocument"),
      ([("key", "a"), ("acl", "public-read"), ("policy", own)], "InvalidPolicyDocument"),
      ([("key", "a"), ("policy", policy(#"{"key":"a"},{"acl":"private"}"#))], "InvalidPolicyDocument"),
      ([("key", "a"), ("policy", policy(#"{"key":"a"},["ends-with","$key","a"]"#))], "InvalidPolicyDocument"),
      ([("key", "a"), ("policy", "no base64")], "InvalidPolicyDocument"),
      ([("key", "a"), ("policy", policy(#"{"key":"a"}"#, seconds: -1))], "ExpiredToken"),
      ([("policy", own)], "InvalidArgument"),
    ] as [([(String, String)], String)] {
      let answer = try await form(fields)
      #expect(answer.status == 400 && code(answer) == word, "\(fields): \(answer.text)")
    }
    #expect(code(try await form([("key", "a"), ("policy", own)], file: nil)) == "InvalidArgument")
    #expect(code(try await form([("key", "a"), ("policy", own)], path: "/other-bucket")) == "InvalidPolicyDocument")
    #expect(try await send(.get, "/\(bucket)/a").status == 404)
    #expect(try await form([("key", "a"), ("policy", own)]).status == 204)
    #expect(try await send(.get, "/\(bucket)/a").text == "hello")
  }

  @Test func `a form has one file, whatever the letters of its type`() async throws {
    try await serve()
    func part(_ name: String, _ text: String) -> String {
      "--b\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(text)\r\n"
    }
    let type: HTTPFields = ["content-type": "Multipart/Form-Data; Boundary=b"]
    for (key, parts, status) in [
      ("two", [part("file", "one"), part("file", "two")], 400),
      ("apart", [part("file", "one"), part("submit", "x"), part("File", "two")], 400),
      ("none", [], 400), ("one", [part("file", "one"), part("submit", "x")], 204),
    ] {
      let body = Array("\(part("key", key))\(parts.joined())--b--\r\n".utf8)
      let answer = try await send(.post, "/\(bucket)/", body, type)
      #expect(answer.status == status, "\(key): \(answer.text)")
      if parts.count > 1, status == 400 { #expect(code(answer) == "IncorrectNumberOfFilesInPostRequest") }
      #expect(try await send(.get, "/\(bucket)/\(key)").status == (status == 204 ? 200 : 404), "\(key)")
    }
  }

  @Test func `a form leads to the page that it names`() async throws {
    try await serve()
    let page = "http://app.example/done?x=1"
    let policy = policy(#"{"key":"é"},{"success_action_redirect":"\#(page)"}"#)
    let answer = try await form([("key", "é"), ("success_action_redirect", page), ("policy", policy)])
    #expect(answer.status == 303)
    #expect(answer.fields["location"]?.hasPrefix("\(page)&bucket=\(bucket)&key=%C3%A9&etag=") == true)
  }

  @Test func `a server that is not for development wants a credential for a form`() async throws {
    try await serve(isDevelopment: false)
    #expect(try await form([("key", "a"), ("policy", policy(#"{"key":"a"}"#))]).status == 401)
  }

  @Test func `forms are read in pieces of any length`() throws {
    let file = "--x\r\n--\r\n-\r\n"
    let body = Array(
      "--x\r\nContent-Disposition: form-data; name=empty\r\n\r\n\r\n--x\r\nContent-Disposition: form-data; name=\"k\"\r\nX: y\r\n\r\nv\r\nw\r\n--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n\(file.dropFirst(5))\r\n--x--\r\n"
        .utf8)
    for length in 1...body.count {
      var machine = try FormDataMachine(contentType: "multipart/form-data; boundary=\"x\"")
      var fields: [FormDataMachine.Event] = []
      var bytes: [UInt8] = []
      for start in stride(from: 0, to: body.count, by: length) {
        for event in try machine.received(Array(body[start..<min(start + length, body.count)])) {
          if case .bytes(let more) = event { bytes += more } else { fields.append(event) }
        }
      }
      #expect(
        fields == [.field(name: "empty", value: ""), .field(name: "k", value: "v\r\nw"), .file(name: ""), .end]
          && machine.isEnded)
      #expect(String(decoding: bytes, as: UTF8.self) == String(file.dropFirst(5)))
    }
    var small = try FormDataMachine(contentType: "multipart/form-data; boundary=x", maximumFields: 60)
    #expect(throws: BytesError.self) {
      for byte in body { _ = try small.received([byte]) }
    }
  }
}

import Testing
import VestaBytes
import VestaStorageWire
import VestaTesting

/// Forms with a file, the policies that allow them, and the lists of uploads in parts.
@Suite struct FormWireTests {
  private static func form(_ parts: (head: String, content: String)...) -> [UInt8] {
    utf8(
      parts.map { "--b\r\nContent-Disposition: form-data; \($0.head)\r\n\r\n\($0.content)\r\n" }.joined() + "--b--\r\n")
  }

  private func read(_ body: [UInt8]) throws -> [FormDataMachine.Event] {
    // Bytes of the file arrive in pieces of any length: neighbours are joined.
    try Feeding.verify(body) { pieces in
      var machine = try FormDataMachine(contentType: "multipart/form-data; boundary=b")
      var joined: [FormDataMachine.Event] = []
      for event in try pieces.flatMap({ try machine.received($0) }) {
        if case .bytes(let more) = event, case .bytes(let bytes)? = joined.last {
          joined[joined.count - 1] = .bytes(bytes + more)
        } else {
          joined.append(event)
        }
      }
      return joined
    }
  }

  @Test func `a form is read alike in any pieces, with its file and the parts after it`() throws {
    let body = Self.form(
      ("name=\"key\"", "a b"), ("name=\"file\"; filename=\"x;y.txt\"\r\nContent-Type: a/b", "--hello\r\n"),
      ("name=\"submit\"", "Upload"))
    let events: [FormDataMachine.Event] = [
      .field(name: "key", value: "a b"), .file(name: "x;y.txt"), .bytes(utf8("--hello\r\n")), .end,
    ]
    #expect(try read(body) == events)
    let two = Self.form(("name=\"file\"; filename=\"x\"", "1"), ("name=\"file\"; filename=\"y\"", "2"))
    // Of the second file there is the event that it begins.
    #expect(try read(two) == [.file(name: "x"), .bytes(utf8("1")), .end, .file(name: "")])
    let last = Self.form(
      ("name=\"file\"; filename=\"x\"", "1"), ("name=\"submit\"", "2"), ("name=\"file\"; filename=\"y\"", "3"))
    #expect(try read(last) == [.file(name: "x"), .bytes(utf8("1")), .end, .file(name: "")])
  }

  @Test func `a policy has a length with bounds in their order`() throws {
    func policy(_ range: String) throws -> PolicyDocument {
      let json = #"{"expiration":"2026-01-01T00:00:00Z","conditions":[["content-length-range",\#(range)]]}"#
      return try PolicyDocument(Base64.standard.encode(utf8(json)))
    }
    #expect(try policy("1,1000").length == 1...1_000 && policy("5,5").length == 5...5)
    for wrong in ["2,1", "-1,1", "\"a\",1"] {
      #expect(throws: BytesError.self, "\(wrong)") { _ = try policy(wrong) }
    }
  }

  @Test func `a name that ends with the delimiter is a common prefix`() {
    let uploads = ["a/", "a/b", "b", "c//"].map { PartsWire.Upload(key: $0, id: "i", start: 0) }
    let list = text(PartsWire.list(uploads, by: PartsWire.UploadsRequest(bucket: "b", delimiter: "/")))
    #expect(list.contains("<CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes>"))
    #expect(list.contains("<CommonPrefixes><Prefix>c/</Prefix></CommonPrefixes>"))
    #expect(list.split(separator: "<Key>").count == 2 && list.contains("<Key>b</Key>"))
    let only = PartsWire.list([uploads[0]], by: PartsWire.UploadsRequest(bucket: "b", delimiter: "/"))
    #expect(text(only).contains("<Prefix>a/</Prefix>") && !text(only).contains("<Key>"))
    let below = PartsWire.list(
      [.init(key: "x/y//", id: "i", start: 0)],
      by: PartsWire.UploadsRequest(bucket: "b", prefix: "x/", delimiter: "//"))
    #expect(text(below).contains("<Prefix>x/y//</Prefix>"))
  }
}

import Testing
import VestaBytes
import VestaFirestoreWire
import VestaTesting

/// Bodies that are read in pieces.
@Suite struct WebChannelBodyReaderTests {
  private func read(
    _ bytes: [UInt8], _ random: inout SplitMix, limit: Int = 1_000
  ) throws(BytesError) -> [WebChannelBody.Message] {
    var reader = WebChannelBodyReader(maximumMessageBytes: limit, maximumMessages: 20)
    var (messages, start) = ([WebChannelBody.Message](), 0)
    while start < bytes.count {
      let end = min(bytes.count, start + 1 + random.below(9))
      messages += try reader.received(Array(bytes[start..<end]))
      start = end
    }
    return messages + (try reader.finished())
  }

  @Test func `pieces make the messages of the whole`() throws {
    var random = SplitMix(seed: 3)
    for _ in 0..<2_000 {
      let first = random.below(50)
      let texts = (0..<random.below(6)).map { _ in
        String((0..<random.below(9)).map { _ in "a%+& =é漢{\"".randomElement(using: &random) ?? "b" })
      }
      let body = WebChannelBody(
        headers: [.init("a", "b=c&d")], messages: texts.enumerated().map { .init(first + $0, $1) })
      #expect(try read(body.bytes, &random) == body.messages)
    }
    let plus = Array("count=1&ofs=7&req0___data__=a+b%2B".utf8)
    #expect(try read(plus, &random) == [.init(7, "a b+")])
  }

  @Test func `a message that is too large has no text, and the others theirs`() throws {
    var random = SplitMix(seed: 4)
    let body = WebChannelBody(messages: [.init(3, "one"), .init(4, String(repeating: "x", count: 11)), .init(5, "two")])
    #expect(try read(body.bytes, &random, limit: 10) == [.init(3, "one"), .init(4, ""), .init(5, "two")])
  }

  @Test func `hostile bodies are messages or an error`() throws {
    var random = SplitMix(seed: 5)
    for text in [
      "req0___data__=x&ofs=0", "ofs=0&req0___data__=%4", "ofs=0&req0___data__=%zz", "ofs=0&req0___data__=%ff",
      "ofs=x", "ofs=0&reqx___data__=1", String(repeating: "n", count: 100),
    ] { #expect(throws: BytesError.self, "\(text)") { _ = try read(Array(text.utf8), &random) } }
    let many = "ofs=0" + (0..<21).map { "&req\($0)___data__=1" }.joined()
    #expect(throws: BytesError.self) { _ = try read(Array(many.utf8), &random) }
    let body = Array("headers=a%3Ab&count=2&ofs=4&req0___data__=%7B%7D&req1___data__=%7B%7D".utf8)
    var refused = 0
    for _ in 0..<20_000 {
      var bytes = body
      for _ in 0...random.below(3) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
      do { _ = try read(bytes, &random) } catch { refused += 1 }
    }
    #expect(refused > 1_000 && refused < 19_000, "\(refused)")
  }
}

import Testing
import VestaTesting
import VestaTransportInterop

@Suite struct EventAndURLTests {
  private func read(_ pieces: [[UInt8]]) throws -> [ServerSentEvent] {
    var reader = ServerSentEventReader()
    return try pieces.flatMap { try reader.read($0) }
  }

  @Test func `what is written is read`() throws {
    let events = [
      ServerSentEvent("one"), ServerSentEvent("a\nb\n\nc", name: "put", id: "7", retry: 500), ServerSentEvent(""),
      ServerSentEvent(" spaces ", name: "x"), ServerSentEvent("äöü😀"),
    ]
    let bytes = events.flatMap(\.encoded) + ServerSentEvent.keepAlive
    #expect(try Feeding.verify(bytes, read) == events)
  }

  @Test func `streams are read as the standard says`() throws {
    let text =
      "\u{FEFF}data: a\r\ndata:b\rdata\n\r\n:comment\nevent: only\n\nid: 1\u{0}\nid: 2\nretry: x\nfoo\ndata: c\n\ndata: lost"
    let expected = [ServerSentEvent("a\nb\n"), ServerSentEvent("c", id: "2")]
    #expect(try Feeding.verify(Array(text.utf8), read) == expected)
  }

  @Test func `no name, id or data can end its line`() throws {
    let event = ServerSentEvent("a\r\nb\rc", name: "x\nid: 9", id: "1\r2")
    #expect(try read([event.encoded]) == [ServerSentEvent("a\nb\nc", name: "x id: 9", id: "1 2")])
  }

  @Test func `an event beyond the limit is refused`() {
    var reader = ServerSentEventReader(limit: 10)
    #expect(throws: TransportError.self) { try reader.read(Array("data: 0123456789".utf8)) }
  }

  @Test func `random bytes never stop the reader`() throws {
    var random = SplitMix(seed: 11)
    for _ in 0..<500 {
      let bytes = (0..<200).map { _ in random.pick(Array("\r\n:dateivnt x\u{0}".utf8)) }
      try Feeding.verify(bytes, rounds: 1, read)
    }
  }

  @Test func `URLs are cut into what a request needs`() {
    let url = HTTPURL("HTTPS://Example.com:8443/a%20b?c#d")
    #expect(url?.scheme == "https" && url?.host == "example.com" && url?.port == 8443)
    #expect(url?.target == "/a%20b?c" && url?.authority == "example.com:8443" && url?.isSecure == true)
    #expect(HTTPURL("http://h")?.target == "/" && HTTPURL("http://h?q")?.target == "/?q")
    #expect(HTTPURL("ws://h:80/")?.authority == "h" && HTTPURL("http://h:/")?.port == 80)
    #expect(HTTPURL("http://[::1]:8080/")?.authority == "[::1]:8080" && HTTPURL("http://[::1]/")?.host == "::1")
    if let url = HTTPURL("wss://h/x") { #expect(HTTPRequest(.get, url).scheme == "https") }
  }

  @Test(arguments: [
    "", "http", "http:", "http:/a", "http://", "http:///a", "http://:80", "ftp://h/", "http://a@b/", "http://h:x/",
    "http://h:65536/", "http://h:-1/", "http://[::1/", "http://[x]/", "http://[::1]x/", "http://h /", "http://h/\r\nx",
    "http://h/ä", "http://h\\@i/", "//h/", "http://a b/", "http://h:1:2/",
  ])
  func `what is no URL is refused`(text: String) { #expect(HTTPURL(text) == nil) }

  @Test func `authorities are split`() {
    #expect(HTTPURL.split(authority: "a:1")?.port == 1)
    #expect(HTTPURL.split(authority: "[fe80::1]")?.host == "fe80::1")
    #expect(HTTPURL.split(authority: "a:b:c") == nil)
  }
}

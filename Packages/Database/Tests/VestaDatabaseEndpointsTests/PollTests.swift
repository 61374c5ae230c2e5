import Testing
import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseWire
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaDatabaseEndpoints
@testable import VestaDatabaseService

/// Connections by long polling.
@Suite struct PollTests {
  /// A client that polls, as a browser's does.
  private final class Client {
    let server: Endpoints
    let id: String
    let password: String
    let hello: String
    private var nextSegment = 0
    private var serial = 1

    init(_ server: Endpoints) async throws {
      self.server = server
      let answer = try await server.send(.get, "/.lp?start=t&ser=1&cb=7&v=5&ns=demo")
      #expect(answer.fields[.contentType] == DatabasePollAnswer.contentType)
      hello = answer.text
      let parts = hello.split(separator: "\"")
      let command = try #require(parts.firstIndex { $0.contains("pLPCommand('start',") })
      (id, password) = (String(parts[command + 1]), String(parts[command + 3]))
    }

    func target(_ messages: [String] = []) -> String {
      serial += 1
      var target = "/.lp?id=\(id)&pw=\(password)&ser=\(serial)&ns=demo"
      var index = 0
      for message in messages {
        for segment in DatabasePoll.segments(of: Array(message.utf8), from: nextSegment) {
          target += "&seg\(index)=\(segment.number)&ts\(index)=\(segment.count)&d\(index)=\(segment.text)"
          (index, nextSegment) = (index + 1, segment.number + 1)
        }
      }
      return target
    }

    func poll(_ messages: [String] = []) async throws -> String {
      try await server.send(.get, target(messages)).text
    }
  }

  private func request(_ id: Int, _ action: String, _ body: String) -> String {
    #"{"t":"d","d":{"r":\#(id),"a":"\#(action)","b":\#(body)}}"#
  }

  @Test func `a session is greeted, and its requests are answered by its polls`() async throws {
    let server = try await Endpoints()
    let client = try await Client(server)
    #expect(client.hello.contains(#"pRTLPCB(0,[{"t":"c","d":{"t":"h""#) && client.hello.contains("pRTLPCB7"))
    let first = try await client.poll([request(1, "p", #"{"p":"/a","d":"<x>"}"#)])
    #expect(first == #"pRTLPCB(1,[{"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}]);"# + "\n")
    let second = try await client.poll([request(2, "g", #"{"p":"/a","q":{}}"#)])
    #expect(second.hasPrefix("pRTLPCB(2,[") && second.contains(#""d":"\u003cx>""#))
    // A long message arrives in segments.
    let long = String(repeating: "y", count: 10_000)
    #expect(try await client.poll([request(3, "p", #"{"p":"/a","d":"\#(long)"}"#)]).contains(#""s":"ok""#))
    #expect(try await server.send(.get, "/a.json?ns=demo").text == #""\#(long)""#)
  }

  @Test func `a change is sent to the poll that waits, and a newer poll ends the older one`() async throws {
    let server = try await Endpoints()
    let client = try await Client(server)
    var answers = try await client.poll([request(1, "q", #"{"p":"/a","h":""}"#)])
    while !answers.contains(#""r":1,"#) { answers += try await client.poll() }
    let (first, second) = (client.target(), client.target())
    async let older = server.send(.get, first).text
    try await eventually { server.network.exchangeCount == 1 }
    async let newer = server.send(.get, second).text
    #expect(try await older.hasSuffix(",[]);\n"))
    _ = try await server.send(.put, "/a.json?ns=demo", "5")
    #expect(try await newer.contains(#""a":"d""#))
  }

  @Test func `a poll is answered after a while, and a session that is not polled ends`() async throws {
    let server = try await Endpoints()
    let client = try await Client(server)
    #expect(try await client.poll([request(1, "o", #"{"p":"/gone","d":1}"#)]).contains(#""s":"ok""#))
    let target = client.target()
    async let held = server.send(.get, target).text
    try await eventually { server.network.exchangeCount == 1 && server.clock.deadlines.count >= 2 }
    server.clock.advance(by: .seconds(46))
    #expect(try await held.hasSuffix(",[]);\n"))
    server.clock.advance(by: .seconds(61))
    try await eventually { try await server.send(.get, "/gone.json?ns=demo").text == "1" }
    #expect(try await client.poll() == "pLPCommand('close');\n")
  }

  @Test func `a session ends when its page says so, and no other caller ends it`() async throws {
    let server = try await Endpoints()
    let client = try await Client(server)
    _ = try await client.poll([request(1, "o", #"{"p":"/gone","d":1}"#)])
    let page = try await server.send(.get, "/.lp?dframe=t&id=\(client.id)&pw=\(client.password)")
    #expect(page.text.contains("disconn=t&id=\(client.id)"))
    _ = try await server.send(.get, "/.lp?disconn=t&id=\(client.id)&pw=wrong")
    #expect(try await client.poll([request(2, "s", #"{"c":{}}"#)]).contains(#""r":2"#))
    _ = try await server.send(.get, "/.lp?disconn=t&id=\(client.id)&pw=\(client.password)")
    try await eventually { try await server.send(.get, "/gone.json?ns=demo").text == "1" }
    #expect(try await server.send(.get, "/.lp?id=none&pw=none&ser=1").text == "pLPCommand('close');\n")
    #expect(try await server.send(.get, "/.lp?start=t&ser=1&cb=alert(1)&v=5&ns=demo").status == 400)
  }

  @Test func `a server has a bounded number of sessions, and ends them when it shuts down`() async throws {
    var tuning = DatabaseEndpointsTuning()
    tuning.sessionLimit = 2
    let server = try await Endpoints(tuning: tuning)
    let clients = [try await Client(server), try await Client(server)]
    #expect(try await server.send(.get, "/.lp?start=t&ser=1&cb=7&v=5&ns=demo").status == 429)
    server.host.shutDown()
    for client in clients { #expect(try await client.poll() == "pLPCommand('close');\n") }
  }

  @Test func `what waits for polls is bounded`() async throws {
    var tuning = DatabaseEndpointsTuning()
    tuning.backlog = 1 << 18
    let server = try await Endpoints(tuning: tuning)
    let client = try await Client(server)
    _ = try await client.poll([request(1, "q", #"{"p":"/a","h":""}"#)])
    let text = "\"" + String(repeating: "x", count: 100_000) + "\""
    for _ in 0..<20 { _ = try await server.send(.put, "/a.json?ns=demo", text) }
    try await eventually { server.engine.watchCount(in: "demo") == 0 }
    var last = ""
    while last != "pLPCommand('close');\n" { last = try await client.poll() }
  }
}

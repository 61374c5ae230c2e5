import Testing
import VestaBytes
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaFirestoreEndpoints
import VestaFirestoreWire
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// Channels of browsers, without a connection.
@Suite(.timeLimit(.minutes(5))) struct ChannelTests {
  private let root = database + "/documents"

  private func serve() async throws -> Served {
    var tuning = FirestoreEndpointTuning()
    tuning.requestBytes = 2_000
    tuning.waitingWriteBytes = 100
    return try await .onFakeNetwork(tuning: tuning)
  }

  /// A channel as a browser sees it.
  private struct Channel {
    let handler: any HTTPHandler
    let target: String
    let session: WebChannelRequest.Session
    var last = 0

    init(_ handler: any HTTPHandler, _ call: String, _ message: String) async throws {
      self.handler = handler
      target = "/google.firestore.v1.Firestore/\(call)/channel?"
      let body = WebChannelBody(headers: [.init("authorization", "Bearer owner")], messages: [.init(0, message)])
      let query = "VER=8&RID=1&database=projects/contracts/databases/(default)"
      let response = try await Self.reply(
        handler, .post, target + query, .bytes(body.bytes))
      var frames = WebChannelFrameMachine()
      let opened = try frames.received(try await response.body.collect(upTo: 10_000))
      guard case .opened(let id, _)? = try WebChannelFrames.arrays(opened[0]).first?.array else {
        throw ServiceStatus(.internal, "not opened")
      }
      session = WebChannelRequest.Session(id: id, httpID: response.fields.first("x-http-session-id"))
    }

    private static func reply(
      _ handler: any HTTPHandler, _ method: HTTPMethod, _ target: String, _ body: HTTPBody
    ) async throws -> HTTPResponse {
      switch handler.reply(to: HTTPRequest(method, target, authority: "h", body: body)) {
      case .response(let made): return made
      case .task(let work): return try await work()
      case .webSocket: throw ServiceStatus(.internal, "a socket was opened")
      }
    }

    func delivery(of messages: WebChannelBody) -> HTTPBodyDelivery {
      let query = WebChannelRequest.forward(session, confirmed: last).query(number: 2)
      let length = "\(messages.bytes.count)"
      return handler.bodyDelivery(
        for: HTTPRequestHead(method: .post, target: target + query, fields: ["content-length": length]))
    }

    func send(_ messages: WebChannelBody) async throws -> Int {
      let query = WebChannelRequest.forward(session, confirmed: last).query(number: 2)
      let stream = ByteStream(limit: .max)
      for start in stride(from: 0, to: messages.bytes.count, by: 997) {
        stream.offer(Array(messages.bytes[start..<min(start + 997, messages.bytes.count)]))
      }
      stream.finish()
      return try await Self.reply(handler, .post, target + query, .stream(stream)).status.code
    }

    /// Sends a body that the server has collected.
    func post(_ messages: WebChannelBody) -> HTTPReply {
      let query = WebChannelRequest.forward(session, confirmed: last).query(number: 2)
      return handler.reply(to: HTTPRequest(.post, target + query, authority: "h", body: .bytes(messages.bytes)))
    }

    /// Waits until a response with the arrays that follow ends; `nil` for a refused request.
    mutating func wait() async throws -> [WebChannelArray]? {
      let query = WebChannelRequest.back(session, confirmed: last, .buffered(milliseconds: 60_000)).query(number: 0)
      let response = try await Self.reply(handler, .get, target + query, .empty)
      let body = try await response.body.collect(upTo: 100_000)
      guard response.status.code == 200 else { return nil }
      var frames = WebChannelFrameMachine()
      let arrays = try frames.received(body).flatMap { try WebChannelFrames.arrays($0) }
      last = arrays.last?.number ?? last
      return arrays.map(\.array)
    }

    /// The next messages of the service; `nil` at the end.
    mutating func data() async throws -> [JSONValue]? {
      while let arrays = try await wait() {
        let data = arrays.flatMap { array -> [JSONValue] in if case .data(let values) = array { values } else { [] } }
        if !data.isEmpty { return data }
      }
      return nil
    }
  }

  private func write(_ path: String, _ text: String, _ more: String = "") -> String {
    #"{"writes":[{"update":{"name":"\#(root)/\#(path)","fields":{"t":{"stringValue":"\#(text)"}}}\#(more)}]}"#
  }

  private func open(_ served: Served) async throws -> Channel {
    var channel = try await Channel(served.handler, "Write", #"{"database":"\#(database)"}"#)
    #expect(try await channel.data()?.first?.object?["streamToken"] != nil)
    return channel
  }

  @Test func `many writes that are far longer as a form are taken one by one`() async throws {
    let served = try await serve()
    var channel = try await open(served)
    let text = String(repeating: "漢字", count: 300)
    let body = WebChannelBody(messages: (1...5).map { .init($0, write("a/\($0)", text)) })
    #expect(channel.delivery(of: body) == .streamed && body.bytes.count > 25_000)
    #expect(try await channel.send(body) == 200)
    // It is sent again when its response was lost.
    #expect(try await channel.send(body) == 200)
    var answers = 0
    while answers < 5 { answers += try #require(await channel.data()).count }
    for number in 1...5 { #expect(try await served.engine.document("a/\(number)")?.fields == ["t": .string(text)]) }
    // Small bodies, and bodies of other calls and of unknown channels, are collected.
    #expect(channel.delivery(of: WebChannelBody(messages: [.init(6, "{}")])) == .collected(upTo: 2_000))
    let listen = try await Channel(served.handler, "Listen", #"{"removeTarget":9}"#)
    #expect(listen.delivery(of: body) == .collected(upTo: 2_000))
  }

  @Test func `a message that is none ends the stream after the answers to those before it`() async throws {
    let served = try await serve()
    var channel = try await open(served)
    let body = WebChannelBody(messages: [
      .init(1, write("a/1", "one")), .init(2, write("a/2", "two", #","delete":"x""#)), .init(3, write("a/3", "three")),
    ])
    #expect(try await channel.send(body) == 200)
    var answers: [JSONValue] = []
    while answers.count < 2 { answers += try #require(await channel.data()) }
    #expect(answers[0].object?["writeResults"] != nil)
    #expect(answers[1].object?["error"]?.object?["status"] == "INVALID_ARGUMENT")
    #expect(try await served.engine.document("a/1")?.fields == ["t": .string("one")])
    #expect(try await served.engine.document("a/3") == nil)
  }

  @Test func `a browser waits while the backend has much of what it sent`() async throws {
    let clock = ManualClock()
    let host = FakeEndpointHost(project: "contracts", clock: clock.service)
    let backend = HeldWrites(base: try await serve().engine)
    host.add((any FirestoreBackend).self, backend)
    var tuning = FirestoreEndpointTuning()
    tuning.waitingWriteBytes = 100
    let handler = FirestoreEndpoints(tuning: tuning).handler(in: host)
    var channel = try await Channel(handler, "Write", #"{"database":"\#(database)"}"#)
    backend.answers.yield([WriteResponse(streamID: "s", streamToken: [1])])
    #expect(try await channel.data()?.first?.object?["streamToken"] != nil)
    guard case .response(let first) = channel.post(WebChannelBody(messages: [.init(1, write("a/1", "one"))])) else {
      Issue.record("the backend had nothing")
      return
    }
    #expect(first.status == .ok)
    guard case .task(let second) = channel.post(WebChannelBody(messages: [.init(2, write("a/2", "two"))])) else {
      Issue.record("the browser does not wait")
      return
    }
    let timers = clock.deadlines.count
    let isAnswered = Locked(false)
    let answer = Task {
      defer { isAnswered.withLock { $0 = true } }
      return try await second().status
    }
    // The response is held: its request looks for room, and again when its pause has passed.
    for _ in 0..<2 {
      await clock.waitForTimers(timers + 1)
      #expect(backend.requests.entries.count == 2 && !isAnswered.withLock { $0 })
      clock.advance(by: .milliseconds(20))
    }
    backend.answers.yield([WriteResponse(streamToken: [2])])
    while !isAnswered.withLock({ $0 }) {
      if clock.deadlines.count > timers { clock.advance(by: .milliseconds(20)) }
      await Task.yield()
    }
    #expect(try await answer.value == .ok)
    #expect(backend.requests.entries.count == 3)
  }

  /// A backend that answers writes when the test says so.
  private struct HeldWrites: ForwardingFirestoreBackend {
    let base: any FirestoreBackend
    let requests = Log<WriteRequest>()
    let responses: AsyncThrowingStream<[WriteResponse], any Error>
    let answers: AsyncThrowingStream<[WriteResponse], any Error>.Continuation

    init(base: any FirestoreBackend) {
      self.base = base
      (responses, answers) = AsyncThrowingStream.makeStream()
    }

    func backend(serving transaction: [UInt8]?) -> any FirestoreBackend { base }

    func write(database: String, context: CallContext) async throws(FirestoreServiceError) -> WriteCall {
      WriteCall(responses: responses, send: { requests.add($0) }, finish: {}, cancel: { answers.finish() })
    }
  }

  @Test func `a browser that has the error of a stream is told to close, and then knows nothing`() async throws {
    let served = try await serve()
    var channel = try await open(served)
    #expect(try await channel.send(WebChannelBody(messages: [.init(1, "no JSON")])) == 200)
    #expect(try await channel.data()?.first?.object?["error"] != nil)
    var ends: [[WebChannelArray]] = []
    while let arrays = try await channel.wait(), ends.count < 10 { ends.append(arrays) }
    #expect(ends.count <= 2 && ends.last == [.close], "\(ends)")
  }
}

import Testing
import VestaBytes
import VestaConcurrency
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// The common rules of all remote backends: identity, deadlines, and malformed answers.
@Suite(.timeLimit(.minutes(10))) struct RESTTests {
  private struct Failure: ServiceFailure, Equatable {
    let status: ServiceStatus
    init(_ status: ServiceStatus) { self.status = status }
  }

  private let network = FakeNetwork()

  /// A channel to a server that replies so.
  private func channel(
    host: String = "localhost", _ options: RESTOptions = RESTOptions(), clock: ServiceClock = .system,
    _ reply: @escaping @Sendable (HTTPRequest) -> HTTPReply
  ) async throws -> RESTChannel<Failure> {
    _ = try await network.listen(at: .internet(host: host, port: 80), handler: HTTPClosureHandler(reply))
    return RESTChannel(try RESTService(network, at: "http://\(host)", options: options, clock: clock))
  }

  /// The failure of a call that is answered so.
  private func failure(
    of call: RESTCall = RESTCall(.get, "/"), _ options: RESTOptions = RESTOptions(),
    context: CallContext = CallContext(), _ reply: @escaping @Sendable (HTTPRequest) -> HTTPReply
  ) async throws -> ServiceStatus? {
    let channel = try await channel(options, reply)
    let error = await #expect(throws: Failure.self) {
      try await channel.call(call, context: context) { try JSONObject(json: $0.body) }
    }
    return error?.status
  }

  @Test func `a context is read by a server as it was sent`() async throws {
    let clock = ManualClock()
    let seen = Locked<CallContext?>(nil)
    let options = RESTOptions(fields: [.userAgent: "u"], apiKey: "k", ownerToken: { "t" })
    let channel = try await channel(options, clock: clock.service) { request in
      seen.withLock { $0 = CallContext(request, project: nil, clock: clock.service) }
      return .response(.json(Array("{}".utf8)))
    }
    var context = CallContext(
      caller: .credential(.bearer("secret")), appCheck: .token("app"), locale: "de",
      deadline: clock.now + 2_500_000, requestID: "r1")
    context.trace = TraceContext(traceID: String(repeating: "a", count: 32), spanID: String(repeating: "b", count: 16))
    _ = try await channel.call(RESTCall(.get, "/"), context: context) { $0.status }
    var read = try #require(seen.withLock { $0 })
    (read.clientAddress, context.apiKey) = (nil, "k")
    #expect(read == context)
    _ = try await channel.call(RESTCall(.get, "/"), context: .owner) { $0.status }
    #expect(seen.withLock { $0?.caller } == .credential(.bearer("t")))
  }

  @Test func `an owner without a credential and a user without a token are not sent`() async throws {
    for caller in [CallContext.Caller.owner, .user(VerifiedUser(uid: "ada"))] {
      let status = try await RESTTests().failure(context: CallContext(caller: caller)) { _ in .response(.json([])) }
      #expect(status?.code == .unauthenticated)
    }
  }

  @Test(arguments: ["example.com", "localhost.example.com", "128.0.0.1", "127.0.0.1.example.com", "[::2]"])
  func `tokens are not sent in clear text to other machines`(host: String) async throws {
    let channel = RESTChannel<Failure>(try RESTService(network, at: "http://\(host)"))
    let error = await #expect(throws: Failure.self) {
      try await channel.call(
        RESTCall(.get, "/"), context: CallContext(caller: .credential(.idToken("t")))
      ) { $0.status }
    }
    #expect(error?.status.code == .failedPrecondition)
  }

  @Test(arguments: ["localhost", "a.localhost", "127.1.2.3"])
  func `tokens are sent to this machine`(host: String) async throws {
    let channel = try await channel(host: host) { .response(.json(Array(($0.fields[.authorization] ?? "").utf8))) }
    let sent = try await channel.call(
      RESTCall(.get, "/"), context: CallContext(caller: .credential(.idToken("t")))
    ) { $0.body }
    #expect(sent == Array("Bearer t".utf8))
  }

  @Test func `the name of a code counts before the status of HTTP`() async throws {
    let aborted = ServiceStatus(
      .aborted, "Again.", details: [.retryInfo(after: .milliseconds(2_500)), .badRequest(field: "f", description: "d")])
    let status = try await failure { _ in .response(.failure(aborted)) }
    #expect(status == aborted)
    let bare = try await RESTTests().failure { _ in .response(HTTPResponse(429, fields: ["retry-after": "7"])) }
    #expect(bare?.code == .resourceExhausted && bare?.retryAfter == .seconds(7))
  }

  @Test(arguments: [200, 302, 307, 400, 401, 403, 404, 407, 451, 502, 511])
  func `the page of a network in between is no answer of the service`(status: Int) async throws {
    let page = HTTPResponse(
      HTTPStatus(status), fields: [.contentType: "text/html; charset=utf-8"], body: .text("<html>Welcome</html>"))
    #expect(try await failure { _ in .response(page) }?.code == .unavailable)
  }

  @Test func `an answer that cannot be read, and one that is too long, fail`() async throws {
    for text in ["", "Welcome", "{\"a\":", "[1]"] {
      let status = try await RESTTests().failure { _ in .response(.json(Array(text.utf8))) }
      #expect(status?.code == .internal, "\(text)")
    }
    let long = try await failure(RESTOptions(maximumAnswer: 10)) { _ in
      .response(.json([UInt8](repeating: 32, count: 11)))
    }
    #expect(long?.code == .resourceExhausted)
  }

  @Test func `an answer that is cut is lost, or of unknown outcome where it must not be repeated`() async throws {
    for (isRepeatable, code) in [(true, ServiceCode.unavailable), (false, .deadlineExceeded)] {
      let status = try await RESTTests().failure(of: RESTCall(.post, "/", isRepeatable: isRepeatable)) { _ in
        let body = ByteStream()
        body.offer(Array("{".utf8))
        body.fail(TransportError(.connectionLost, "cut"))
        return .response(HTTPResponse(.ok, body: .stream(body)))
      }
      #expect(status?.code == code)
      let unreachable = RESTChannel<Failure>(try RESTService(FakeNetwork(), at: "http://localhost"))
      let error = await #expect(throws: Failure.self) {
        try await unreachable.call(RESTCall(.post, "/", isRepeatable: isRepeatable), context: CallContext()) {
          $0.status
        }
      }
      #expect(error?.status.code == .unavailable)
    }
  }

  @Test func `the deadline ends an answer that does not end`() async throws {
    let clock = ManualClock()
    let left = Latch()
    let channel = try await channel(clock: clock.service) { _ in
      let body = ByteStream()
      body.pipe.setDemand(nil, onCancel: { left.open() })
      return .response(HTTPResponse(.ok, body: .stream(body)))
    }
    let call = Task {
      try await channel.call(RESTCall(.get, "/"), context: CallContext(deadline: clock.now + 1_000)) { $0.status }
    }
    await clock.waitForTimers()
    clock.advance(by: .milliseconds(1))
    let error = await #expect(throws: Failure.self) { try await call.value }
    #expect(error?.status.code == .deadlineExceeded)
    await left.wait()
    let late = await #expect(throws: Failure.self) {
      try await channel.call(RESTCall(.get, "/"), context: CallContext(deadline: clock.now)) { $0.status }
    }
    #expect(late?.status.code == .deadlineExceeded)
  }

  @Test func `a call that is cancelled leaves the server`() async throws {
    let left = Latch()
    let began = Latch()
    let channel = try await channel { _ in
      let body = ByteStream()
      body.pipe.setDemand(nil, onCancel: { left.open() })
      began.open()
      return .response(HTTPResponse(.ok, body: .stream(body)))
    }
    let call = Task { try await channel.call(RESTCall(.get, "/"), context: CallContext()) { $0.status } }
    await began.wait()
    call.cancel()
    let error = await #expect(throws: Failure.self) { try await call.value }
    #expect(error?.status.code == .cancelled)
    await left.wait()
  }

  @Test func `a caller that is cancelled learns the answer of a call that wants so, until its time is over`()
    async throws
  {
    let (clock, arrived, gate) = (ManualClock(), Log<Void>(), Gate())
    let channel = try await channel(clock: clock.service) { _ in
      .task {
        arrived.add(())
        await gate.wait()
        return .json(Array("7".utf8))
      }
    }
    var call = RESTCall(.post, "/")
    call.answerGrace = .seconds(5)
    let ready = call
    let make = { Task { try await channel.call(ready, context: CallContext()) { $0.body } } }
    let given = make()
    await arrived.wait { $0.count == 1 }
    given.cancel()
    gate.open()
    #expect(try await given.value == Array("7".utf8))
    gate.close()
    let left = make()
    await arrived.wait { $0.count == 2 }
    left.cancel()
    clock.advance(by: .seconds(4))
    #expect(network.exchangeCount == 1)
    clock.advance(by: .seconds(1))
    #expect(await #expect(throws: Failure.self) { try await left.value }?.status.code == .cancelled)
    gate.open()
    let late = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await channel.call(ready, context: CallContext()) { $0.body }
    }
    #expect(await #expect(throws: Failure.self) { try await late.value }?.status.code == .cancelled)
    #expect(arrived.entries.count == 2)
  }

  @Test func `bodies are decompressed on both sides, within their limits`() async throws {
    // A compression that any test can read: the bytes after the two of gzip, twice.
    let twice = TransportCompression(name: "gzip") {
      [0x1F, 0x8B] + $0
    } decompress: { bytes, limit in
      let plain = bytes.dropFirst(2) + bytes.dropFirst(2)
      guard plain.count <= limit else { throw TransportError(.tooLarge, "large") }
      return Array(plain)
    }
    let handler = RESTHandler.make(bodyLimit: 20, compression: twice) { request in
      HTTPResponse(
        .ok, fields: [.contentEncoding: "gzip"],
        body: .bytes(try twice.compress(request.body == [9] ? [UInt8](repeating: 1, count: 200) : request.body)))
    }
    _ = try await network.listen(at: .internet(host: "localhost", port: 80), handler: handler)
    let options = RESTOptions(compression: twice, maximumAnswer: 300)
    let channel = RESTChannel<Failure>(try RESTService(network, at: "http://localhost", options: options))
    func send(_ body: [UInt8]) async throws(Failure) -> [UInt8] {
      try await channel.call(RESTCall(.post, "/", body: body), context: CallContext()) { $0.body }
    }
    #expect(try await send([0x1F, 0x8B, 7]) == [7, 7, 7, 7])
    for (body, code) in [
      ([0x1F, 0x8B] + [UInt8](repeating: 1, count: 11), ServiceCode.invalidArgument),
      ([UInt8](repeating: 1, count: 21), .invalidArgument), ([9], .resourceExhausted),
    ] {
      let error = await #expect(throws: Failure.self) { try await send(body) }
      #expect(error?.status.code == code)
    }
  }

  @Test func `a refusal of a body can be read by pages of other origins`() {
    let handler = RESTHandler.make(bodyLimit: 1) { _ in HTTPResponse() }
    let head = HTTPRequestHead(method: .post, target: "/", fields: [.origin: "https://app.example"])
    let response = handler.refusal(of: head, limit: 1)
    #expect(response.status.code == 413 && response.fields["access-control-allow-origin"] == "*")
    #expect(ErrorEnvelope(json: response.body.bytes ?? [])?.status == "INVALID_ARGUMENT")
  }
}

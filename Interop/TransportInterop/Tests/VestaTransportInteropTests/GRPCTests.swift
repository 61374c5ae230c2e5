import Testing
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInteropContracts
import VestaTransportInteropFakes

@testable import VestaTransportInterop

@Suite(.timeLimit(.minutes(10))) struct GRPCTests {
  @Test(arguments: GRPCContracts.all)
  func `the network in memory keeps every promise of gRPC`(contract: Contract<TransportSubject>) async throws {
    let network = FakeNetwork()
    try await contract.verify(TransportSubject(server: network, client: network))
    await network.close()
  }

  @Test(arguments: [
    (Duration.nanoseconds(1), "1n"), (.zero, "0n"), (.seconds(-1), "0n"), (.milliseconds(50), "50000000n"),
    (.milliseconds(100), "100000u"), (.seconds(99), "99000000u"), (.seconds(100), "100000m"),
    (.seconds(99_999), "99999000m"),
    (.seconds(100_000), "100000S"), (.seconds(99_999_998), "99999998S"), (.seconds(100_000_000), "27777H"),
    (.seconds(4_000_000_000_000), "99999999H"),
  ]) func `time-outs are written with eight digits at most`(timeout: Duration, text: String) {
    #expect(GRPCWire.text(of: timeout) == text)
    if timeout > .zero, timeout < .seconds(100_000_000) { #expect(GRPCWire.timeout(text) == timeout) }
  }

  @Test(arguments: ["", "5", "n", "1x", "-1n", "1.5S", "123456789n", "１S", " 1S"])
  func `what is no time-out is none`(text: String) { #expect(GRPCWire.timeout(text) == nil) }

  @Test(
    arguments: [
      (GRPCError(.notFound, ""), "5", nil), (GRPCError(.aborted, "a b%ü\n"), "10", "a b%25%C3%BC%0A"),
      (GRPCError(.internal, "x", details: [1, 2]), "13", "x"),
    ] as [(GRPCError, String, String?)])
  func `a failure is read from its trailers`(error: GRPCError, status: String, message: String?) {
    let fields = GRPCWire.trailers(error)
    #expect(fields.first("grpc-status") == status && fields.first("grpc-message") == message)
    let back = GRPCWire.error(fields)
    #expect(back?.code == error.code && back?.message == error.message && back?.details == error.details)
  }

  @Test func `trailers without a status, or with none of the numbers, are failures`() {
    #expect(GRPCWire.error([:])?.code == .internal)
    #expect(GRPCWire.error(["grpc-status": "x"])?.code == .internal)
    #expect(GRPCWire.error(["grpc-status": "99"])?.code == .unknown)
    #expect(GRPCWire.error(["grpc-status": "0"]) == nil)
    #expect(GRPCWire.error(["grpc-status": "3", "grpc-message": "100%"])?.message == "100%")
  }

  @Test(arguments: [200, 401, 403, 404, 502])
  func `the page of a network in between is no answer, whatever its status, and the call may be made again`(
    status: Int
  ) async throws {
    let network = FakeNetwork()
    let handler = HTTPClosureHandler { _ in
      let fields: HTTPFields = [.contentType: "text/html; charset=utf-8"]
      return .response(HTTPResponse(HTTPStatus(status), fields: fields, body: .text("<html>Welcome</html>")))
    }
    try network.serve(handler, at: .internet(host: "localhost", port: 80))
    let channel = GRPCChannel(network, authority: "localhost")
    let unary = await #expect(throws: GRPCError.self) {
      try await channel.unary("/w.W/Unary", [], isRepeatable: false)
    }
    let call = channel.open("/w.W/Stream")
    call.finish()
    let stream = await #expect(throws: GRPCError.self) { try await call.next() }
    #expect(unary?.code == .unavailable && stream?.code == .unavailable)
  }

  @Test(arguments: [
    ("application/grpc", true), ("application/grpc+proto", true), ("application/grpc;a=b", true),
    ("application/grpc-web", false), ("text/plain", false),
  ]) func `calls of gRPC are known by their content type`(type: String, isGRPC: Bool) {
    #expect(GRPCHandler.isGRPC(HTTPRequestHead(method: .post, target: "/", fields: [.contentType: type])) == isGRPC)
  }

  @Test func `what is no call of gRPC is answered with 415, and an unknown encoding with UNIMPLEMENTED`() throws {
    let handler = GRPCHandler(Nothing())
    func reply(_ fields: HTTPFields, _ method: HTTPMethod = .post) -> HTTPResponse? {
      let request = HTTPRequest(method, "/a.B/C", authority: "h", fields: fields, body: .bytes([0, 0, 0, 0, 0]))
      guard case .response(let response) = handler.reply(to: request) else { return nil }
      return response
    }
    #expect(reply([.contentType: "text/plain"])?.status == 415)
    #expect(reply([.contentType: "application/grpc"], .get)?.status == 415)
    let encoded = reply([.contentType: "application/grpc", "grpc-encoding": "snappy"])
    #expect(encoded?.fields.first("grpc-status") == "12" && encoded?.fields.first("grpc-accept-encoding") == "identity")
    #expect(reply([.contentType: "application/grpc"])?.fields.first("grpc-status") == "12")
    #expect(reply([.contentType: "application/grpc", "grpc-timeout": "x"])?.fields.first("grpc-status") == "13")
  }
}

extension GRPCTests {
  /// A service whose calls end when the gate opens, or with their deadline.
  private struct Waiting: GRPCService {
    let gate = Gate()
    let begun = Log<String>()

    func method(at path: String) -> GRPCMethod? {
      if path == "/w.W/Stream" { return .stream { _, _ in await pass() } }
      return .unary { _, message in
        .task {
          await pass()
          return GRPCResponse(message)
        }
      }
    }

    private func pass() async {
      begun.add("call")
      await gate.wait()
    }
  }

  /// Runs a call, and returns the number of its status.
  private func status(of handler: GRPCHandler, _ path: String, timeout: String) async throws -> String? {
    let request = HTTPRequest(
      .post, path, authority: "h", fields: [.contentType: "application/grpc", "grpc-timeout": timeout],
      body: .bytes([0, 0, 0, 0, 1, 7]))
    guard case .task(let work) = handler.reply(to: request) else { return nil }
    let response = try await work()
    if let status = response.fields.first("grpc-status") { return status }
    let body = response.body.stream
    while try await body.next() != nil {}
    return response.trailers.first("grpc-status") ?? body.trailers.first("grpc-status")
  }

  @Test(arguments: ["/w.W/Unary", "/w.W/Stream"])
  func `the deadlines of all calls have one timer, and each call ends at its own`(path: String) async throws {
    let clock = ManualClock()
    let waiting = Waiting()
    let handler = GRPCHandler(waiting, clock: clock.service)
    let statuses = Log<String>()
    // The first one is the earliest: the others need no timer.
    for (count, seconds) in zip(1..., [10] + Array(repeating: 60, count: 20)) {
      Task { statuses.add(try await status(of: handler, path, timeout: "\(seconds)S") ?? "none") }
      await waiting.begun.wait(for: count)
    }
    #expect(clock.deadlines.count == 1)
    clock.advance(by: .seconds(10))
    await statuses.wait(for: 1)
    #expect(statuses.entries == ["4"] && clock.deadlines.count == 1)
    waiting.gate.open()
    await statuses.wait(for: 21)
    clock.advance(by: .seconds(60))
    #expect(statuses.entries.dropFirst().allSatisfy { $0 == "0" } && statuses.entries.count == 21)
  }
}

extension GRPCTests {
  @Test func `a stream whose deadline is now is late, and its method does not run`() {
    let clock = ManualClock()
    let waiting = Waiting()
    let request = HTTPRequest(
      .post, "/w.W/Stream", authority: "h", fields: [.contentType: "application/grpc", "grpc-timeout": "0n"])
    guard case .response(let response) = GRPCHandler(waiting, clock: clock.service).reply(to: request) else {
      Issue.record("the call has begun")
      return
    }
    #expect(response.fields.first("grpc-status") == "4" && waiting.begun.entries == [])
  }

  @Test func `an offer says whether the peer keeps up, on both sides, alone and together`() {
    let body = ByteStream()
    let server = GRPCServerCall(
      GRPCMessages(body, limit: 100, compression: nil), GRPCOptions(streamBytes: 30))
    #expect(server.offer(GRPCFrames([[1], [2]])) && server.offer([3]))
    #expect(!server.offer(GRPCFrames([[4], [5], [6]])) && !server.offer([7]))
    let upload = ByteStream(limit: 30)
    let client = GRPCClientCall(upload, GRPCOptions()) { _ in nil }
    #expect(client.offer([1]) && client.offer([2]) && !client.offer([UInt8](repeating: 3, count: 20)))
  }

  @Test func `the deadlines of the calls of a channel have one timer, and each call ends at its own`() async throws {
    let (client, clock) = (FakeNetwork(), ManualClock())
    let listener = try await client.listen(
      at: .internet(host: "localhost", port: 1),
      handler: GRPCHandler(
        ClosureService { _, call in
          call.offer([1])
          try await Task.sleep(for: .seconds(1_000))
        }))
    let channel = GRPCChannel(client, authority: listener.address.description, clock: clock.service)
    var readers: [GRPCReader] = []
    for seconds in [10, 60, 60] {
      let reader = try await channel.responses(
        "/a.B/C", [], metadata: [:], timeout: .seconds(seconds), isRepeatable: true)
      #expect(try await reader.nextBatch() == [[1]])
      readers.append(reader)
    }
    #expect(clock.deadlines.count == 1)
    clock.advance(by: .seconds(10))
    let first = readers[0]
    let error = await #expect(throws: GRPCError.self) { try await first.nextBatch() }
    #expect(error?.code == .deadlineExceeded && clock.deadlines.count == 1)
    for reader in readers { reader.cancel() }
    await client.close()
  }

  @Test func `a task that was cancelled reads no response, also one that has arrived`() async throws {
    let client = FakeNetwork()
    let sent = Gate()
    let listener = try await client.listen(
      at: .internet(host: "localhost", port: 1),
      handler: GRPCHandler(
        ClosureService { _, call in
          call.offer(GRPCFrames([[1], [2]]))
          sent.open()
          try await Task.sleep(for: .seconds(1_000))
        }))
    let call = GRPCChannel(client, authority: listener.address.description).open("/a.B/C")
    #expect(try await call.next() == [1])
    await sent.wait()
    let reading = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await call.next()
    }
    await #expect(throws: CancellationError.self) { try await reading.value }
    await client.close()
  }
}

private struct ClosureService: GRPCService {
  let serve: @Sendable (GRPCContext, GRPCServerCall) async throws -> Void

  func method(at path: String) -> GRPCMethod? { .stream(serve) }
}

private struct Nothing: GRPCService {
  func method(at path: String) -> GRPCMethod? { nil }
}

import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

/// Many clients at once that read or write a part, cancel, and leave, by all protocols, with limits that are drawn.
@Suite(.serialized, .timeLimit(.minutes(10))) struct LeavingClientsStressTests {
  private enum Way: CaseIterable {
    case wholeAnswer
    case partOfAnswer
    case abandonedUpload
    case wholeUpload
    case cancelledCall
    case lateCall
    case socket
  }

  private static func drawn(_ random: inout SplitMix) -> TransportTuning {
    var tuning = TransportTuning()
    tuning.sweepInterval = .milliseconds(10)
    tuning.readBytes = random.pick([333, 4_096, 65_536])
    tuning.backlogBytes = random.pick([1, 1_000, 262_144])
    tuning.requestsPerTurn = 1 + random.below(3)
    tuning.acceptsPerTurn = 1 + random.below(3)
    tuning.eventsPerTurn = 1 + random.below(5)
    tuning.idleConnectionsPerHost = random.below(4)
    tuning.keptSessions = random.below(3)
    tuning.http2Streams = random.pick([1, 3, 100])
    tuning.http2StreamWindow = random.pick([500, 5_000, 262_144])
    tuning.http2ConnectionWindow = random.pick([65_535, 1 << 20])
    tuning.http2RefusalPause = .milliseconds(1)
    tuning.http2ResetDelay = .milliseconds(random.below(3))
    // One that waits for its turn is not told from one that is refused for good.
    tuning.requestAttempts = 1_000
    tuning.http2ControlFrames = 1_000_000
    tuning.http2Resets = 1_000_000
    return tuning
  }

  @Test(arguments: UInt64(1)...6) func `clients that leave at any point harm no other`(seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    let tuning = Self.drawn(&random)
    let isSecure = seed.isMultiple(of: 2)
    let server = try VestaTransportServer(loops: 1 + random.below(2), tuning: tuning)
    let client = try VestaTransportClient(loops: 1 + random.below(2), security: .testing, tuning: tuning)
    let identity = TestAuthority.shared.identity(names: "DNS:localhost,IP:127.0.0.1")
    let security = TLSServerSettings(try TLSCertificates([identity]), protocols: ["h2", "http/1.1"])
    let opened = try await server.listen(
      at: .internet(host: "127.0.0.1", port: 0), security: isSecure ? security : nil, handler: TestHandler())
    let listener = try #require(opened as? ServerListener)
    let base = Base(scheme: isSecure ? "https" : "http", authority: listener.address.description)
    let whole = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<40 {
        let child = random.next()
        group.addTask { await Self.act(SplitMix(seed: child), client, base) }
      }
      return await group.reduce(true) { $0 && $1 }
    }
    #expect(whole, "seed \(seed): an exchange that nobody has ended was not whole")
    let last = try await client.send(base.request(.get, "/last", .http1_1), timeout: .seconds(20))
    #expect(try await last.body.collect(upTo: 100) == Array("/last".utf8))
    await client.close()
    while listener.connectionCount > 0 { await Task.yield() }
    await listener.shutDown(within: .seconds(1))
    await server.stop()
  }

  private struct Base: Sendable {
    let scheme: String
    let authority: String

    func request(
      _ method: HTTPMethod, _ target: String, _ version: TransportPeer.Version, _ body: HTTPBody = .empty
    ) -> HTTPRequest {
      var request = HTTPRequest(method, target, scheme: scheme, authority: authority, body: body)
      request.version = version
      return request
    }
  }

  /// - Returns: `false` when an exchange that was not disturbed has failed.
  private static func act(_ seeded: SplitMix, _ client: VestaTransportClient, _ base: Base) async -> Bool {
    var random = seeded
    for _ in 0..<4 {
      let version: TransportPeer.Version = random.oneIn(2) ? .http2 : .http1_1
      let way = Way.allCases[random.below(Way.allCases.count)]
      switch way {
      case .wholeAnswer, .wholeUpload:
        let sent = random.bytes(1 + random.below(60_000))
        guard await echoes(sent, way == .wholeUpload, client, base, version) else { return false }
      case .partOfAnswer:
        guard let response = try? await client.send(base.request(.get, "/large", version), timeout: .seconds(60))
        else { return false }
        for _ in 0..<random.below(4) { _ = try? await response.body.stream.next() }
        response.body.stream.cancel()
      case .abandonedUpload: await abandonUpload(&random, client, base, version)
      case .cancelledCall:
        let request = base.request(.get, random.oneIn(2) ? "/never" : "/large", version)
        let call = Task { try await client.send(request, timeout: nil) }
        for _ in 0..<random.below(200) { await Task.yield() }
        call.cancel()
        if let response = try? await call.value { response.body.stream.cancel() }
      case .lateCall:
        let request = base.request(.get, "/never", version)
        _ = try? await client.send(request, timeout: .milliseconds(1 + random.below(20)))
      case .socket: await leaveSocket(&random, client, base)
      }
    }
    return true
  }

  private static func echoes(
    _ sent: [UInt8], _ isStream: Bool, _ client: VestaTransportClient, _ base: Base, _ version: TransportPeer.Version
  ) async -> Bool {
    let stream = ByteStream(limit: 1_000)
    let body: HTTPBody = isStream ? .stream(stream) : .bytes(sent)
    let writing = Task {
      guard isStream else { return }
      for start in stride(from: 0, to: sent.count, by: 700) {
        try await stream.write(Array(sent[start..<min(sent.count, start + 700)]))
      }
      stream.finish()
    }
    defer { writing.cancel() }
    do {
      let response = try await client.send(base.request(.post, "/echo", version, body), timeout: .seconds(60))
      return try await response.body.collect(upTo: 100_000) == sent
    } catch {
      // A stream cannot be sent again when a kept connection turns out to be closed, or its stream is refused.
      return isStream && (error as? TransportError)?.code == .connectionLost
    }
  }

  private static func abandonUpload(
    _ random: inout SplitMix, _ client: VestaTransportClient, _ base: Base, _ version: TransportPeer.Version
  ) async {
    let stream = ByteStream(limit: 1_000)
    let target = random.pick(["/stream", "/echo", "/hold", "/ignore"])
    let call = Task {
      try await client.send(base.request(.post, target, version, .stream(stream)), timeout: .seconds(1))
    }
    for _ in 0..<random.below(5) { stream.offer(random.bytes(random.below(2_000))) }
    for _ in 0..<random.below(50) { await Task.yield() }
    switch random.below(4) {
    case 0: stream.fail(TransportError(.closed, "left"))
    case 1: stream.cancel()
    case 2: stream.finish()
    default: break
    }
    if random.oneIn(2) { call.cancel() }
    if let response = try? await call.value { response.body.stream.cancel() }
    stream.fail(TransportError(.closed, "left"))
  }

  private static func leaveSocket(_ random: inout SplitMix, _ client: VestaTransportClient, _ base: Base) async {
    let request = base.request(.get, "/socket", .http1_1)
    guard let socket = try? await client.openWebSocket(request, subprotocols: [], timeout: .seconds(20)) else { return }
    // Few enough for the system's buffers: the other side sends them back before it reads on.
    let count = random.below(4)
    for _ in 0..<count { try? await socket.send(.binary(random.bytes(random.below(5_000)))) }
    for _ in 0..<random.below(count + 1) { _ = try? await socket.messages.next() }
    if random.oneIn(2) { socket.close() }
  }
}

import Testing
import VestaConcurrency
import VestaRemoteConfigBackend
import VestaRemoteConfigService
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting
import VestaTransportInterop

@testable import VestaRemoteConfigEndpoints

/// The pace of messages, and what a connection holds.
@Suite(.timeLimit(.minutes(10))) struct EndpointTests {
  private func message(_ version: Int64) -> ConfigInvalidation { ConfigInvalidation(latestVersion: version) }

  @Test func `messages keep their distance, only the newest waits, and it is sent once more`() {
    var pace = InvalidationPace(spacing: 50, repetition: 5_000)
    #expect(pace.received(message(7), now: 0) == [.send(message(7)), .setTimer(at: 5_000)])
    #expect(pace.received(message(8), now: 10) == [.setTimer(at: 50)])
    #expect(pace.received(message(9), now: 20) == [])
    #expect(pace.timerFired(now: 50) == [.send(message(9)), .setTimer(at: 5_050)])
    #expect(pace.timerFired(now: 5_050) == [.send(message(9))])
    #expect(pace.received(message(10), now: 1_000) == [.send(message(10)), .setTimer(at: 6_000)])
  }

  @Test(arguments: UInt64(1)...20)
  func `whatever is received, the newest is sent last and twice, and nothing too soon`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let spacing = Int64(random.below(60))
    var pace = InvalidationPace(spacing: spacing, repetition: 1 + Int64(random.below(200)))
    var (now, timer, version) = (Int64(0), Int64?.none, Int64(0))
    var sent: [(at: Int64, version: Int64)] = []
    func perform(_ effects: [InvalidationPace.Effect]) {
      for effect in effects {
        switch effect {
        case .send(let message): sent.append((now, message.latestVersion))
        case .setTimer(let time): timer = time
        }
      }
    }
    for _ in 0..<300 {
      now += Int64(random.below(40))
      if let due = timer, due <= now {
        timer = nil
        perform(pace.timerFired(now: now))
      } else {
        version += 1
        perform(pace.received(message(version), now: now))
      }
    }
    while let due = timer {
      (now, timer) = (max(now, due), nil)
      perform(pace.timerFired(now: now))
    }
    #expect(sent.suffix(2).map(\.version) == [version, version], "seed \(seed)")
    for (one, next) in zip(sent, sent.dropFirst()) {
      #expect(one.version <= next.version && next.at - one.at >= spacing, "seed \(seed)")
    }
  }

  @Test func `a connection that was left is released`() async throws {
    let engine = RemoteConfigEngine(projectID: "demo") { ModelStore() }
    let streams = InvalidationStreams(clock: .system, tuning: RemoteConfigEndpointsTuning())
    weak var body: ByteStream?
    do {
      let request = InvalidationsRequest(namespace: "firebase", lastKnownVersion: 0)
      let stream = try await streams.open(engine, request, CallContext()).body.stream
      body = stream
      stream.cancel()
    }
    while body != nil { await Task.yield() }
    try await engine.close()
  }

  @Test func `a server that has begun to shut down opens no connection`() async throws {
    let engine = RemoteConfigEngine(projectID: "demo") { ModelStore() }
    let streams = InvalidationStreams(clock: .system, tuning: RemoteConfigEndpointsTuning())
    streams.end()
    let status = await #expect(throws: ServiceStatus.self) {
      try await streams.open(engine, InvalidationsRequest(namespace: "firebase", lastKnownVersion: 0), CallContext())
    }
    #expect(status?.code == .unavailable)
    try await engine.close()
  }

  @Test(arguments: [
    (nil, ConfigVersion.Origin.restAPI), ("fire-admin-node/13.0.0", .adminNode), ("fire-admin-go/4", .restAPI),
  ])
  func `a version says what kind of client has published it`(_ client: String?, _ origin: ConfigVersion.Origin)
    async throws
  {
    let served = try await Served.onFakeNetwork()
    var fields: HTTPFields = [.authorization: "Bearer owner", "if-match": "*"]
    if let client { fields.append("x-firebase-client", client) }
    let request = HTTPRequest(
      .put, "/v1/projects/demo/remoteConfig", authority: "localhost", fields: fields, body: .text("{}"))
    guard case .task(let work) = served.handler.reply(to: request) else { throw CancellationError() }
    #expect(try await work().status == .ok)
    let stored = try await served.engine.template(namespace: "firebase", version: nil, context: .owner)
    #expect(stored.template.version?.updateOrigin == origin)
    try await served.engine.close()
  }

  @Test func `routes of the service and the questions before them are served`() {
    let endpoints = RemoteConfigEndpoints()
    func serves(_ method: HTTPMethod, _ target: String, _ fields: HTTPFields = [:]) -> Bool {
      endpoints.serves(HTTPRequestHead(method: method, target: target, fields: fields))
    }
    #expect(
      serves(.post, "/v1/projects/p/namespaces/firebase:fetch?key=k") && serves(.put, "/v1/projects/p/remoteConfig"))
    #expect(serves(.options, "/v1/projects/p/remoteConfig", ["access-control-request-method": "PUT"]))
    #expect(!serves(.options, "/v1/projects/p/remoteConfig") && !serves(.get, "/v1/projects/p/messages:send"))
  }
}

import Glibc
import Testing
import VestaConcurrency
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

/// Many callers of one host whose connections end in every way: each call and each body ends, and nothing stays open.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HTTP2ClientStressTests {
  /// The conduct of a server on one connection.
  private enum Conduct: CaseIterable {
    case resetsAtOnce, closesAtOnce, resetsAfterPreface, closesAfterPreface, leavesAfterSettings, readsNothing
    case leavesAtOnceAndStays, serves, servesAndLeaves, finishesAndReads
  }

  /// A server whose connections behave as a seed says.
  private final class Server: Sendable {
    let authority: String
    private let descriptor: Int32
    /// The connections that are served, and whether the round is over.
    private let state = Locked((open: 0, isOver: false))

    init(seed: UInt64) throws {
      guard let place = SocketAddress(host: "127.0.0.1", port: 0) else { throw TransportError(.cannotListen, "") }
      let descriptor = try PlatformSocket.listen(at: place, shares: false, backlog: 8)
      _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
      self.descriptor = descriptor
      authority = PlatformSocket.localAddress(descriptor)?.description ?? ""
      let state = state
      state.withLock { $0.open += 1 }
      _ = PlatformThread.start {
        var random = SplitMix(seed: seed)
        while true {
          let accepted = accept(descriptor, nil, nil)
          guard accepted >= 0 else { break }
          let (conduct, seed) = (random.pick(Conduct.allCases), random.next())
          state.withLock { $0.open += 1 }
          let isStarted = PlatformThread.start {
            Self.serve(RawPeer(accepted: accepted), conduct, SplitMix(seed: seed)) { state.withLock { $0.isOver } }
            state.withLock { $0.open -= 1 }
          }
          #expect(isStarted)
        }
        state.withLock { $0.open -= 1 }
      }
    }

    /// Waits until all connections have ended.
    func end() async {
      state.withLock { $0.isOver = true }
      shutdown(descriptor, Int32(SHUT_RDWR))
      while state.withLock({ $0.open > 0 }) { await TestThreads.run { _ = usleep(1_000) } }
      PlatformSocket.close(descriptor)
    }

    private static func serve(
      _ raw: RawPeer, _ conduct: Conduct, _ seeded: SplitMix, _ isOver: () -> Bool
    ) {
      var random = seeded
      if random.oneIn(3) { usleep(UInt32(random.below(4_000))) }
      switch conduct {
      case .resetsAtOnce: return raw.reset()
      case .closesAtOnce: return raw.close()
      case .readsNothing:
        if random.oneIn(2) { raw.send(HTTP2Frame.settings().bytes) }
        while !isOver() { usleep(2_000) }
        return
      default: break
      }
      let peer = HTTP2Peer(accepted: raw)
      switch conduct {
      case .resetsAfterPreface: return raw.reset()
      case .closesAfterPreface: return raw.close()
      case .leavesAfterSettings:
        peer.send(.settings(), goAway(0))
        return random.oneIn(2) ? raw.reset() : raw.close()
      case .leavesAtOnceAndStays:
        peer.send(.settings(), goAway(random.oneIn(2) ? 0 : 0x7FFF_FFFF))
        while peer.next() != nil {}
        return
      default: break
      }
      let limit: [(UInt16, UInt32)] = [(3, UInt32(1 + random.below(4)))]
      peer.send(.settings(random.oneIn(2) ? [] : limit))
      var left = conduct == .serves ? 1_000 : random.below(12)
      while let frame = peer.next() {
        guard frame.kind == HTTP2Frame.Kind.headers.rawValue else { continue }
        left -= 1
        if left < 0, conduct == .servesAndLeaves {
          peer.send(goAway(random.oneIn(2) ? frame.stream : frame.stream - min(frame.stream, 2)))
          if random.oneIn(2) { return random.oneIn(2) ? raw.reset() : raw.close() }
          left = 1_000
        }
        if left < 0, conduct == .finishesAndReads {
          raw.finish()
          while peer.next() != nil {}
          return
        }
        answer(frame.stream, peer, &random)
      }
    }

    private static func answer(_ stream: UInt32, _ peer: HTTP2Peer, _ random: inout SplitMix) {
      let head = HTTP2Frame(.headers, HTTP2Frame.endHeaders, on: stream, [0x88])
      switch random.below(9) {
      case 0: peer.send(.reset(stream, .refusedStream))
      case 1: peer.send(.reset(stream, random.pick([.cancel, .internalError])))
      case 2: break
      case 3: peer.send(head)
      case 4: peer.send(head, HTTP2Frame(.data, 0, on: stream, [1, 2, 3]), .reset(stream, .internalError))
      case 5: peer.send(head, HTTP2Frame(.data, HTTP2Frame.endStream, on: stream, [1, 2, 3]))
      case 6:
        peer.send(head, HTTP2Frame(.data, HTTP2Frame.endStream, on: stream, [1, 2, 3]), .reset(stream, .noError))
      default: peer.send(HTTP2ClientTests.answer(stream))
      }
    }

    private static func goAway(_ last: UInt32) -> HTTP2Frame {
      HTTP2Frame(.goAway, 0, on: 0, HTTP2Frame.number(last) + HTTP2Frame.number(0))
    }
  }

  @Test(arguments: UInt64(1)...6)
  func `each call ends, however the connections of its host end`(seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    // The server waits for the end of each connection.
    for _ in 0..<4 { try await Self.run(seed: random.next()) }
  }

  private static func run(seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    let server = try Server(seed: random.next())
    var tuning = TransportTuning()
    tuning.sweepInterval = .milliseconds(10)
    tuning.http2RefusalPause = .milliseconds(1)
    tuning.backlogBytes = random.pick([1, 1_000, 262_144])
    tuning.http2StreamWindow = random.pick([100, 262_144])
    tuning.eventsPerTurn = 1 + random.below(4)
    let client = try VestaTransportClient(tuning: tuning)
    let seeds = (0..<16).map { _ in random.next() }
    let closes = random.oneIn(3) ? random.below(300) : nil
    await withTaskGroup(of: Void.self) { group in
      for seed in seeds { group.addTask { await act(SplitMix(seed: seed), client, server.authority) } }
      if let closes {
        group.addTask {
          for _ in 0..<closes { await Task.yield() }
          await client.close()
        }
      }
    }
    await client.close()
    await server.end()
  }

  private static func act(_ seeded: SplitMix, _ client: VestaTransportClient, _ authority: String) async {
    var random = seeded
    for _ in 0..<3 {
      let stream = ByteStream(limit: 500)
      let isStreamed = random.oneIn(3)
      let whole: HTTPBody = random.pick([.empty, .bytes([1]), .bytes(.init(repeating: 1, count: 90_000))])
      let body: HTTPBody = isStreamed ? .stream(stream) : whole
      var request = HTTPRequest(random.pick([.get, .post]), "/", authority: authority, body: body)
      request.version = .http2
      if random.oneIn(4) { request.fields.set(.userAgent, String(repeating: "a", count: 12_000)) }
      let sent = request
      // A body that is written for as long as it has a reader.
      let writing = Task {
        guard isStreamed else { return }
        while true {
          try await stream.write([1, 2, 3])
          await Task.yield()
        }
      }
      let limit = Duration.milliseconds(random.pick([1, 50, 300]))
      let call = Task { try await client.send(sent, timeout: limit) }
      if random.oneIn(4) {
        for _ in 0..<random.below(100) { await Task.yield() }
        call.cancel()
      }
      // A call without an end is found by the time limit of the suite.
      do {
        let response = try await call.value
        let reading = Task { try await response.body.collect(upTo: 1_000) }
        if random.oneIn(2) {
          reading.cancel()
        } else {
          // The response of a server that says nothing more has no time limit.
          let limiting = Task {
            try await Task.sleep(for: .milliseconds(100))
            reading.cancel()
          }
          _ = await reading.result
          limiting.cancel()
        }
        _ = await reading.result
        response.body.stream.cancel()
      } catch {
        let isKnown = error is CancellationError || error is TransportError
        #expect(isKnown, "\(error)")
      }
      writing.cancel()
      _ = await writing.result
      if isStreamed { stream.fail(CancellationError()) }
    }
  }
}

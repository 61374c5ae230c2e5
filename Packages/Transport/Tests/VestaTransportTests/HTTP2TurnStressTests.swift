import Testing
import VestaConcurrency
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

/// Responses of many tasks of one connection that end in one turn of the loop, with all that can happen meanwhile.
///
/// Nothing is lost, doubled or given to another stream, all leaves without a further event of the socket, and no writer
/// of a body waits for ever.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HTTP2TurnStressTests {
  private enum Ending: CaseIterable { case none, reset, finish, goAway, violation, abort, close, shutDown, cutOff }

  /// A history of some rounds on one connection.
  private struct History {
    var random: SplitMix
    let server: TestServer
    let handler: TurnHandler
    let peer: TurnPeer
    let streams: Int
    /// The streams that the peer has left.
    var left: Set<Int32> = []
    var faults: [String] = []

    /// Asks for responses, lets them all be ready at once, and reads them.
    mutating func play(_ round: Int, _ ending: Ending) async {
      var asked: [Int32: TurnRequest] = [:]
      let special: Int? = ending == .abort || ending == .close ? random.below(streams) : nil
      for number in 0..<streams {
        let kinds = TurnRequest.Kind.allCases.dropLast(2)
        let kind = number == special ? (ending == .abort ? .abort : .close) : random.pick(Array(kinds))
        let request = TurnRequest(round, kind, number, &random)
        guard let id = peer.ask(request.target, method: request.isHead ? .head : .get) else {
          faults.append("no stream is left")
          continue
        }
        asked[id] = request
        if random.oneIn(10) { peer.send() }
        if random.oneIn(12) { leave(random.pick(asked.keys.sorted())) }
      }
      let waits = random.oneIn(2)
      if waits {
        peer.send()
        let wanted = asked.keys.count { !left.contains($0) }
        while handler.gate(round).waitingCount < wanted, random.below(10_000) > 0 { await Task.yield() }
      }
      for id in asked.keys.sorted() where random.oneIn(10) { leave(id) }
      let shutDown: Task<Void, Never>? =
        ending == .shutDown || ending == .cutOff ? await beginShutDown(ending == .cutOff) : nil
      let go = random.oneIn(3) || shutDown != nil ? nil : peer.ask("/go/\(round)")
      for id in asked.keys.sorted() where random.oneIn(10) { leave(id) }
      if ending == .goAway { peer.goAway() }
      peer.send()
      if go == nil { handler.gate(round).open() }
      if ending == .violation { peer.peer.send(HTTP2Frame(.data, 0, on: 0, [1]).bytes) }
      if ending == .reset { peer.peer.reset() }
      if ending == .finish { peer.peer.finish() }
      // A closed descriptor may already be that of another file.
      if ending != .reset { await read(asked.keys.sorted(), untilEnd: ending == .shutDown) }
      await shutDown?.value
      judge(asked, isCut: ![.none, .goAway, .shutDown].contains(ending))
    }

    private mutating func leave(_ id: Int32) {
      if left.insert(id).inserted { peer.reset(id) }
    }

    private func beginShutDown(_ cutsOff: Bool) async -> Task<Void, Never> {
      let listener = server.listener
      let task = Task { await listener.shutDown(within: cutsOff ? .zero : .seconds(600)) }
      while !listener.isShuttingDown { await Task.yield() }
      return task
    }

    /// Reads until all answers are there, or the connection ends.
    private mutating func read(_ ids: [Int32], untilEnd: Bool) async {
      let peer = peer
      let leaves = random.oneIn(3) ? ids.randomElement(using: &random) : nil
      if let leaves { left.insert(leaves) }
      await TestThreads.run {
        var count = 0
        while ids.contains(where: { peer.answers[$0]?.code == nil }) {
          guard peer.receive() else { return }
          count += 1
          if count == 3, let leaves, peer.answers[leaves]?.code == nil { peer.reset(leaves) }
          peer.take()
        }
        guard untilEnd else { return }
        while peer.receive() { peer.take() }
        peer.peer.finish()
      }
    }

    private mutating func judge(_ asked: [Int32: TurnRequest], isCut: Bool) {
      for (id, request) in asked {
        guard let answer = peer.answers[id] else { continue }
        if left.contains(id) || isCut && answer.code != .noError {
          if let fault = request.faultOfBeginning(answer) { faults.append("\(id) \(request.target) \(fault)") }
        } else if let fault = request.fault(answer) {
          let found = "\(answer.status), \(answer.body.count) bytes, \(answer.code as Any)"
          faults.append("\(id) \(request) \(fault): \(found)")
        }
      }
    }
  }

  @Test(arguments: UInt64(1)...8) func `responses of one turn are all of them whole`(seed: UInt64) async throws {
    let faults = try await Self.history(seed)
    #expect(faults == [], "seed \(seed)")
  }

  static func history(_ seed: UInt64) async throws -> [String] {
    var random = SplitMix(seed: seed)
    let handler = TurnHandler()
    let streams = random.pick([3, 20, 90])
    var windows = TransportTuning()
    windows.http2StreamWindow = random.pick([20, 300, 5_000, 65_535])
    windows.http2ConnectionWindow = 65_535
    let numbers = (random.pick([1, 100, 5_000, 262_144]), random.pick([1, 2, 256]), random.pick([1, 3, 256]))
    return try await TestServer.run(
      { tuning in
        (tuning.backlogBytes, tuning.jobsPerTurn, tuning.eventsPerTurn) = numbers
        tuning.http2Streams = streams + 1
        tuning.http2ControlFrames = 10_000_000
        tuning.http2Resets = 1_000_000
      }, handler: handler
    ) { server in
      let peer = try TurnPeer(server, windows)
      var history = History(random: random, server: server, handler: handler, peer: peer, streams: streams)
      let rounds = 1 + history.random.below(3)
      let ending = history.random.pick(Ending.allCases)
      for round in 0..<rounds {
        await history.play(round, round == rounds - 1 ? ending : .none)
        if round < rounds - 1 || ending == .none {
          await handler.ended.wait(for: handler.begun.withLock { $0 })
          // Tasks of streams that the peer has left end in their own time.
          while await handler.loop.withLock({ $0 })?.rests().isEmpty == false { await Task.yield() }
        }
      }
      peer.peer.close()
      await server.waitForConnections(0)
      await handler.ended.wait(for: handler.begun.withLock { $0 })
      return history.faults
    }
  }
}

/// The same for as long as a soak may take.
@Suite(.serialized, .enabled(if: Soak.isAsked), .timeLimit(.minutes(600))) struct HTTP2TurnSoakTests {
  @Test func `responses of one turn are all of them whole, in many histories`() async throws {
    try await Soak("turns of HTTP/2").run { seed, _ in
      let faults = try await HTTP2TurnStressTests.history(seed)
      #expect(faults == [], "seed \(seed)")
    }
  }
}

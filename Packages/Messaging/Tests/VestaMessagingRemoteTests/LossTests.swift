import Testing
import VestaConcurrency
import VestaMessagingBackend
import VestaMessagingBackendContracts
import VestaMessagingRemote
import VestaMessagingService
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// The same service over connections that are delayed, arrive in pieces, and are cut.
@Suite(.timeLimit(.minutes(10))) struct LossTests {
  private typealias Script = ScriptedNetwork.Script

  @Test(arguments: MessagingContracts.all)
  func `the contract is kept over small pieces and delays`(contract: Contract<MessagingSubject>) async throws {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    let served = try Served { handler in
      ScriptedNetwork(to: handler, seed: seed) { number in
        var random = SplitMix(seed: seed &+ UInt64(number))
        let conditions = { (random: inout SplitMix) in
          ScriptedPipe.Conditions(
            latency: .milliseconds(random.below(500)), largestPiece: random.oneIn(2) ? 20 + random.below(60) : nil)
        }
        return Script(fromClient: conditions(&random), fromServer: conditions(&random))
      }
    }
    do {
      try await contract.verify(served.subject)
    } catch {
      Issue.record("seed \(seed): \(error)")
    }
    try await served.engine.close()
  }

  @Test(arguments: [false, true])
  func `a registration that is repeated after any cut ends in one that receives`(isOfServer: Bool) async throws {
    for cut in stride(from: 0, through: 500, by: 11) {
      let served = try Served { handler in
        ScriptedNetwork(to: handler) { number in
          guard number == 0 else { return Script() }
          let lossy = ScriptedPipe.Conditions(largestPiece: 7, cutAfter: cut)
          return isOfServer ? Script(fromServer: lossy) : Script(fromClient: lossy)
        }
      }
      let caller = BackendCaller(retry: Retry(initial: .zero, cap: .zero, attempts: 3))
      let request = RegisterRequest(installationID: "ada", platform: "linux", appID: "app")
      let token = try await caller.call { try await served.remote.register(request, context: $0) }
      #expect(try await served.engine.token(ofInstallation: "ada", context: .owner) == token, "cut after \(cut)")
      try await served.engine.close()
    }
  }

  @Test func `through connections that are cut anywhere every message arrives, and acknowledged ones not again`()
    async throws
  {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    let served = try Served { handler in
      ScriptedNetwork(to: handler, seed: seed) { number in
        var random = SplitMix(seed: seed &+ UInt64(number))
        guard number > 0, !random.oneIn(4) else { return Script() }
        let lossy = ScriptedPipe.Conditions(largestPiece: 9, cutAfter: random.below(2_000))
        return random.oneIn(3) ? Script(fromClient: lossy) : Script(fromServer: lossy)
      }
    }
    let token = try await served.register()
    let count = 40
    for number in 0..<count { try await served.send("\(number)", to: .token(token)) }
    let caller = BackendCaller(retry: Retry(initial: .zero, cap: .zero))
    var acknowledged: Set<String> = []
    for _ in 0..<2_000 where acknowledged.count < count {
      // A delivery, or the end.
      let events = EventLog<PushDelivery?>(patience: .seconds(60))
      let connection = served.remote.connect(token: token, context: CallContext(), onEnd: { _ in events.record(nil) }) {
        events.record($0)
      }
      let left = count - acknowledged.count
      try await events.wait(for: "all or the end, seed \(seed)") { $0.count >= left || $0.contains(nil) }
      connection.cancel()
      let received = events.events.compactMap(\.self)
      #expect(received.allSatisfy { !acknowledged.contains($0.messageID) }, "seed \(seed)")
      let texts = received.compactMap { Int($0.message.data["text"] ?? "") }
      #expect(texts == texts.sorted(), "seed \(seed)")
      guard let first = received.first else { continue }
      try await caller.call {
        try await served.remote.acknowledge(token: token, messageIDs: [first.messageID], context: $0)
      }
      acknowledged.insert(first.messageID)
    }
    #expect(acknowledged.count == count, "seed \(seed)")
    try await served.engine.close()
  }

  @Test func `a connection that is cut at any byte ends once, and a cancelled one never calls again`() async throws {
    for cut in stride(from: 0, through: 600, by: 13) {
      let served = try Served { handler in
        ScriptedNetwork(to: handler) { number in
          number == 1 ? Script(fromServer: .init(largestPiece: 5, cutAfter: cut)) : Script()
        }
      }
      let token = try await served.register()
      let ends = EventLog<ServiceCode?>(patience: .seconds(60))
      let connection = served.remote.connect(token: token, context: CallContext(), onEnd: { ends.record($0?.code) }) {
        _ in
      }
      for number in 0..<8 { try await served.send("\(number)", to: .token(token)) }
      try await ends.wait(for: "the end, cut after \(cut)") { $0 == [.unavailable] }
      connection.cancel()
      try await served.engine.close()
    }
  }
}

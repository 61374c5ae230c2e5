import Testing
import VestaConcurrency
import VestaRemoteConfigBackend
import VestaRemoteConfigBackendContracts
import VestaRemoteConfigEndpoints
import VestaRemoteConfigRemote
import VestaRemoteConfigService
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// The same service over connections that are delayed, arrive in pieces, and are cut at every byte.
@Suite(.timeLimit(.minutes(10))) struct LossTests {
  private typealias Script = ScriptedNetwork.Script

  private func serve(
    seed: UInt64 = 1, tuning: RemoteConfigEndpointsTuning = RemoteConfigEndpointsTuning(),
    script: @escaping @Sendable (Int) -> Script = { _ in Script() }
  ) async throws -> (Served, ScriptedNetwork) {
    let made = Locked<ScriptedNetwork?>(nil)
    let served = try await Served(tuning: tuning) { handler in
      let network = ScriptedNetwork(to: handler, seed: seed, script: script)
      made.withLock { $0 = network }
      return network
    }
    return (served, try #require(made.withLock { $0 }))
  }

  @Test(arguments: RemoteConfigContracts.all)
  func `the contract is kept over small pieces and delays`(contract: Contract<RemoteConfigSubject>) async throws {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    let (served, _) = try await serve(seed: seed) { number in
      var random = SplitMix(seed: seed &+ UInt64(number))
      let conditions = { (random: inout SplitMix) in
        ScriptedPipe.Conditions(
          latency: .milliseconds(random.below(500)), largestPiece: random.oneIn(2) ? 1 + random.below(60) : nil)
      }
      return Script(fromClient: conditions(&random), fromServer: conditions(&random))
    }
    do {
      try await contract.verify(RemoteConfigSubject(served.remote, patience: .seconds(120)))
    } catch {
      Issue.record("seed \(seed): \(error)")
    }
    try await served.engine.close()
  }

  @Test func `a publish that is cut anywhere has happened once or not at all, and says so`() async throws {
    let cuts = (0...40).map { $0 * 13 } + [560, 600, 700, 900]
    for isOfServer in [false, true] {
      for cut in cuts {
        let (served, network) = try await serve { number in
          guard number == 0 else { return Script() }
          let lossy = ScriptedPipe.Conditions(largestPiece: 7, cutAfter: cut)
          return isOfServer ? Script(fromServer: lossy) : Script(fromClient: lossy)
        }
        let outcome = await Self.code { _ = try await served.remote.publish("a") }
        // A connection that was cut in the direction of the server may have left its request there, and it runs on.
        let versions = try await served.engine.listVersions(ListVersionsRequest(), context: .owner).versions.count
        switch outcome {
        case nil: #expect(versions == 1, "cut after \(cut)")
        case .deadlineExceeded?: #expect(versions <= 1, "cut after \(cut)")
        case let code?: Issue.record("cut after \(cut), \(isOfServer): \(code)")
        }
        #expect(network.exchangeCount == 1)
        try await served.engine.close()
      }
    }
  }

  @Test func `of publishes over an ETag that are repeated after lost answers none happens twice`() async throws {
    let (served, _) = try await serve { number in
      // The answer of every second exchange is lost after the server has acted.
      Script(fromServer: number % 2 == 0 ? .init(cutAfter: 0) : .init())
    }
    var etag = try await served.engine.template(namespace: "firebase", version: nil, context: .owner).etag
    for number in 1...20 {
      let first = await Self.code { _ = try await served.remote.publish("\(number)", over: etag) }
      #expect(first == .deadlineExceeded)
      let again = await Self.code { _ = try await served.remote.publish("\(number)", over: etag) }
      #expect(again == .failedPrecondition)
      let current = try await served.engine.template(namespace: "firebase", version: nil, context: .owner)
      #expect(current.template.version?.versionNumber == Int64(number))
      etag = current.etag
    }
    try await served.engine.close()
  }

  @Test func `a client that repeats fetches gets its values through any loss`() async throws {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    let (served, network) = try await serve(seed: seed) { number in
      var random = SplitMix(seed: seed &+ UInt64(number))
      guard !random.oneIn(4) else { return Script() }
      let lossy = ScriptedPipe.Conditions(largestPiece: 9, cutAfter: random.below(400))
      return random.oneIn(2) ? Script(fromClient: lossy) : Script(fromServer: lossy)
    }
    try await served.engine.publish("a")
    let caller = BackendCaller(retry: Retry(initial: .zero, cap: .zero))
    for _ in 0..<50 {
      let response = try await caller.call { try await served.remote.fetch(context: $0) }
      #expect(response.entries == ["key": "a"])
    }
    #expect(network.exchangeCount > 50, "seed \(seed)")
    try await served.engine.close()
  }

  @Test func `a connection that is cut anywhere ends once, after the versions it has brought`() async throws {
    var tuning = RemoteConfigEndpointsTuning()
    tuning.messageSpacing = .zero
    for cut in stride(from: 0, through: 260, by: 9) {
      let (served, _) = try await serve(tuning: tuning) { _ in Script(fromServer: .init(largestPiece: 5, cutAfter: cut))
      }
      try await served.engine.publish("1")
      let events = EventLog<String>(patience: .seconds(60))
      let connection = served.remote.listenForInvalidations(
        InvalidationsRequest(namespace: "firebase", lastKnownVersion: 0), context: CallContext(),
        onEnd: { events.record($0.map { $0.code.name } ?? "in order") }
      ) { events.record("\($0.latestVersion)") }
      var version = 1
      while !events.events.contains("UNAVAILABLE") {
        let newest = version
        try await events.wait(for: "version \(newest), or the end") {
          $0.contains("\(newest)") || $0.contains("UNAVAILABLE")
        }
        version += 1
        try await served.engine.publish("\(version)")
      }
      let versions = events.events.dropLast().compactMap { Int($0) }
      #expect(events.events.last == "UNAVAILABLE" && versions.count == events.events.count - 1)
      #expect(versions == Array(Set(versions)).sorted(), "cut after \(cut)")
      connection.cancel()
      try await served.engine.close()
    }
  }

  private static func code(_ body: () async throws -> Void) async -> ServiceCode? {
    do {
      try await body()
      return nil
    } catch let error as RemoteConfigServiceError {
      return error.code
    } catch {
      return .unknown
    }
  }
}

import Testing
import VestaBytes
import VestaConcurrency
import VestaFunctionsBackend
import VestaFunctionsBackendContracts
import VestaFunctionsEndpoints
import VestaFunctionsRemote
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaFunctionsService

/// The remote backend, its endpoints and an engine as one service, on networks in memory.
@Suite(.timeLimit(.minutes(10))) struct RemoteTests {
  @Test(arguments: FunctionsContracts.all)
  func `an engine behind its endpoints keeps the contract`(contract: Contract<FunctionsSubject>) async throws {
    try await contract.verify(try await Served.onFakeNetwork().subject())
  }

  @Test(arguments: FunctionsContracts.all)
  func `the contract is kept with small figures`(contract: Contract<FunctionsSubject>) async throws {
    var tuning = FunctionsEndpointsTuning()
    tuning.streamLimit = Int.random(in: 1...200)
    var options = FunctionsServiceOptions()
    options.tuning.unreadMessages = Int.random(in: 1...3)
    let served = try await Served.onFakeNetwork(tuning: tuning, options: options)
    do {
      try await contract.verify(served.subject())
    } catch {
      Issue.record("\(tuning), \(options.tuning.unreadMessages): \(error)")
    }
  }

  @Test(arguments: FunctionsContracts.all)
  func `the contract is kept over small pieces and delays`(contract: Contract<FunctionsSubject>) async throws {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    let served = try await Served { handler in
      ScriptedNetwork(to: handler, seed: seed) { number in
        var random = SplitMix(seed: seed &+ UInt64(number))
        let conditions = { (random: inout SplitMix) in
          ScriptedPipe.Conditions(
            latency: .milliseconds(random.below(500)), largestPiece: random.oneIn(2) ? 1 + random.below(60) : nil)
        }
        return .init(fromClient: conditions(&random), fromServer: conditions(&random))
      }
    }
    do {
      try await contract.verify(served.subject())
    } catch {
      Issue.record("seed \(seed): \(error)")
    }
  }

  @Test func `a call that is cut anywhere has run once or not at all, and says so`() async throws {
    for isOfServer in [false, true] {
      for cut in stride(from: 0, through: 420, by: 13) {
        let runs = Log<Int>()
        let lossy = ScriptedPipe.Conditions(largestPiece: 7, cutAfter: cut)
        let served = try await Served { handler in
          ScriptedNetwork(to: handler) { _ in isOfServer ? .init(fromServer: lossy) : .init(fromClient: lossy) }
        }
        served.registry.onCall("note") { _ in
          runs.add(1)
          return "noted"
        }
        do {
          let result = try await served.remote.call(.named("note"), context: CallContext())
          #expect(result == "noted" && runs.entries.count == 1, "cut after \(cut)")
        } catch let error as FunctionsServiceError {
          // The request may have arrived before the cut: it must not be UNAVAILABLE, which invites to try again.
          #expect(error.code == .deadlineExceeded && runs.entries.count <= 1, "cut after \(cut): \(error)")
        }
      }
    }
  }

  @Test func `a stream that is cut anywhere throws after the messages that it has brought`() async throws {
    for cut in stride(from: 0, through: 330, by: 9) {
      let served = try await Served { handler in
        ScriptedNetwork(to: handler) { _ in .init(fromServer: .init(largestPiece: 5, cutAfter: cut)) }
      }
      _ = served.subject()
      var events: [FunctionEvent] = []
      do {
        for try await event in served.remote.stream(.named("count", 8), context: CallContext()) {
          events.append(event)
        }
        #expect(events.count == 9 && events.last == .result("done"), "cut after \(cut)")
      } catch let error as FunctionsServiceError {
        #expect(error.code == .deadlineExceeded, "cut after \(cut): \(error)")
        #expect(events == (1...9).prefix(events.count).map { .message(.integer($0)) } && events.count < 9)
      }
    }
  }

  @Test func `a stream that outlasts its deadline ends with it, and its function is cancelled`() async throws {
    let network = FakeNetwork()
    let served = try await Served.onFakeNetwork(network)
    _ = served.subject()
    let clock = ManualClock()
    let service = try RESTService(network, at: "http://localhost", clock: clock.service)
    let remote = FunctionsRemote(project: "project", on: service)
    let context = CallContext(deadline: clock.service.now() + 5_000_000)
    let reader = Task { for try await _ in remote.stream(.named("wait"), context: context) {} }
    await served.beginnings.wait(for: 1)
    clock.advance(by: .seconds(6))
    let error = await #expect(throws: FunctionsServiceError.self) { try await reader.value }
    #expect(error?.code == .deadlineExceeded)
    await served.cancellations.wait(for: 1)
  }

  @Test func `an unread stream is never opened, and one that is dropped is closed`() async throws {
    let network = FakeNetwork()
    let served = try await Served.onFakeNetwork(network)
    _ = served.subject()
    _ = served.remote.stream(.named("wait"), context: CallContext())
    #expect(network.exchangeCount == 0)
    for try await event in served.remote.stream(.named("count", 1_000), context: CallContext()) {
      #expect(event == .message(1))
      break
    }
    while network.exchangeCount > 0 { await Task.yield() }
  }

  @Test func `at Firebase each region has a separate host`() async throws {
    var options = FunctionsRemoteOptions()
    options.usesHostsOfRegions = true
    let served = try await Served.onFakeNetwork(remote: options)
    _ = served.subject()
    #expect(try await served.remote.call(.named("echo", 7), context: CallContext()) == 7)
  }

  @Test func `tokens of callers reach the function, verified`() async throws {
    let served = try await Served.onFakeNetwork()
    let token = served.callers.issue("ada")
    served.registry.onCall("who") { request in [request.auth?.uid, request.instanceIDToken] }
    var call = FunctionCall.named("who")
    call.instanceIDToken = "push"
    let context = CallContext(caller: .credential(token))
    #expect(try await served.remote.call(call, context: context) == ["ada", "push"])
  }

  @Test func `no token is sent in clear text to other machines`() async throws {
    let network = FakeNetwork()
    let remote = FunctionsRemote(project: "p", on: try RESTService(network, at: "http://example.com"))
    var call = FunctionCall.named("echo")
    call.instanceIDToken = "secret"
    let error = await #expect(throws: FunctionsServiceError.self) {
      try await remote.call(call, context: CallContext())
    }
    #expect(error?.code == .failedPrecondition && network.exchangeCount == 0)
  }
}

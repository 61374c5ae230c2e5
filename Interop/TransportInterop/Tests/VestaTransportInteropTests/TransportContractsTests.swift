import Testing
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropContracts
import VestaTransportInteropFakes

@Suite struct TransportContractsTests {
  @Test(.timeLimit(.minutes(10))) func `the fake keeps every promise`() async {
    let outcomes = await TransportContracts.all.run {
      let network = FakeNetwork()
      return TransportSubject(server: network, client: network, slack: 1 << 20)
    }
    #expect(outcomes.filter { !$0.isKept }.map(\.description) == [])
    #expect(Set(outcomes.map(\.name)).count == TransportContracts.all.count)
  }

  @Test(.timeLimit(.minutes(10)), arguments: WrongClient.Flaw.allCases)
  func `a wrong client breaks the promise that it breaks`(flaw: WrongClient.Flaw) async {
    let checked = TransportContracts.all.filter { $0.name.hasPrefix(flaw.rawValue) }
    #expect(checked.count == 1)
    let outcomes = await checked.run {
      let network = FakeNetwork()
      return TransportSubject(server: network, client: WrongClient(network, flaw), slack: 1 << 20)
    }
    #expect(outcomes.allSatisfy { !$0.isKept })
  }
}

/// A client that breaks one promise, named by the beginning of its sentence.
struct WrongClient: HTTPClient {
  enum Flaw: String, CaseIterable, Sendable {
    case joinsFields = "a request arrives"
    case forgetsFields = "a response arrives"
    case sendsBodyOfHead = "HEAD, 204 and 304"
    case cutsBodies = "a large body"
    case waitsForTheEnd = "a streamed response"
    case hidesFailures = "a response that fails"
    case hidesSubprotocol = "a protocol that both know"
    case saysProcessed = "an address where nothing listens"
    case staysOpen = "a client that is closed"
    case reachesAnyHost = "a request for public hosts"
  }

  let base: FakeNetwork
  let flaw: Flaw

  init(_ base: FakeNetwork, _ flaw: Flaw) { (self.base, self.flaw) = (base, flaw) }

  func send(_ request: HTTPRequest, timeout: Duration?) async throws -> HTTPResponse {
    var request = request
    if flaw == .reachesAnyHost { request.isForPublicHosts = false }
    if flaw == .joinsFields { request.fields["x-many"] = request.fields["x-many"] }
    do {
      return try await changed(base.send(request, timeout: timeout), to: request)
    } catch let error as TransportError where flaw == .saysProcessed {
      throw TransportError(error.code, error.message)
    }
  }

  private func changed(_ response: HTTPResponse, to request: HTTPRequest) async throws -> HTTPResponse {
    var response = response
    switch flaw {
    case .forgetsFields: response.fields = [:]
    case .sendsBodyOfHead where request.method == .head: response.body = .text("body")
    case .cutsBodies: response.body = .bytes(Array(try await response.body.collect(upTo: 4_000_000).prefix(65_536)))
    case .waitsForTheEnd:
      let whole = ByteStream(whole: Array("firstsecond".utf8))
      response.body = .stream(whole)
    case .hidesFailures: response.body = .stream(ByteStream(whole: [1]))
    default: break
    }
    return response
  }

  func openWebSocket(
    _ request: HTTPRequest, subprotocols: [String], timeout: Duration?
  ) async throws -> WebSocket {
    do {
      return try await base.openWebSocket(
        request, subprotocols: flaw == .hidesSubprotocol ? [] : subprotocols, timeout: timeout)
    } catch { throw error }
  }

  func close() async {
    if flaw == .staysOpen { base.cut() } else { await base.close() }
  }
}

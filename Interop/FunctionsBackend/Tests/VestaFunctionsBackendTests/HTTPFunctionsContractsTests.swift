import Testing
import VestaConcurrency
import VestaFunctionsBackend
import VestaFunctionsBackendContracts
import VestaHTTPFunctionsBackend
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop

/// A backend that answers at once, in ways that can be made wrong one by one.
private struct SmallBackend: HTTPFunctionsBackend {
  enum Flaw: CaseIterable {
    case none, losesQueries, losesBodies, losesPieces, confusesKinds, findsEverything, tellsErrors
    case ignoresDeadline, hidesCancellation
  }

  let flaw: Flaw
  let beginnings = Log<String>()
  let cancellations = Log<String>()

  func kind(of target: FunctionTarget) -> FunctionKind? {
    guard case .name(let name, "us-central1") = target else { return nil }
    switch name {
    case "mirror", "crash", "wait", "pieces": return .request
    case "echo": return flaw == .confusesKinds ? .request : .callable
    default: return nil
    }
  }

  func respond(
    to request: HTTPRequest, by target: FunctionTarget, context: CallContext
  ) async throws -> HTTPResponse {
    if let deadline = context.deadline, deadline < 1000, flaw != .ignoresDeadline {
      throw FunctionsServiceError(.deadlineExceeded, "late")
    }
    switch target {
    case .name("mirror", _):
      let place = flaw == .losesQueries ? String(request.path) : request.target
      return HTTPResponse(
        201, fields: ["x-mirror": "\(request.method) \(place)"], body: flaw == .losesBodies ? .empty : request.body)
    case .name("pieces", _):
      let stream = ByteStream(limit: 1)
      Task {
        try await stream.write(Array("one".utf8))
        if flaw != .losesPieces { try await stream.write(Array("two".utf8)) }
        stream.finish()
      }
      return HTTPResponse(body: .stream(stream))
    case .name("crash", _):
      throw FunctionsServiceError(.internal, flaw == .tellsErrors ? "the disk of ada" : "INTERNAL")
    case .name("wait", _):
      beginnings.add("wait")
      do { try await Gate().pass() } catch { if flaw != .hidesCancellation { cancellations.add("wait") } }
      throw FunctionsServiceError(.cancelled, "CANCELLED")
    default:
      if flaw == .findsEverything { return HTTPResponse() }
      throw FunctionsServiceError(.notFound, "NOT FOUND")
    }
  }

  func subject(patience: Duration = .seconds(60)) -> HTTPFunctionsSubject {
    HTTPFunctionsSubject(
      backend: self, beginnings: beginnings, cancellations: cancellations, patience: patience)
  }
}

@Suite struct HTTPFunctionsContractsTests {
  @Test(arguments: HTTPFunctionsContracts.all) func `a right backend honours`(
    contract: Contract<HTTPFunctionsSubject>
  ) async throws {
    try await contract.verify(SmallBackend(flaw: .none).subject())
  }

  /// The promise that each flaw breaks.
  private static let broken: [(flaw: SmallBackend.Flaw, promise: String)] = [
    (.losesQueries, "a function gets the request as it came, and its response leaves as it made it"),
    (.losesBodies, "a function gets the request as it came, and its response leaves as it made it"),
    (.losesPieces, "a streamed response arrives while it is written"),
    (.confusesKinds, "functions that are called are told from those that answer requests"),
    (.findsEverything, "an unknown function is not found"),
    (.tellsErrors, "an error that is no failure of a call is INTERNAL, and reveals nothing"),
    (.hidesCancellation, "a cancelled request ends at once, and the function is cancelled"),
    (.ignoresDeadline, "a request whose deadline has passed does not begin"),
  ]

  @Test func `every promise is broken by a wrong backend`() {
    #expect(Set(Self.broken.map(\.promise)) == Set(HTTPFunctionsContracts.all.map(\.name)))
    #expect(Set(Self.broken.map(\.flaw)) == Set(SmallBackend.Flaw.allCases).subtracting([.none]))
  }

  @Test(arguments: broken)
  fileprivate func `a wrong backend is caught by the promise that it breaks`(
    flaw: SmallBackend.Flaw, promise: String
  ) async {
    let outcomes = await HTTPFunctionsContracts.all.filter { $0.name == promise }.run { _ in
      SmallBackend(flaw: flaw).subject(patience: .milliseconds(200))
    }
    #expect(outcomes.map(\.isKept) == [false], "\(flaw)")
  }
}

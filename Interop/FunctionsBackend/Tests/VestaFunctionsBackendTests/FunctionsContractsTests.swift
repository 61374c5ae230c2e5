import Testing
import VestaBytes
import VestaFunctionsBackend
import VestaFunctionsBackendContracts
import VestaServiceInterop
import VestaTesting

/// A backend that answers at once, in ways that can be made wrong one by one.
private struct SmallBackend: FunctionsBackend {
  enum Flaw: CaseIterable {
    case none, losesData, losesDetails, tellsErrors, findsEverything, forgetsURLs, losesOrder, losesResult, losesFailure
    case ignoresDeadline, ignoresCancellation, hidesCancellation, keepsStreaming, sendsPlainResults, losesStreamedResult
    case takesAnyCredential, streamsForAnyCredential
  }

  let flaw: Flaw
  let beginnings = Log<String>()
  let cancellations = Log<String>()

  func call(_ call: FunctionCall, context: CallContext) async throws -> JSONValue {
    if let deadline = context.deadline, deadline < 1000, flaw != .ignoresDeadline {
      throw FunctionsServiceError(.deadlineExceeded, "late")
    }
    if flaw != .takesAnyCredential { try check(context) }
    return try await run(call) { _ in }
  }

  private func check(_ context: CallContext) throws {
    if case .credential = context.caller { throw FunctionsServiceError(.unauthenticated, "Unauthenticated") }
  }

  private func name(_ target: FunctionTarget) throws -> String {
    switch target {
    case .name(let name, "us-central1"): return name
    case .name(let name, _) where flaw == .findsEverything: return name
    case .url(let url) where flaw != .forgetsURLs: return String(url.split(separator: "/").last ?? "")
    default: throw FunctionsServiceError(.notFound, "NOT FOUND")
    }
  }

  private func run(_ call: FunctionCall, _ send: (JSONValue) -> Void) async throws -> JSONValue {
    let failure = FunctionsServiceError(
      .alreadyExists, "taken", details: flaw == .losesDetails ? nil : ["by": "ada"])
    switch try name(call.target) {
    case "echo": return flaw == .losesData ? .null : call.data
    case "fail": throw failure
    case "crash": throw FunctionsServiceError(.internal, flaw == .tellsErrors ? "the disk of ada" : "INTERNAL")
    case "count":
      let numbers = 1...(call.data.integer ?? 1)
      for number in flaw == .losesOrder ? numbers.reversed() : Array(numbers) { send(.integer(number)) }
      return flaw == .losesStreamedResult ? .null : "done"
    case "countAndFail":
      send(1)
      send(2)
      if flaw == .losesFailure { return .null }
      throw failure
    case "wait":
      beginnings.add("wait")
      do {
        try await Gate().pass()
        return .null
      } catch {
        if flaw == .ignoresCancellation { return .null }
        if flaw != .hidesCancellation { cancellations.add("wait") }
        throw FunctionsServiceError(.cancelled, "CANCELLED")
      }
    default:
      throw FunctionsServiceError(.notFound, "NOT FOUND")
    }
  }

  func stream(_ call: FunctionCall, context: CallContext) -> AsyncThrowingStream<FunctionEvent, any Error> {
    AsyncThrowingStream { continuation in
      let task = Task {
        do {
          if flaw != .streamsForAnyCredential { try check(context) }
          let result = try await run(call) { continuation.yield(.message($0)) }
          if flaw == .sendsPlainResults { continuation.yield(.message(result)) }
          if flaw != .losesResult { continuation.yield(.result(result)) }
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
      continuation.onTermination = { _ in if flaw != .keepsStreaming { task.cancel() } }
    }
  }

  func subject(patience: Duration = .seconds(60)) -> FunctionsSubject {
    FunctionsSubject(backend: self, beginnings: beginnings, cancellations: cancellations, patience: patience)
  }
}

@Suite struct FunctionsContractsTests {
  @Test(arguments: FunctionsContracts.all) func `a right backend honours`(
    contract: Contract<FunctionsSubject>
  ) async throws {
    try await contract.verify(SmallBackend(flaw: .none).subject())
  }

  /// The promise that each flaw breaks.
  private static let broken: [(flaw: SmallBackend.Flaw, promise: String)] = [
    (.losesData, "a call returns what the function returns"),
    (.losesDetails, "a failure has the function's code, message and details"),
    (.tellsErrors, "an error that is no failure of a call is INTERNAL, and reveals nothing"),
    (.findsEverything, "an unknown function is not found, also in another region"),
    (.forgetsURLs, "a function is found by its URL"),
    (.ignoresCancellation, "a cancelled call ends at once, and the function is cancelled"),
    (.hidesCancellation, "a cancelled call ends at once, and the function is cancelled"),
    (.ignoresDeadline, "a call whose deadline has passed does not begin"),
    (.losesOrder, "a stream has the messages in order, then the result, then the end"),
    (.losesResult, "a stream has the messages in order, then the result, then the end"),
    (.losesFailure, "a stream throws the function's failure after the messages before it"),
    (.keepsStreaming, "leaving a stream cancels the function"),
    (.sendsPlainResults, "a stream of a function that does not stream has its result alone"),
    (.losesStreamedResult, "a call of a streaming function returns its result"),
    (.takesAnyCredential, "a credential that cannot be verified is refused, and no function begins"),
    (.streamsForAnyCredential, "a credential that cannot be verified is refused, and no function begins"),
  ]

  @Test func `every promise is broken by a wrong backend`() {
    #expect(Set(Self.broken.map(\.promise)) == Set(FunctionsContracts.all.map(\.name)))
    #expect(Set(Self.broken.map(\.flaw)) == Set(SmallBackend.Flaw.allCases).subtracting([.none]))
  }

  @Test(arguments: broken)
  fileprivate func `a wrong backend is caught by the promise that it breaks`(
    flaw: SmallBackend.Flaw, promise: String
  ) async {
    let outcomes = await FunctionsContracts.all.filter { $0.name == promise }.run { _ in
      SmallBackend(flaw: flaw).subject(patience: .milliseconds(200))
    }
    #expect(outcomes.map(\.isKept) == [false], "\(flaw)")
  }
}

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
  }

  let flaw: Flaw
  let beginnings = Log<String>()
  let cancellations = Log<String>()

  func call(_ call: FunctionCall, context: CallContext) async throws -> JSONValue {
    if let deadline = context.deadline, deadline < 1000 { throw FunctionsServiceError(.deadlineExceeded, "late") }
    return try await run(call) { _ in }
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
      return "done"
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
        cancellations.add("wait")
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
          let result = try await run(call) { continuation.yield(.message($0)) }
          if flaw != .losesResult { continuation.yield(.result(result)) }
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  var subject: FunctionsSubject {
    FunctionsSubject(backend: self, beginnings: beginnings, cancellations: cancellations)
  }
}

@Suite struct FunctionsContractsTests {
  @Test(arguments: FunctionsContracts.all) func `a right backend honours`(
    contract: Contract<FunctionsSubject>
  ) async throws {
    try await contract.verify(SmallBackend(flaw: .none).subject)
  }

  @Test(arguments: SmallBackend.Flaw.allCases.filter { $0 != .none })
  fileprivate func `a wrong backend is caught`(flaw: SmallBackend.Flaw) async {
    let outcomes = await FunctionsContracts.all.run(against: { SmallBackend(flaw: flaw).subject })
    #expect(outcomes.contains { !$0.isKept }, "\(flaw)")
  }
}

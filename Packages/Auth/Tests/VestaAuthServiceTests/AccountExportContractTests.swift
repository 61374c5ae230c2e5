import Testing
import VestaAuthBackend
import VestaAuthBackendContracts
import VestaAuthRemote
import VestaServiceInterop
import VestaTesting

@testable import VestaAuthService

/// The contract of exports and imports: engines keep it, alone and behind their endpoints, and for each promise there
/// is a wrong export that breaks it and nothing else.
@Suite(.timeLimit(.minutes(5))) struct AccountExportContractTests {
  private static func subject() -> AccountExportSubject {
    let (source, target) = (World(), World())
    return AccountExportSubject(
      from: source.engine, source.engine.administration, to: target.engine, target.engine.administration)
  }

  @Test(arguments: AccountExportContracts.all)
  func `engines keep every promise`(_ contract: Contract<AccountExportSubject>) async throws {
    try await contract.verify(Self.subject())
  }

  @Test(arguments: AccountExportContracts.all)
  func `engines behind endpoints keep every promise`(_ contract: Contract<AccountExportSubject>) async throws {
    let source = try await Served.onFakeNetwork(isSuite: true)
    let target = try await Served.onFakeNetwork(isSuite: true)
    try await contract.verify(
      AccountExportSubject(
        from: source.remote, source.remote.administration, to: target.remote, target.remote.administration))
  }

  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription, broken: String
    let change: @Sendable (inout AccountExportSubject) -> Void

    init(_ fault: String, breaks broken: String, change: @escaping @Sendable (inout AccountExportSubject) -> Void) {
      (testDescription, self.broken, self.change) = (fault, broken, change)
    }
  }

  @Test(arguments: faults) func `a wrong export breaks exactly its promise`(_ fault: Fault) async {
    let outcomes = await AccountExportContracts.all.run {
      var subject = Self.subject()
      fault.change(&subject)
      return subject
    }
    #expect(outcomes.filter { !$0.isKept }.map(\.name) == [fault.broken], "\(outcomes.filter { !$0.isKept })")
  }

  @Test func `every promise has an export that breaks it`() {
    #expect(Set(AccountExportContracts.all.map(\.name)) == Set(Self.faults.map(\.broken)))
  }

  static let faults: [Fault] = [
    Fault(
      "exports another salt", breaks: "an export in parts is imported elsewhere, and the password signs in"
    ) { subject in
      let good = subject.export
      subject.export = { request in
        var page = try await good(request)
        for index in page.users.indices where page.users[index].salt != nil { page.users[index].salt = "AAAA" }
        return page
      }
    },
    Fault(
      "ignores the form", breaks: "an export as text is imported elsewhere, and the password signs in"
    ) { [export = Self.formless] subject in
      let good = subject.export
      subject.export = { try await export(good, $0) }
    },
    Fault("exports every salt", breaks: "an export in parts has no hash that was made in another way") { subject in
      let good = subject.export
      subject.export = { request in
        var page = try await good(request)
        for index in page.users.indices where page.users[index].salt == nil { page.users[index].salt = "AAAA" }
        return page
      }
    },
    Fault(
      "loses the first address", breaks: "an imported account keeps its times and its first address"
    ) { subject in
      let good = subject.export
      subject.export = { request in
        var page = try await good(request)
        for index in page.users.indices { page.users[index].initialEmail = nil }
        return page
      }
    },
  ]

  private typealias Export = @Sendable (BatchGetRequest) async throws -> BatchGetResponse

  /// Exports in parts where a hash has them.
  private static let formless: @Sendable (Export, BatchGetRequest) async throws -> BatchGetResponse = { good, request in
    var request = request
    let text = try await good(request)
    request.hashForm = .parts
    let parts = try await good(request)
    return parts.users.allSatisfy { $0.salt != nil } ? parts : text
  }
}

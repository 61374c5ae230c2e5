import Testing
import VestaBytes
import VestaServiceInterop
import VestaServiceInteropContracts
import VestaServiceInteropFakes
import VestaTesting

/// The contract of services that enforce App Check: `CallerCheck` keeps it, and each wrong check breaks its promise.
@Suite struct AppCheckContractTests {
  typealias Check = @Sendable (CallContext) async throws -> Void

  private static let strict = CallerCheck(apps: FakeAppCheckVerifier(["good": "app"]), enforcesAppCheck: true)

  private func broken(_ call: @escaping Check) async -> [String] {
    let outcomes = await AppCheckEnforcementContracts.all.run { AppCheckEnforcementSubject(token: "good", call: call) }
    return outcomes.filter { !$0.isKept }.map(\.name)
  }

  @Test func `a check that enforces App Check keeps every promise`() async {
    #expect(await broken { _ = try await Self.strict.verified($0) } == [])
  }

  @Test func `a check that does not enforce App Check breaks both refusals`() async {
    let lax = CallerCheck(apps: FakeAppCheckVerifier(["good": "app"]))
    #expect(await broken { _ = try await lax.verified($0) } == AppCheckEnforcementContracts.all.prefix(2).map(\.name))
  }

  @Test(arguments: 0..<4)
  func `a wrong check breaks exactly its promise`(_ index: Int) async {
    #expect(await broken(Self.flaws[index]) == [AppCheckEnforcementContracts.all[index].name])
  }

  @Test func `every promise has a wrong check`() { #expect(Self.flaws.count == AppCheckEnforcementContracts.all.count) }

  /// One for each promise, in their order.
  private static let flaws: [Check] = [
    // Takes a signed-in user for a genuine app.
    { if $0.user == nil { _ = try await strict.verified($0) } },
    // Looks at whether there is a token.
    { if $0.appCheck.unverifiedToken == nil { _ = try await strict.verified($0) } },
    // Knows tokens that are not verified alone.
    { context in
      var context = context
      if context.appCheck.appID != nil { context.appCheck = .none }
      _ = try await strict.verified(context)
    },
    // Asks owners for a token.
    { context in
      var context = context
      if context.isOwner { context.caller = .nobody }
      _ = try await strict.verified(context)
    },
  ]
}

/// The contract of failures that pass an adapter: the envelope of HTTP keeps it, and each wrong adapter breaks its
/// promise.
@Suite struct StatusContractTests {
  typealias Adapter = @Sendable (ServiceStatus) async throws -> ServiceStatus

  private static let envelope: Adapter = { status in
    ServiceStatus(httpStatus: status.code.httpStatus, body: try status.envelope().object.json())
  }

  private func broken(_ deliver: @escaping Adapter) async -> [String] {
    let outcomes = await StatusContracts.all.run { StatusAdapterSubject(deliver: deliver) }
    return outcomes.filter { !$0.isKept }.map(\.name)
  }

  @Test func `the envelope of HTTP keeps every promise`() async { #expect(await broken(Self.envelope) == []) }

  @Test func `an adapter that has the status of HTTP alone loses the code`() async {
    let found = await broken { status in
      let kept = try await Self.envelope(status)
      return ServiceStatus(ServiceCode(httpStatus: status.code.httpStatus), kept.message, details: kept.details)
    }
    #expect(found == [StatusContracts.all[0].name])
  }

  @Test func `an adapter with whole seconds loses the time`() async {
    let found = await broken { status in
      var status = status
      status.details = status.details.map { detail in
        if case .retryInfo(let after) = detail { .retryInfo(after: .seconds(after.components.seconds)) } else { detail }
      }
      return try await Self.envelope(status)
    }
    #expect(found == [StatusContracts.all[1].name])
  }

  @Test func `an adapter that keeps the time alone loses the other details`() async {
    let found = await broken { status in
      var status = status
      status.details = status.details.filter { if case .retryInfo = $0 { true } else { false } }
      return try await Self.envelope(status)
    }
    #expect(found == [StatusContracts.all[2].name])
  }
}

import Testing
import VestaConcurrency
import VestaFunctionsBackend
import VestaServiceInterop
import VestaServiceInteropContracts
import VestaServiceInteropFakes
import VestaTesting

@Suite struct ServiceImplementations {
  static let verifiers: [Implementation<CallerVerifierSubject>] = [
    Implementation("FakeCallerVerifier") { verifier { fake, _ in fake } },
    Implementation("CachedCallerVerifier") { verifier { CachedCallerVerifier($0, clock: $1) } },
  ]

  @Test(arguments: verifiers)
  func `a verifier keeps every promise`(_ implementation: Implementation<CallerVerifierSubject>) async {
    await implementation.keeps(CallerVerifierContracts.all)
  }

  private static func verifier(
    _ wrapped: (FakeCallerVerifier, ServiceClock) -> any CallerVerifier
  ) -> CallerVerifierSubject {
    let clock = ManualClock()
    let fake = FakeCallerVerifier(clock: clock.service)
    return CallerVerifierSubject(
      wrapped(fake, clock.service), project: "p", issue: { fake.issue($0, project: "p", lifetime: $1) },
      forge: { genuine, uid in .idToken("\(genuine.token)|\(uid)") }, advance: { clock.advance(by: $0) })
  }

  static let calls: [Implementation<DuplexSubject>] = [
    Implementation("DuplexSource") {
      let source = DuplexSource<Int, Int>(isAcknowledging: true) { FunctionsServiceError(.resourceExhausted, $0) }
      source.start { _ in }
      return DuplexSubject(
        source.call,
        take: { count in for _ in 0..<count where source.pendingRequests > 0 { source.hasTaken() } },
        end: { source.end() })
    }
  ]

  @Test(arguments: calls)
  func `a call with streams keeps every promise`(_ implementation: Implementation<DuplexSubject>) async {
    await implementation.keeps(DuplexContracts.all)
  }
}

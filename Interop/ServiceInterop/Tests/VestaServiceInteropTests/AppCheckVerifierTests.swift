import Testing
import VestaConcurrency
import VestaServiceInterop
import VestaServiceInteropContracts
import VestaServiceInteropFakes
import VestaTesting

/// The contract of verifiers of App Check tokens: the fake keeps it, and each wrong one breaks its promise.
@Suite struct AppCheckVerifierTests {
  /// A flaw for each promise, in their order, after none.
  fileprivate enum Flaw: CaseIterable { case none, namesTheToken, consumesAnything, forgets, looksBefore }

  private func broken(_ flaw: Flaw) async -> [String] {
    let outcomes = await AppCheckVerifierContracts.all.run {
      let tokens = (0..<8).map { "token-\($0)" }
      let left = Locked(tokens)
      let fake = FakeAppCheckVerifier(Dictionary(uniqueKeysWithValues: tokens.map { ($0, "app") }))
      return AppCheckVerifierSubject(WrongVerifier(inner: fake, flaw: flaw)) {
        (left.withLock { $0.removeLast() }, "app")
      }
    }
    return outcomes.filter { !$0.isKept }.map(\.name)
  }

  @Test func `the fake keeps every promise`() async { #expect(await broken(.none) == []) }

  @Test(arguments: 0..<4) func `a wrong verifier breaks exactly its promise`(_ index: Int) async {
    #expect(await broken(Flaw.allCases[index + 1]) == [AppCheckVerifierContracts.all[index].name])
  }

  @Test func `every promise has a wrong verifier`() {
    #expect(Flaw.allCases.count == AppCheckVerifierContracts.all.count + 1)
  }

  @Test func `a verifier without a record of tokens refuses to consume one`() async {
    struct Plain: AppCheckVerifier {
      func verify(
        appCheckToken token: String, project: String?
      ) async throws(ServiceStatus) -> (appID: String, tokenID: String?) {
        ("app", nil)
      }
    }
    let error = await #expect(throws: ServiceStatus.self) {
      try await Plain().consume(appCheckToken: "a", project: nil)
    }
    #expect(error?.code == .unimplemented)
  }

  private struct WrongVerifier: AppCheckVerifier {
    let inner: FakeAppCheckVerifier
    let flaw: Flaw
    let seen = Locked<Set<String>>([])

    func verify(
      appCheckToken token: String, project: String?
    ) async throws(ServiceStatus) -> (appID: String, tokenID: String?) {
      let found = try await inner.verify(appCheckToken: token, project: project)
      return flaw == .namesTheToken ? (token, found.tokenID) : found
    }

    func consume(appCheckToken token: String, project: String?) async throws(ServiceStatus) -> Bool {
      switch flaw {
      case .consumesAnything: return !seen.withLock { $0.insert(token).inserted }
      case .forgets:
        _ = try await inner.verify(appCheckToken: token, project: project)
        // Remembers the last one alone.
        return seen.withLock { seen in
          defer { seen = [token] }
          return seen.contains(token)
        }
      case .looksBefore:
        _ = try await inner.verify(appCheckToken: token, project: project)
        let isConsumed = seen.withLock { $0.contains(token) }
        for _ in 0..<200 { await Task.yield() }
        seen.withLock { _ = $0.insert(token) }
        return isConsumed
      default: return try await inner.consume(appCheckToken: token, project: project)
      }
    }
  }
}

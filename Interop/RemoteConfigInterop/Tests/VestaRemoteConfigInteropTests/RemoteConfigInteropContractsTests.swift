import Testing
import VestaConcurrency
import VestaRemoteConfigInterop
import VestaRemoteConfigInteropContracts
import VestaRemoteConfigInteropFakes
import VestaTesting

/// The fake with at most one flaw.
private final class Flawed: RemoteConfigInterop {
  enum Flaw: String, CaseIterable { case greetsNobody, forgetsTheFirst, repeatsItself }

  /// A subscriber between the fake and the real one.
  private final class Filter: RolloutsStateSubscriber {
    let subscriber: any RolloutsStateSubscriber
    private let flaw: Flaw?
    private let isFirst = Locked(true)

    init(_ subscriber: any RolloutsStateSubscriber, _ flaw: Flaw?) {
      self.subscriber = subscriber
      self.flaw = flaw
    }

    func rolloutsStateDidChange(_ state: RolloutsState) {
      let isGreeting = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      if isGreeting, flaw == .greetsNobody { return }
      if !isGreeting, flaw == .forgetsTheFirst, state.assignments.contains(where: { $0.parameterValue == "a" }) {
        return
      }
      subscriber.rolloutsStateDidChange(state)
      if !isGreeting, flaw == .repeatsItself { subscriber.rolloutsStateDidChange(state) }
    }
  }

  private let fake = FakeRemoteConfig()
  private let flaw: Flaw?

  init(_ flaw: Flaw? = nil) { self.flaw = flaw }

  func registerRolloutsStateSubscriber(_ subscriber: any RolloutsStateSubscriber, for namespace: String) {
    fake.registerRolloutsStateSubscriber(Filter(subscriber, flaw), for: namespace)
  }

  func subject(_ patience: Duration = .seconds(30)) -> RemoteConfigInteropSubject {
    RemoteConfigInteropSubject(self, patience: patience) { [fake] in fake.activate($0.map { [assignment($0)] } ?? []) }
  }
}

private func assignment(_ value: String) -> RolloutAssignment {
  RolloutAssignment(rolloutId: "r", variantId: "v", templateVersion: 1, parameterKey: "key", parameterValue: value)
}

@Suite struct RemoteConfigInteropContractsTests {
  @Test(arguments: RemoteConfigInteropContracts.all)
  func `the fake passes`(contract: Contract<RemoteConfigInteropSubject>) async throws {
    let fake = FakeRemoteConfig()
    try await contract.verify(
      RemoteConfigInteropSubject(fake) { fake.activate($0.map { [assignment($0)] } ?? []) })
  }

  @Test func `namespaces have separate rollouts`() async throws {
    let fake = FakeRemoteConfig()
    fake.activate([assignment("a")], for: "other")
    try await RemoteConfigInteropContracts.all[0].verify(
      RemoteConfigInteropSubject(fake) { fake.activate($0.map { [assignment($0)] } ?? []) })
  }

  @Test(arguments: Array(zip(Flawed.Flaw.allCases, RemoteConfigInteropContracts.all.indices)))
  private func `each flaw is found by its contract`(flaw: Flawed.Flaw, index: Int) async throws {
    await #expect(throws: (any Error).self) {
      try await RemoteConfigInteropContracts.all[index].verify(Flawed(flaw).subject(.milliseconds(300)))
    }
  }

  @Test func `assignments with the same contents are one, until one of them is changed`() {
    func make(_ value: String) -> RolloutAssignment {
      RolloutAssignment(rolloutId: "r", variantId: "v", templateVersion: 1, parameterKey: "k", parameterValue: value)
    }
    #expect(RolloutsState(assignmentList: [make("a"), make("a"), make("b")]).assignments.count == 2)
    #expect(RolloutsState(assignmentList: [make("a")]) == RolloutsState(assignmentList: [make("a")]))
    let changed = make("a")
    (changed.rolloutId, changed.variantId, changed.templateVersion) = ("s", "w", 2)
    (changed.parameterKey, changed.parameterValue) = ("l", "c")
    #expect(changed != make("a"))
    #expect("\(changed.rolloutId)\(changed.variantId)\(changed.templateVersion)" == "sw2")
    #expect(changed.parameterKey == "l" && changed.parameterValue == "c")
  }
}

import Testing
import VestaConcurrency
import VestaRemoteConfigInterop
import VestaRemoteConfigInteropContracts
import VestaTesting

/// An implementation with at most one flaw.
private final class Simple: RemoteConfigInterop {
  enum Flaw: String, CaseIterable { case greetsNobody, forgetsTheFirst, repeatsItself }

  private let source = StateSource<RolloutsState, RolloutsState>(
    RolloutsState(assignmentList: []), greeting: { $0 })
  private let flaw: Flaw?

  init(_ flaw: Flaw? = nil) { self.flaw = flaw }

  func registerRolloutsStateSubscriber(_ subscriber: any RolloutsStateSubscriber, for namespace: String) {
    let isFirst = Locked(true)
    _ = source.add { [flaw] state in
      let isGreeting = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      if isGreeting, flaw == .greetsNobody { return }
      if !isGreeting, flaw == .forgetsTheFirst, state.assignments.contains(where: { $0.parameterValue == "a" }) {
        return
      }
      subscriber.rolloutsStateDidChange(state)
    }
  }

  func activate(_ value: String?) {
    let assignments = value.map {
      [RolloutAssignment(rolloutId: "r", variantId: "v", templateVersion: 1, parameterKey: "key", parameterValue: $0)]
    }
    let next = RolloutsState(assignmentList: assignments ?? [])
    source.change { state, announce in
      guard state != next || flaw == .repeatsItself else { return }
      state = next
      announce(next)
    }
  }

  func subject(_ patience: Duration = .seconds(30)) -> RemoteConfigInteropSubject {
    RemoteConfigInteropSubject(self, patience: patience) { self.activate($0) }
  }
}

@Suite struct RemoteConfigInteropContractsTests {
  @Test(arguments: RemoteConfigInteropContracts.all)
  func `an implementation without a flaw passes`(contract: Contract<RemoteConfigInteropSubject>) async throws {
    try await contract.verify(Simple().subject())
  }

  @Test(arguments: Array(zip(Simple.Flaw.allCases, RemoteConfigInteropContracts.all.indices)))
  private func `each flaw is found by its contract`(flaw: Simple.Flaw, index: Int) async throws {
    await #expect(throws: (any Error).self) {
      try await RemoteConfigInteropContracts.all[index].verify(Simple(flaw).subject(.milliseconds(300)))
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

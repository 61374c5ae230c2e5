import Testing
import VestaConcurrency
import VestaEventsInterop
import VestaEventsInteropContracts
import VestaEventsInteropFakes
import VestaTesting

/// The contract of deliveries to functions of other programs: the fake keeps it, and each wrong one is found.
@Suite(.timeLimit(.minutes(10))) struct TriggerDeliveryTests {
  enum Mistake: CaseIterable {
    case none, returnsEarly, callsTwice, losesProjects, swallowsFailures, makesNewIDs, ignoresCancellation,
      takesOneAtATime,
      repeatsKeys, standsForNothing
  }

  /// A delivery with one mistake.
  private final class Flawed: EventTriggerDelivery {
    let base: FakeEventTriggerDelivery
    let mistake: Mistake
    private let count = Locked(0)
    private let isBusy = Locked(false)

    init(_ base: FakeEventTriggerDelivery, _ mistake: Mistake) { (self.base, self.mistake) = (base, mistake) }

    var keepsTriggers: Bool { base.keepsTriggers }

    var standing: [EventTrigger] {
      let trigger = EventTrigger(key: "all", eventType: "", generation: .multicast, types: [.userCreated])
      switch mistake {
      case .repeatsKeys: return [trigger, trigger]
      case .standsForNothing:
        var empty = trigger
        empty.types = []
        return [empty]
      default: return [trigger]
      }
    }

    func deliver(_ event: Event, to trigger: EventTrigger, of project: String) async throws {
      var (event, project) = (event, project)
      switch mistake {
      case .returnsEarly: return
      case .callsTwice: try await base.deliver(event, to: trigger, of: project)
      case .losesProjects: project = "p"
      case .swallowsFailures: return (try? await base.deliver(event, to: trigger, of: project)) ?? ()
      case .makesNewIDs:
        let number = count.withLock { count in
          count += 1
          return count
        }
        event.id += number == 1 ? "" : "-\(number)"
      case .ignoresCancellation:
        let copy = event
        return (try? await base.deliver(copy, to: trigger, of: project)) ?? ()
      case .takesOneAtATime:
        let isFree = isBusy.withLock { isBusy in
          defer { isBusy = true }
          return !isBusy
        }
        guard isFree else { return }
        defer { isBusy.withLock { $0 = false } }
        for _ in 0..<50 { await Task.yield() }
        return try await base.deliver(event, to: trigger, of: project)
      default: break
      }
      try await base.deliver(event, to: trigger, of: project)
    }
  }

  private func subject(_ mistake: Mistake) -> EventTriggerDeliverySubject {
    let fake = FakeEventTriggerDelivery()
    return EventTriggerDeliverySubject(Flawed(fake, mistake)) {
      fake.calls.map { .init(event: $0.event.id, function: $0.trigger.key, project: $0.project) }
    } answer: { answer in
      fake.setFailures(0)
      fake.setReachable(true)
      fake.setSilent(false)
      switch answer {
      case .success: break
      case .failure: fake.setFailures(1)
      case .unreachable: fake.setReachable(false)
      case .silence: fake.setSilent(true)
      }
    }
  }

  @Test(arguments: EventTriggerDeliveryContracts.all)
  func `the fake keeps every promise`(_ contract: Contract<EventTriggerDeliverySubject>) async throws {
    try await contract.verify(subject(.none))
  }

  private static let broken: [(Mistake, String)] = [
    (.returnsEarly, "a delivery that has returned has called"),
    (.callsTwice, "a delivery that has returned has called"),
    (.losesProjects, "a delivery that has returned has called"), (.swallowsFailures, "a function that fails"),
    (.makesNewIDs, "a delivery that is made again"), (.ignoresCancellation, "a cancelled delivery ends"),
    (.takesOneAtATime, "deliveries at the same time"), (.repeatsKeys, "standing triggers"),
    (.standsForNothing, "standing triggers"),
  ]

  @Test(arguments: broken)
  func `a wrong delivery is found by the promise that it breaks`(_ mistake: Mistake, _ promise: String) async throws {
    let contract = try #require(EventTriggerDeliveryContracts.all.first { $0.name.hasPrefix(promise) })
    await #expect(throws: (any Error).self) { try await contract.verify(subject(mistake)) }
  }

  @Test func `every promise has a wrong delivery`() {
    for contract in EventTriggerDeliveryContracts.all {
      #expect(Self.broken.contains { contract.name.hasPrefix($0.1) }, "\(contract.name)")
    }
  }
}

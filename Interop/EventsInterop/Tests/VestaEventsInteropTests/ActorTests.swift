import Testing
import VestaConcurrency
import VestaEventsInterop
import VestaEventsInteropContracts
import VestaStoreInteropFakes
import VestaTesting

/// Events say who has made their change, and an engine that forgets it, or the wish for none, is found out.
@Suite struct ActorTests {
  enum Mistake: CaseIterable { case none, ignoresTheWish, staysSilent, forgetsActors, takesTheFirstActor, losesLetters }

  private func subject(_ mistake: Mistake) -> EventActorSubject {
    let store = ModelStore()
    let outbox = makeOutbox(store)
    let state = Locked((wasSilent: false, first: EventActor?.none))
    let source: any EventSource = mistake == .losesLetters ? FlawedSource(outbox, .losesDeadLetters) : outbox
    let actors = [EventActor.unauthenticated, .user("ada"), .owner("backup")]
    return EventActorSubject(source: source, actors: actors) { actor, isSilent in
      let (wasSilent, first) = state.withLock { state in
        if isSilent { state.wasSilent = true }
        state.first = state.first ?? actor
        return (state.wasSilent, state.first)
      }
      guard !isSilent || mistake == .ignoresTheWish, !(wasSilent && mistake == .staysSilent) else { return }
      let said: EventActor? =
        switch mistake {
        case .forgetsActors: nil
        case .takesTheFirstActor: first
        default: actor
        }
      _ = try await store.write { transaction in
        let functions = outbox.interest?.functions(for: .documentCreated, scope: "", path: "a") ?? []
        let draft = EventDraft(.documentCreated, path: "a", functions: functions, actor: said, payload: [1])
        try await outbox.append([draft], in: transaction)
      }
    }
  }

  @Test func `an outbox keeps who has made a change`() async throws {
    for contract in EventActorContracts.all { try await contract.verify(subject(.none)) }
  }

  @Test(arguments: [
    (Mistake.ignoresTheWish, "a call that suppresses events has none, and the next one has its own"),
    (.staysSilent, "a call that suppresses events has none, and the next one has its own"),
    (.forgetsActors, "an event says who has made the change"),
    (.takesTheFirstActor, "an event says who has made the change"),
    (.forgetsActors, "an event that is sent again says it still"),
    (.losesLetters, "an event that is sent again says it still"),
  ])
  func `a wrong engine is caught by the promise that it breaks`(mistake: Mistake, promise: String) async throws {
    let contract = try #require(EventActorContracts.all.first { $0.name == promise })
    await #expect(throws: (any Error).self) { try await contract.verify(subject(mistake)) }
  }
}

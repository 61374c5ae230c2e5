public import VestaEventsInterop
public import VestaTesting

/// An engine whose changes have events, to be held to what it owes to a call: nothing of a call that suppresses events,
/// and who has called.
public struct EventActorSubject: Sendable {
  /// The events of the engine.
  public let source: any EventSource

  /// The callers that may make the change, with what their events say of them.
  public let actors: [EventActor]

  private let pattern: EventPattern?
  private let change: @Sendable (_ actor: EventActor, _ isSilent: Bool) async throws -> Void

  /// A subject.
  ///
  /// - Parameters:
  ///   - source: The events of the engine, without other users.
  ///   - actors: The callers that may make the change; more than one kind where the engine serves them.
  ///   - pattern: The pattern of the paths, where the engine wants one.
  ///   - change: Makes changes that are events, as a caller; in a call that suppresses events when `isSilent` is true.
  public init(
    source: any EventSource, actors: [EventActor], pattern: EventPattern? = nil,
    change: @escaping @Sendable (_ actor: EventActor, _ isSilent: Bool) async throws -> Void
  ) {
    self.source = source
    self.actors = actors
    self.pattern = pattern
    self.change = change
  }

  func subscribe() {
    source.subscribe([EventSubscription(function: "f", types: source.types, pattern: pattern)])
  }

  func change(as actor: EventActor, isSilent: Bool = false) async throws { try await change(actor, isSilent) }

  func entries() async throws -> [EventEntry] {
    try await source.events(EventPageRequest(function: "f", limit: 1_000)).entries
  }

  /// The events that wait.
  func events() async throws -> [Event] {
    var events: [Event] = []
    for entry in try await entries() {
      if let event = try await source.event(entry) { events.append(event) }
    }
    return events
  }
}

/// The promises of engines about the events of their calls.
public enum EventActorContracts {
  /// All of them; each is checked on a fresh engine.
  public static let all: [Contract<EventActorSubject>] = [
    Contract("a call that suppresses events has none, and the next one has its own") { subject in
      subject.subscribe()
      for actor in subject.actors {
        let before = try await subject.entries().count
        try await subject.change(as: actor, isSilent: true)
        try expect(try await subject.entries().count, equals: before, "events of a call that suppresses them")
        try await subject.change(as: actor)
        try expect(try await subject.entries().count > before, "a call after that has no event")
      }
    },
    Contract("an event says who has made the change") { subject in
      subject.subscribe()
      for actor in subject.actors {
        let known = Set(try await subject.events().map(\.id))
        try await subject.change(as: actor)
        let new = try await subject.events().filter { !known.contains($0.id) }
        try expect(!new.isEmpty, "a change has no event")
        for event in new { try expect(event.actor, equals: actor, "the actor of \(event.type)") }
      }
    },
    Contract("an event that is sent again says it still") { subject in
      let (source, actor) = (subject.source, try expectValue(subject.actors.last, "an actor"))
      subject.subscribe()
      try await subject.change(as: actor)
      _ = try await source.lease(["f"], for: "one", duration: 60_000_000)
      let outcomes = try await subject.entries().map {
        EventOutcome(function: "f", position: $0.position, attempts: 1, result: .dead(at: 1, reason: "broken"))
      }
      try await source.settle(outcomes, by: "one")
      let letters = try await source.deadLetters(of: "f", limit: 100)
      for letter in letters { try expect(letter.event.actor, equals: actor, "the actor of a dead letter") }
      _ = try await source.resend(letters.map(\.position), of: "f")
      let events = try await subject.events()
      try expect(!events.isEmpty, "nothing was sent again")
      for event in events { try expect(event.actor, equals: actor, "the actor of an event that was sent again") }
    },
  ]
}

import VestaConcurrency
import VestaEventsInterop
public import VestaTesting

/// The promises of every source of events.
///
/// ```swift
/// for outcome in await EventSourceContracts.all.run(against: { makeSubject() }) { print(outcome) }
/// ```
public enum EventSourceContracts {
  /// Every promise.
  public static let all = recording + delivering + leasing

  // MARK: Recording

  static let recording: [Contract<EventSourceSubject>] = [
    Contract("nothing is recorded while nobody listens") { subject in
      try await subject.commit("rooms/a")
      subject.subscribe("f")
      try expect(try await subject.paths("f"), equals: [], "queue of a later function")
    },
    Contract("an event is recorded for each function that wants it, in commit order") { subject in
      let room = try EventPattern("rooms/{room}")
      subject.source.subscribe([
        EventSubscription(function: "all", types: [.documentCreated, .documentDeleted]),
        EventSubscription(function: "rooms", types: [.documentCreated], scope: "(default)", pattern: room),
      ])
      try await subject.commit([.init("rooms/b"), .init("rooms/a"), .init("rooms/a/messages/m")])
      try await subject.commit([.init("rooms/0", type: .documentDeleted), .init("rooms/c", scope: "other")])
      let all = try await subject.paths("all")
      try expect(
        all, equals: ["rooms/b", "rooms/a", "rooms/a/messages/m", "rooms/0", "rooms/c"], "queue without a pattern")
      try expect(try await subject.paths("rooms"), equals: ["rooms/b", "rooms/a"], "queue with a pattern")
    },
    Contract("several records of one transaction keep their order") { subject in
      subject.subscribe("f")
      for number in 0..<20 { try await subject.commit("x/\(number)", "y/\(number)") }
      let paths = try await subject.paths("f")
      try expect(paths, equals: (0..<20).flatMap { ["x/\($0)", "y/\($0)"] }, "queue")
    },
    Contract("a change that fails leaves no event") { subject in
      subject.subscribe("f")
      await subject.fail("rooms/lost")
      try await subject.commit("rooms/kept")
      try expect(try await subject.paths("f"), equals: ["rooms/kept"], "queue")
    },
    Contract("a new subscription replaces the old ones and leaves the queue") { subject in
      subject.subscribe("f")
      try await subject.commit("rooms/a")
      subject.subscribe("g")
      try await subject.commit("rooms/b")
      try expect(try await subject.paths("f"), equals: ["rooms/a"], "queue of the old function")
      try expect(try await subject.paths("g"), equals: ["rooms/b"], "queue of the new function")
    },
    Contract("an observer is notified after the commit, until it is removed") { subject in
      subject.subscribe("f")
      let observer = Recorder()
      let registration = subject.source.observe(observer)
      try await subject.commit("rooms/a")
      try expect(observer.log.entries.count >= 1, "the observer was not notified")
      registration.cancel()
      let count = observer.log.entries.count
      try await subject.commit("rooms/b")
      try expect(observer.log.entries.count, equals: count, "calls after the removal")
    },
  ]

  // MARK: Delivering

  static let delivering: [Contract<EventSourceSubject>] = [
    Contract("an event has its attributes, and the same id each time") { subject in
      subject.subscribe("f", "g")
      try await subject.commit("rooms/a", "rooms/b")
      let first = try await events(subject, "f")
      try expect(first.map(\.path), equals: ["rooms/a", "rooms/b"], "paths")
      try expect(first.map(\.type), equals: [.documentCreated, .documentCreated], "types")
      try expect(first.map(\.scope), equals: ["(default)", "(default)"], "scopes")
      try expect(Set(first.map(\.id)).count, equals: 2, "ids of different events")
      try expect(try await events(subject, "f"), equals: first, "the events read again")
      try expect(try await events(subject, "g").map(\.id), equals: first.map(\.id), "ids for another function")
    },
    Contract("pages follow one another without gaps, and the last one says so") { subject in
      subject.subscribe("f")
      for number in 0..<7 { try await subject.commit("rooms/\(number)") }
      var (paths, request) = ([String](), EventPageRequest(function: "f", limit: 3))
      for expected in [3, 3, 1] {
        let page = try await subject.source.events(request)
        try expect(page.entries.count, equals: expected, "size of a page")
        try expect(page.isLast, equals: expected == 1, "whether the page is the last one")
        paths += page.entries.map(\.lane.path)
        request.after = page.entries.last?.position
      }
      try expect(paths, equals: (0..<7).map { "rooms/\($0)" }, "all pages")
      let exact = try await subject.source.events(EventPageRequest(function: "f", limit: 7))
      try expect(exact.isLast, "a page with everything is the last one")
    },
    Contract("a page of a lane has the events of that lane only, up to a position") { subject in
      subject.subscribe("f")
      for _ in 0..<4 { try await subject.commit("rooms/a", "rooms/b") }
      let all = try await subject.queue("f")
      let page = try await subject.source.events(
        EventPageRequest(
          function: "f", after: all[1].position, through: all[5].position, lane: all[1].lane, limit: 10))
      try expect(page.entries.map(\.position), equals: [all[3].position, all[5].position], "positions")
    },
    Contract("a delivered event leaves its queue alone") { subject in
      subject.subscribe("f", "g")
      try await subject.commit("rooms/a", "rooms/b")
      try await hold(subject)
      let first = try await subject.queue("f")[0]
      try await subject.source.settle([outcome(first, 1, .delivered)], by: "me")
      try expect(try await subject.paths("f"), equals: ["rooms/b"], "queue")
      try expect(try await subject.paths("g"), equals: ["rooms/a", "rooms/b"], "queue of another function")
      try expect(try await subject.source.event(stripped(first)) == nil, "the event can still be read")
    },
    Contract("a failed event stays with its attempts and the time of the next one") { subject in
      subject.subscribe("f")
      try await subject.commit("rooms/a")
      try await hold(subject)
      let entry = try await subject.queue("f")[0]
      try expect(entry.attempts, equals: 0, "attempts of a new event")
      try await subject.source.settle([outcome(entry, 3, .retry(at: 77, reason: "no"))], by: "me")
      let failed = try await subject.queue("f")
      try expect(failed.map(\.attempts), equals: [3], "attempts")
      try expect(failed.map(\.retryTime), equals: [77], "time of the next attempt")
      try await subject.source.settle([outcome(entry, 4, .delivered)], by: "me")
      try await subject.source.settle([outcome(entry, 4, .retry(at: 9, reason: "late"))], by: "me")
      try expect(try await subject.paths("f"), equals: [], "queue after a late failure")
    },
    Contract("a dead letter leaves the queue, and is sent again at its end with its id") { subject in
      subject.subscribe("f")
      try await subject.commit("rooms/a")
      try await hold(subject)
      let event = try await events(subject, "f")[0]
      let entry = try await subject.queue("f")[0]
      try await subject.source.settle([outcome(entry, 8, .dead(at: 5, reason: "broken"))], by: "me")
      try expect(try await subject.paths("f"), equals: [], "queue")
      let letters = try await subject.source.deadLetters(of: "f", limit: 10)
      try expect(letters.map(\.event), equals: [event], "events of the dead letters")
      try expect(letters.map(\.attempts), equals: [8], "attempts")
      try expect(letters.map(\.reason), equals: ["broken"], "reasons")
      try await subject.commit("rooms/b")
      try expect(try await subject.source.resend(letters.map(\.position), of: "f"), equals: 1, "letters sent again")
      let again = try await events(subject, "f")
      try expect(again.map(\.path), equals: ["rooms/b", "rooms/a"], "queue")
      try expect(again[1], equals: event, "the event sent again")
      try expect(try await subject.queue("f")[1].attempts, equals: 0, "attempts of an event sent again")
      try expect(try await subject.source.deadLetters(of: "f", limit: 10).count, equals: 0, "dead letters")
    },
    Contract("a dead letter can be discarded, once") { subject in
      subject.subscribe("f")
      try await subject.commit("rooms/a")
      try await hold(subject)
      let entry = try await subject.queue("f")[0]
      try await subject.source.settle([outcome(entry, 8, .dead(at: 5, reason: "broken"))], by: "me")
      try expect(try await subject.source.discard([entry.position], of: "f"), equals: 1, "first time")
      try expect(try await subject.source.discard([entry.position], of: "f"), equals: 0, "second time")
      try expect(try await subject.source.resend([entry.position], of: "f"), equals: 0, "sent again")
    },
  ]

  // MARK: Leasing

  static let leasing: [Contract<EventSourceSubject>] = [
    Contract("one owner at a time has the lease of a function, until it is released") { subject in
      let (source, hour) = (subject.source, Int64(3_600_000_000))
      try expect(try await source.lease(["f"], for: "a", duration: hour), equals: ["f": .held(isNew: true)], "first")
      try expectBusy(try await source.lease(["f"], for: "b", duration: hour), within: hour, "second owner")
      try expect(
        try await source.lease(["f"], for: "a", duration: hour), equals: ["f": .held(isNew: false)], "extended")
      try await source.release(["f"], by: "b")
      try expectBusy(try await source.lease(["f"], for: "b", duration: hour), within: hour, "not its own")
      try await source.release(["f"], by: "a")
      try expect(try await source.lease(["f"], for: "b", duration: hour), equals: ["f": .held(isNew: true)], "released")
    },
    Contract("functions have leases of their own") { subject in
      let (source, hour) = (subject.source, Int64(3_600_000_000))
      _ = try await source.lease(["f"], for: "a", duration: hour)
      let leases = try await source.lease(["f", "g"], for: "b", duration: hour)
      try expect(leases["g"], equals: .held(isNew: true), "lease of another function")
      guard case .busy? = leases["f"] else { throw ContractViolation("the lease of a function is given to two") }
    },
    Contract("a lease that is over goes to another owner, and one of any length ends") { subject in
      _ = try await subject.source.lease(["f"], for: "a", duration: 1)
      // Each commit has a later version.
      try await subject.commit("rooms/a")
      try await subject.commit("rooms/b")
      let lease = try await subject.source.lease(["f"], for: "b", duration: 1)
      try expect(lease, equals: ["f": .held(isNew: true)], "lease after its end")
    },
    Contract("only the owner of the lease settles") { subject in
      subject.subscribe("f")
      try await subject.commit("rooms/a")
      let entry = try await subject.queue("f")[0]
      let refused = try await expectThrows(EventLeaseLost.self, "settling without a lease") {
        try await subject.source.settle([outcome(entry, 1, .delivered)], by: "a")
      }
      try expect(refused.functions, equals: ["f"], "functions whose lease is lost")
      _ = try await subject.source.lease(["f"], for: "a", duration: 1)
      try await subject.commit("rooms/b")
      try await subject.commit("rooms/c")
      _ = try await subject.source.lease(["f"], for: "b", duration: 3_600_000_000)
      try await expectThrows(EventLeaseLost.self, "settling after the lease was lost") {
        try await subject.source.settle([outcome(entry, 1, .delivered)], by: "a")
      }
      try expect(try await subject.paths("f").first, equals: "rooms/a", "queue")
    },
  ]

  private static func expectBusy(_ leases: [String: EventLease], within longest: Int64, _ what: String) throws {
    guard case .busy(let remaining)? = leases["f"], remaining > 0, remaining <= longest else {
      throw ContractViolation("\(what): \(leases)")
    }
  }

  private static func hold(_ subject: EventSourceSubject) async throws {
    _ = try await subject.source.lease(["f", "g"], for: "me", duration: 3_600_000_000)
  }

  private static func outcome(
    _ entry: EventEntry, _ attempts: Int, _ result: EventOutcome.Result
  ) -> EventOutcome {
    EventOutcome(function: entry.function, position: entry.position, attempts: attempts, result: result)
  }

  private static func stripped(_ entry: EventEntry) -> EventEntry {
    var entry = entry
    entry.record = nil
    return entry
  }

  private static func events(_ subject: EventSourceSubject, _ function: String) async throws -> [Event] {
    var events: [Event] = []
    for entry in try await subject.queue(function) {
      let event = try expectValue(try await subject.source.event(entry), "event of an entry")
      try expect(try await subject.source.event(stripped(entry)), equals: event, "the event read from the store")
      events.append(event)
    }
    return events
  }
}

/// Counts the calls of a source.
final class Recorder: EventSourceObserver {
  let log = Log<String>()

  func eventsWereRecorded() { log.add("recorded") }

  func othersMayHaveRecorded() {}

  func sourceWillClose() async { log.add("closed") }
}

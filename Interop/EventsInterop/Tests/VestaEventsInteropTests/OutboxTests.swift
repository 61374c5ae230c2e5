import Testing
import VestaBytes
import VestaConcurrency
import VestaEventsInterop
import VestaEventsInteropContracts
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@Suite struct OutboxContractTests {
  @Test(arguments: EventSourceContracts.all) func `the outbox honours`(
    contract: Contract<EventSourceSubject>
  ) async throws {
    try await contract.verify(makeSubject())
  }

  @Test(arguments: Flaw.allCases) func `the contracts find a source that`(flaw: Flaw) async {
    let outcomes = await EventSourceContracts.all.run { makeSubject(flaw) }
    #expect(outcomes.contains { !$0.isKept }, "no contract notices")
  }
}

@Suite struct OutboxTests {
  @Test(arguments: 0..<8 as Range<UInt64>)
  func `whichever events of a queue are settled together, they alone leave it, with their attempts`(
    seed: UInt64
  ) async throws {
    var random = SplitMix(seed: seed)
    let store = ModelStore()
    let outbox = makeOutbox(store)
    outbox.subscribe(["f", "g"].map { EventSubscription(function: $0, types: [.documentCreated]) })
    for number in 0..<100 { try await commit([.init("a/\(number)")], outbox, store) }
    _ = try await outbox.lease(["f", "g"], for: "me", duration: 3_600_000_000)
    var waiting: [String: [EventPosition]] = [:]
    for function in ["f", "g"] {
      waiting[function] = try await positions(outbox, function)
    }
    while !waiting.values.allSatisfy(\.isEmpty) {
      let share = [2, 3, 30][random.below(3)]
      var outcomes: [EventOutcome] = []
      for (function, positions) in waiting.sorted(by: { $0.key < $1.key }) {
        for position in positions where random.oneIn(share) {
          let isOver = random.oneIn(2)
          let result: EventOutcome.Result = isOver ? .delivered : .retry(at: 5, reason: "again")
          outcomes.append(EventOutcome(function: function, position: position, attempts: 1, result: result))
          if isOver { waiting[function]?.removeAll { $0 == position } }
        }
      }
      try await outbox.settle(outcomes.shuffled(using: &random), by: "me")
      for function in ["f", "g"] { #expect(try await positions(outbox, function) == waiting[function] ?? []) }
    }
    let rows = try await store.read { try await $0.entries(in: KeyRange(prefix: [9])) }
    // The leases are left: no attempts of deleted events.
    #expect(rows.count == 2, "seed \(seed)")
  }

  private func positions(_ outbox: EventOutbox, _ function: String) async throws -> [EventPosition] {
    try await outbox.events(EventPageRequest(function: function, limit: 1_000)).entries.map(\.position)
  }

  @Test func `a change is refused when too many events wait, and accepted when they are settled`() async throws {
    let store = ModelStore()
    let outbox = makeOutbox(store, EventOutboxLimits(maximumPending: 3))
    outbox.subscribe([EventSubscription(function: "f", types: [.documentCreated])])
    for number in 0..<3 { try await commit([.init("a/\(number)")], outbox, store) }
    await #expect(throws: EventOutboxFull.self) { try await commit([.init("a/3")], outbox, store) }
    let refused = try await store.get(Array("data/a/3".utf8))
    #expect(refused == nil)

    _ = try await outbox.lease(["f"], for: "me", duration: 3_600_000_000)
    let first = try await outbox.events(EventPageRequest(function: "f", limit: 1)).entries[0]
    try await outbox.settle(
      [EventOutcome(function: "f", position: first.position, attempts: 1, result: .delivered)], by: "me")
    try await commit([.init("a/3")], outbox, store)
    await #expect(throws: EventOutboxFull.self) { try await commit([.init("a/4")], outbox, store) }
  }

  @Test func `events of an earlier process count against the limit`() async throws {
    let store = ModelStore()
    let first = makeOutbox(store, EventOutboxLimits(maximumPending: 2))
    first.subscribe([EventSubscription(function: "f", types: [.documentCreated])])
    for number in 0..<2 { try await commit([.init("a/\(number)")], first, store) }
    let second = makeOutbox(store, EventOutboxLimits(maximumPending: 2))
    second.subscribe([EventSubscription(function: "f", types: [.documentCreated])])
    await #expect(throws: EventOutboxFull.self) { try await commit([.init("a/2")], second, store) }
  }

  @Test func `a full queue takes changes again after another process has settled its events`() async throws {
    let store = ModelStore()
    let (first, second) = (
      makeOutbox(store, EventOutboxLimits(maximumPending: 2)), makeOutbox(store, EventOutboxLimits(maximumPending: 2))
    )
    first.subscribe([EventSubscription(function: "f", types: [.documentCreated])])
    for number in 0..<2 { try await commit([.init("a/\(number)")], first, store) }
    await #expect(throws: EventOutboxFull.self) { try await commit([.init("a/2")], first, store) }
    _ = try await second.lease(["f"], for: "other", duration: 3_600_000_000)
    let entry = try await second.events(EventPageRequest(function: "f", limit: 1)).entries[0]
    let outcome = EventOutcome(function: "f", position: entry.position, attempts: 1, result: .delivered)
    try await second.settle([outcome], by: "other")
    var refused = 0
    while true {
      do {
        try await commit([.init("a/3")], first, store)
        break
      } catch is EventOutboxFull {
        refused += 1
      }
    }
    #expect(refused <= 1_000)
  }

  @Test func `a delivered event leaves no row, also when another owner has failed on it`() async throws {
    let store = ModelStore()
    let outbox = makeOutbox(store)
    outbox.subscribe([EventSubscription(function: "f", types: [.documentCreated])])
    try await commit([.init("a/1")], outbox, store)
    let position = try await outbox.events(EventPageRequest(function: "f", limit: 1)).entries[0].position
    func settle(_ result: EventOutcome.Result, by owner: String) async throws {
      _ = try await outbox.lease(["f"], for: owner, duration: 10)
      let outcome = EventOutcome(function: "f", position: position, attempts: 1, result: result)
      try await outbox.settle([outcome], by: owner)
      try await outbox.release(["f"], by: owner)
    }
    try await settle(.retry(at: 9, reason: "no"), by: "other")
    try await settle(.delivered, by: "me")
    #expect(try await store.read { try await $0.entries(in: KeyRange(prefix: [9])) }.isEmpty)
  }

  @Test func `a row that cannot be read is an entry with its damage, and becomes a dead letter with its bytes`()
    async throws
  {
    let store = ModelStore()
    let outbox = makeOutbox(store)
    outbox.subscribe([EventSubscription(function: "f", types: [.documentCreated])])
    for number in 0..<3 { try await commit([.init("a/\(number)")], outbox, store) }
    let rows = try await store.read { try await $0.entries(in: KeyRange(prefix: [9])) }
    try await store.put([0xFF, 0xFF], for: rows[1].key)
    let entries = try await outbox.events(EventPageRequest(function: "f", limit: 10)).entries
    #expect(entries.map { $0.damage != nil } == [false, true, false])
    await #expect(throws: EventDamaged.self) { try await outbox.event(entries[1]) }
    _ = try await outbox.lease(["f"], for: "me", duration: 3_600_000_000)
    try await outbox.settle(
      [EventOutcome(function: "f", position: entries[1].position, attempts: 1, result: .dead(at: 1, reason: "no"))],
      by: "me")
    let letters = try await outbox.deadLetters(of: "f", limit: 10)
    #expect(letters.map(\.damage) == ["no"])
    // As after an update that can read the letters: the bytes are back in the queue, unchanged.
    #expect(try await outbox.resend(letters.map(\.position), of: "f") == 1)
    let again = try await outbox.events(EventPageRequest(function: "f", limit: 10)).entries
    #expect(again.map { $0.damage != nil } == [false, false, true])
    #expect(
      try await store.read { try await $0.entries(in: KeyRange(prefix: [9])) }.last { $0.value == [0xFF, 0xFF] } != nil)
  }

  @Test func `the oldest dead letters go when there are too many`() async throws {
    let store = ModelStore()
    let outbox = makeOutbox(store, EventOutboxLimits(maximumDeadLetters: 2))
    outbox.subscribe([EventSubscription(function: "f", types: [.documentCreated])])
    for number in 0..<4 { try await commit([.init("a/\(number)")], outbox, store) }
    _ = try await outbox.lease(["f"], for: "me", duration: 3_600_000_000)
    let entries = try await outbox.events(EventPageRequest(function: "f", limit: 10)).entries
    let outcomes = entries.map {
      EventOutcome(function: "f", position: $0.position, attempts: 1, result: .dead(at: 1, reason: ""))
    }
    try await outbox.settle(outcomes, by: "me")
    let letters = try await outbox.deadLetters(of: "f", limit: 10)
    #expect(letters.map(\.event.path) == ["a/2", "a/3"])
  }

  @Test func `the attempts of a lane's events are found among many failures of others`() async throws {
    let store = ModelStore()
    let outbox = makeOutbox(store)
    outbox.subscribe([EventSubscription(function: "f", types: [.documentCreated])])
    for number in 0..<60 {
      try await commit([.init(number == 0 || number == 59 ? "a/lane" : "a/\(number)")], outbox, store)
    }
    _ = try await outbox.lease(["f"], for: "me", duration: 3_600_000_000)
    let all = try await outbox.events(EventPageRequest(function: "f", limit: 100)).entries
    let outcomes = all.enumerated().map { number, entry in
      let result = EventOutcome.Result.retry(at: Int64(1_000 + number), reason: "no")
      return EventOutcome(function: "f", position: entry.position, attempts: number + 1, result: result)
    }
    try await outbox.settle(outcomes, by: "me")
    let again = try await outbox.events(EventPageRequest(function: "f", limit: 100)).entries
    #expect(again.map(\.attempts) == Array(1...60))
    let request = EventPageRequest(function: "f", lane: EventLane(scope: "(default)", path: "a/lane"), limit: 5)
    let lane = try await outbox.events(request).entries
    #expect(lane.map(\.attempts) == [1, 60])
    #expect(lane.map(\.retryTime) == [1_000, 1_059])
  }

  @Test func `the newest event of a queue is first in the store`() async throws {
    let store = ModelStore()
    let outbox = makeOutbox(store)
    outbox.subscribe([EventSubscription(function: "f", types: [.documentCreated])])
    try await commit([.init("a/1"), .init("a/2")], outbox, store)
    try await commit([.init("a/3")], outbox, store)
    let rows = try await store.read { try await $0.entries(in: KeyRange(prefix: [9])) }
    #expect(try rows.map { try EventRecord(fieldBytes: $0.value).path } == ["a/3", "a/2", "a/1"])
    #expect(
      try await outbox.events(EventPageRequest(function: "f", limit: 9)).entries.map(\.lane.path) == [
        "a/1", "a/2", "a/3",
      ])
  }

  @Test func `a closed outbox keeps no observer, and calls none`() async throws {
    let outbox = makeOutbox()
    let early = Observer()
    _ = outbox.observe(early)
    await outbox.close()
    #expect(early.calls.entries == ["closed"])
    let late = Observer()
    let registration = outbox.observe(late)
    outbox.wake()
    await outbox.close()
    #expect(early.calls.entries == ["closed"])
    #expect(late.calls.entries == [])
    registration.cancel()
  }

  @Test func `the oldest dead letters go also after letters were discarded, sent again and added by another process`()
    async throws
  {
    let store = ModelStore()
    let limits = EventOutboxLimits(maximumDeadLetters: 3)
    let (first, second) = (makeOutbox(store, limits), makeOutbox(store, limits))
    first.subscribe([EventSubscription(function: "f", types: [.documentCreated])])
    var now: Int64 = 0
    func die(_ count: Int, by outbox: EventOutbox) async throws {
      now += 100
      for number in 0..<count { try await commit([.init("a/\(now + Int64(number))")], first, store) }
      let owner = outbox === first ? "first" : "second"
      _ = try await outbox.lease(["f"], for: owner, duration: 3_600_000_000)
      for entry in try await outbox.events(EventPageRequest(function: "f", limit: 10)).entries {
        let outcome = EventOutcome(
          function: "f", position: entry.position, attempts: 1, result: .dead(at: 1, reason: ""))
        try await outbox.settle([outcome], by: owner)
      }
      try await outbox.release(["f"], by: owner)
    }
    func paths() async throws -> [String] { try await first.deadLetters(of: "f", limit: 10).map(\.event.path) }
    try await die(2, by: first)
    #expect(try await paths() == ["a/100", "a/101"])
    try await die(2, by: second)
    #expect(try await paths() == ["a/101", "a/200", "a/201"])
    try await die(1, by: first)
    #expect(try await paths() == ["a/200", "a/201", "a/300"])
    let letters = try await first.deadLetters(of: "f", limit: 10)
    #expect(try await first.discard([letters[0].position], of: "f") == 1)
    try await die(1, by: first)
    #expect(try await paths() == ["a/201", "a/300", "a/400"])
    try await die(2, by: first)
    #expect(try await paths() == ["a/400", "a/500", "a/501"])
  }

  @Test func `a large event is read from the store when it is delivered`() async throws {
    let store = ModelStore()
    let outbox = makeOutbox(store)
    outbox.subscribe([EventSubscription(function: "f", types: [.documentCreated])])
    let large = [UInt8](repeating: UInt8(ascii: "x"), count: 10_000)
    _ = try await store.write { transaction in
      try await outbox.append(
        [EventDraft(.documentCreated, path: "a", functions: ["f"], payload: large)], in: transaction, isOnly: true)
    }
    let entry = try await outbox.events(EventPageRequest(function: "f", limit: 1)).entries[0]
    #expect(entry.record == nil)
    let event = try await outbox.event(entry)
    #expect(event?.data["payload"]?.string?.utf8.count == 10_000)
  }
}

/// Notes down its calls.
private final class Observer: EventSourceObserver {
  let calls = Log<String>()

  func eventsWereRecorded() { calls.add("recorded") }

  func othersMayHaveRecorded() { calls.add("others") }

  func sourceWillClose() async { calls.add("closed") }
}

@Suite struct SharedOutboxTests {
  @Test func `commits of other processes are news to an observer, until the outbox closes`() async throws {
    let store = SharedStore()
    let outbox = makeOutbox(store)
    let observer = Observer()
    _ = outbox.observe(observer)
    while store.observerCount == 0 { await Task.yield() }
    store.reportCommitElsewhere()
    #expect(observer.calls.entries == ["others"])
    await outbox.close()
    #expect(store.observerCount == 0)
  }

  @Test func `a lease is taken by the store's time, whatever happens between asking and committing`() async throws {
    let store = SharedStore()
    let (first, second) = (makeOutbox(store), makeOutbox(store))
    try await withThrowingTaskGroup(of: [String: EventLease].self) { group in
      for round in 0..<50 {
        group.addTask {
          try await (round.isMultiple(of: 2) ? first : second).lease(["f"], for: "\(round)", duration: 10_000_000)
        }
      }
      var held = 0
      for try await lease in group { if case .held? = lease["f"] { held += 1 } }
      #expect(held == 1)
    }
  }
}

@Suite struct PatternTests {
  @Test(arguments: [
    ("rooms/{room}", "rooms/a", ["room": "a"]),
    ("/rooms/{room}/", "rooms/a", ["room": "a"]),
    ("rooms/*/messages/{id=*}", "rooms/a/messages/7", ["id": "7"]),
    ("rooms/{rest=**}", "rooms", ["rest": ""]),
    ("rooms/{rest=**}", "rooms/a/b", ["rest": "a/b"]),
    ("{all=**}/messages/{id}", "a/b/c/messages/7", ["all": "a/b/c", "id": "7"]),
    ("**", "a/b", [:]),
  ])
  func `a path matches with its parameters`(pattern: String, path: String, parameters: [String: String]) throws {
    #expect(try EventPattern(pattern).match(path) == parameters)
  }

  @Test(arguments: [
    ("rooms/{room}", "rooms"), ("rooms/{room}", "rooms/a/b"), ("rooms/{room}", "halls/a"),
    ("{all=**}/messages/{id}", "messages"), ("rooms/\u{e9}", "rooms/e\u{301}"),
  ])
  func `a path that differs does not match`(pattern: String, path: String) throws {
    #expect(try EventPattern(pattern).match(path) == nil)
  }

  @Test(arguments: ["", "/", "a/{}", "a/{b=c}", "a/b{c}", "{a}/{a}", "**/a/**", "a/{x y}", "a/b*"])
  func `a pattern that means nothing is refused`(pattern: String) {
    #expect(throws: EventPatternError.self) { try EventPattern(pattern) }
  }

  @Test func `matching agrees with a search through all ways to split`() throws {
    var random = SplitMix(seed: 7)
    let names = ["a", "b", "*", "**", "{p}", "{q=**}"]
    for _ in 0..<3_000 {
      let parts = (0..<Int.random(in: 1...4, using: &random)).map { _ in names[Int.random(in: 0..<6, using: &random)] }
      guard let pattern = try? EventPattern(parts.joined(separator: "/")) else { continue }
      let path = (0..<Int.random(in: 0...5, using: &random)).map { _ in
        ["a", "b", "c"][Int.random(in: 0..<3, using: &random)]
      }
      let expected = slowMatch(parts[...], path[...])
      #expect((pattern.match(path.joined(separator: "/")) != nil) == expected, "\(parts) \(path)")
    }
  }

  private func slowMatch(_ pattern: ArraySlice<String>, _ path: ArraySlice<String>) -> Bool {
    guard let first = pattern.first else { return path.isEmpty }
    if first.contains("**") {
      return (0...path.count).contains { slowMatch(pattern.dropFirst(), path.dropFirst($0)) }
    }
    guard let segment = path.first else { return false }
    return (first == "*" || first.hasPrefix("{") || first == segment)
      && slowMatch(pattern.dropFirst(), path.dropFirst())
  }
}

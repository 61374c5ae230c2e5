import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreService
import VestaTesting

@testable import VestaFirestoreSync

/// The steps of the random test, and what is checked after them.
extension FetchOracleTests.Run {
  mutating func mutation(_ document: String) -> FetchOracleTests.Own {
    number += 1
    let change: Mutation.Change =
      switch random.below(5) {
      case 0: .delete
      case 1: .patch(["m": .integer(number)], mask: FieldMask([FieldPath(["m"])]))
      default: .set(["n": .integer(number)])
      }
    return FetchOracleTests.Own(mutation: Mutation(path(document), change), number: number)
  }

  mutating func raise(_ document: String, to version: Timestamp) {
    floors[document] = max(floors[document] ?? .zero, version)
  }

  mutating func write(_ document: String) async throws {
    let own = mutation(document)
    let write = client.write([own.mutation])
    writes.append(write)
    guard isOnline else {
      try await write.localCommit()
      offline[user, default: [:]][document] = own
      return
    }
    guard random.oneIn(2) else { return }
    try await write.acknowledged()
    let known = try await truth(document)
    guard own.isShown(in: known) else { return }
    if known.isFound {
      raise(document, to: known.version)
      if store != nil { hold(document, known.version) }
    }
    let cached = try await client.cachedDocument(path(document))
    #expect(!cached.isValid || own.isShown(in: cached), "seed \(seed): own write \(own), cached \(cached)")
  }

  /// Answers that are held must not be shown when they are older than what the client has seen meanwhile.
  mutating func hold(_ document: String, _ version: Timestamp) {
    for index in fetches.indices where fetches[index].isHeld && fetches[index].document == document {
      fetches[index].floor = max(fetches[index].floor, version)
    }
  }

  mutating func fetch(_ document: String) async throws {
    let floor = try await truth(document).version
    let task = Task { [client] in try await client.fetchedDocument(path(document)) }
    fetches.append(FetchOracleTests.Fetch(document: document, floor: floor, isHeld: isHolding, task: task))
    if random.oneIn(6) {
      task.cancel()
      fetches[fetches.count - 1].isCancelled = true
    }
    if !isHolding, random.oneIn(2) { try await join(isAlone: fetches.count == 1) }
  }

  mutating func join(isAlone: Bool = false, isEnded: Bool = false) async throws {
    for fetch in fetches {
      let fetched: CachedDocument?
      do {
        fetched = try await fetch.task.value
      } catch is CancellationError {
        #expect(fetch.isCancelled, "seed \(seed)")
        continue
      } catch is FirestoreServiceError where isEnded {
        continue
      }
      guard let fetched else { continue }
      taken += 1
      let then = try await truth(fetch.document, .readTime(fetched.readTime))
      #expect(
        then.fields == fetched.fields && (then.isMissing || then.version == fetched.version),
        "seed \(seed): \(fetched) never was, but \(then)")
      #expect(fetched.version >= fetch.floor, "seed \(seed): \(fetched) is from before \(fetch.floor)")
      raise(fetch.document, to: fetched.version)
      if isAlone, store != nil {
        let before = try await client.cachedDocument(path(fetch.document))
        let ids = try await client.cachedResults(query("rooms", [.field(path: "n", .greaterThan, .integer(0))])).ids
        let after = try await client.cachedDocument(path(fetch.document))
        if before == after {
          let isListed = ids.contains(path(fetch.document).lastSegment)
          #expect(isListed == (before.fields?["n"] != nil), "seed \(seed): \(ids) with \(before)")
        }
      }
    }
    fetches = []
  }

  mutating func look(_ document: String) async throws {
    let cached = try await client.cachedDocument(path(document))
    if let own = offline[user]?[document] {
      #expect(cached.hasLocalMutations && own.isShown(in: cached), "seed \(seed): pending \(own), cached \(cached)")
    } else if !cached.isValid {
      floors[document] = nil
    } else if !cached.hasLocalMutations, let floor = floors[document] {
      #expect(cached.version >= floor, "seed \(seed): \(cached) is from before \(floor)")
    }
  }

  mutating func listen() async throws {
    let filters: [Filter] = random.oneIn(2) ? [] : [.field(path: "n", .greaterThan, .integer(number / 2))]
    let received = Received()
    listeners.append(
      client.listen(
        try query("rooms", filters), options: ListenOptions(includesMetadata: true, waitsForSync: random.oneIn(2))
      ) { received.receive($0) })
    guard isOnline, random.oneIn(2) else { return }
    _ = try await received.first { !$0.isFromCache }
  }

  mutating func setOnline(_ isOnline: Bool) async {
    self.isOnline = isOnline
    if isOnline { offline = [:] }
    await client.setNetworkEnabled(isOnline)
  }

  mutating func release(isEnded: Bool = false) async throws {
    isHolding = false
    backend.answers.open()
    try await join(isEnded: isEnded)
  }

  mutating func restart() async throws {
    guard let store else { return }
    await client.shutdown()
    try await release(isEnded: true)
    listeners = []
    client = Self.client(backend, store, user)
    if isOnline { offline = [:] } else { await client.setNetworkEnabled(false) }
  }

  mutating func step() async throws {
    let document = random.pick(documents)
    switch random.below(24) {
    case 0..<4: try await write(document)
    case 4..<7:
      let write = mutation(document).mutation.write(in: database)
      _ = try await world.engine.commit(
        CommitRequest(database: database.description, writes: [write]), context: .owner)
    case 7..<13: try await fetch(document)
    case 13..<16: try await look(document)
    case 16: try await listen()
    case 17, 18: while !listeners.isEmpty { listeners.removeLast().remove() }
    case 19: await setOnline(!isOnline || random.oneIn(3))
    case 20:
      user = random.oneIn(2) ? "alice" : "bob"
      client.changeUser(user)
    case 21:
      isHolding = true
      backend.answers.close()
    case 22: try await release()
    default:
      if random.oneIn(2) { try await restart() } else { backend.losses.withLock { $0 = 1 } }
    }
  }

  mutating func finish() async throws {
    try await release()
    while !listeners.isEmpty { listeners.removeLast().remove() }
    backend.losses.withLock { $0 = 0 }
    await setOnline(true)
    for name in ["alice", "bob"] {
      client.changeUser(name)
      try await client.waitForPendingWrites()
    }
    var expected: [String: MapValue] = [:]
    let fetchesAll = random.oneIn(2)
    for document in documents {
      let known = try await truth(document)
      if let fields = known.fields, fields["n"] != nil { expected[path(document).lastSegment] = fields }
      guard fetchesAll else { continue }
      let fetched = try await client.fetchedDocument(path(document))
      #expect(fetched != nil && fetched?.fields == known.fields, "seed \(seed)")
    }
    let all = try query("rooms", [.field(path: "n", .greaterThan, .integer(0))])
    if fetchesAll, store != nil {
      let shown = try await client.cachedResults(all)
      #expect(shown.ids.sorted() == expected.keys.sorted(), "seed \(seed): of the cache")
    }
    let received = Received()
    let registration = client.listen(all, options: ListenOptions(includesMetadata: true)) { received.receive($0) }
    let shown = try await received.first { !$0.isFromCache }.documents
    let found = Dictionary(shown.map { ($0.path.lastSegment, $0.fields ?? [:]) }) { $1 }
    #expect(found == expected, "seed \(seed): of a listener")
    registration.remove()
    await client.shutdown()
    #expect(try await client.fetchedDocument(path("rooms/a")) == nil, "seed \(seed)")
  }
}

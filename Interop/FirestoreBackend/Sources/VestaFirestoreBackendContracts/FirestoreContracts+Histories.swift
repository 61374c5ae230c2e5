import VestaFirestoreBackend
public import VestaTesting

extension FirestoreContracts {
  /// The promises for random histories, whose seeds are fixed.
  public static let histories: [Contract<FirestoreSubject>] = [
    Contract("optimistic transactions that meet have the results of one after another") { subject in
      let (history, _) = try await subject.transactionsInTurns(seed: 1)
      try await subject.expectSerial(history)
    },
    Contract("transactions of all kinds at once have the results of one after another") { subject in
      let history = try await subject.transactionsAtOnce(seed: 2, count: 20)
      try expect(!history.transactions.isEmpty, "every transaction was aborted")
      try await subject.expectSerial(history)
    },
    Contract("each snapshot of a listener is what its queries find at that time, while others write") { subject in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<2 {
          group.addTask {
            var random = SplitMix(seed: UInt64(30 + writer))
            for _ in 0..<30 { try await write(&random, to: subject) }
          }
        }
        for listener in 0..<3 {
          group.addTask { try await follow(subject, number: listener) }
        }
        try await group.waitForAll()
      }
    },
  ]

  private static let followed: [StructuredQuery] = [
    .all("rooms"),
    .all("rooms", where: .field(path: "n", .greaterThanOrEqual, .integer(5)), by: "n"),
    limited(.ascending), limited(.descending),
    .all("rooms", where: .field(path: "tags", .arrayContains, .string("x"))),
    .all("rooms", where: .field(path: "n", .notEqual, .integer(3)), by: "n"),
  ]

  private static func limited(_ direction: StructuredQuery.Direction) -> StructuredQuery {
    StructuredQuery(from: [.init(collectionID: "rooms")], orderBy: [.init(fieldPath: "n", direction)], limit: 3)
  }

  /// One commit of up to three writes to a few documents.
  private static func write(_ random: inout SplitMix, to subject: FirestoreSubject) async throws {
    let names = Set((0...random.below(3)).map { _ in random.below(12) })
    let writes = names.sorted().map { number in
      let path = "rooms/\(number)"
      if random.oneIn(4) { return Write.delete(subject.name(path)) }
      var fields: MapValue = ["n": .integer(Int64(random.below(10)))]
      if random.oneIn(2) { fields["tags"] = .array([.string(random.oneIn(2) ? "x" : "y")]) }
      if random.oneIn(5) { fields["n"] = nil }
      return subject.set(path, fields)
    }
    _ = try await subject.backend.commit(
      CommitRequest(database: subject.database, writes: writes), context: subject.context)
  }

  private static func follow(_ subject: FirestoreSubject, number: Int) async throws {
    var probe = try await ListenProbe(subject)
    defer { probe.cancel() }
    for (index, query) in followed.enumerated() {
      probe.add(Target(id: Int32(index + 1), .query(parent: subject.root, query)))
    }
    try await probe.current(1, 2, 3, 4, 5, 6)
    for round in 0..<5 {
      // A result of a query that is followed, so that a snapshot must follow.
      let marker = subject.set("rooms/marker\(number)", ["n": .integer(Int64(round))])
      try await probe.snapshot(from: try await subject.commit(marker).commitTime)
      for (index, query) in followed.enumerated() {
        let found = try await subject.query(query, .readTime(probe.readTime))
        try expect(
          probe.targets[Int32(index + 1)] ?? [:],
          equals: Dictionary(found.map { ($0.name, $0) }, uniquingKeysWith: { $1 }),
          "what is known of query \(index) at \(probe.readTime)")
      }
    }
  }
}

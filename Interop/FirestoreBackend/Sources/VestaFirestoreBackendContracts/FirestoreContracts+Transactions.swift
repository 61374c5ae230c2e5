import VestaFirestoreBackend
public import VestaTesting

extension FirestoreContracts {
  private static let optimistic = TransactionOptions.readWrite(concurrency: .optimistic)

  /// The promises of transactions.
  public static let transactions: [Contract<FirestoreSubject>] = [
    Contract("what a transaction has read must still be so when it commits") { subject in
      try await subject.commit(subject.set("rooms/a", ["n": .integer(1)]))
      for path in ["rooms/a", "rooms/missing"] {
        let id = try await subject.begin(optimistic)
        _ = try await subject.get(path, .transaction(id))
        try await subject.commit(subject.set(path, ["n": .integer(2)]))
        try await expectRefusal(.aborted, of: "a commit on what has changed") {
          try await subject.commit(subject.set("rooms/b"), in: id)
        }
      }
      try expect(try await subject.get("rooms/b") == nil, "an aborted commit was kept")
    },
    Contract("what a query of a transaction would find now must be what it found") { subject in
      let query = StructuredQuery.all("rooms", where: .field(path: "n", .greaterThan, .integer(5)))
      for (value, changes) in [(Int64(9), true), (3, false)] {
        let id = try await subject.begin(optimistic)
        _ = try await subject.query(query, .transaction(id))
        try await subject.commit(subject.set("rooms/\(value)", ["n": .integer(value)]))
        if changes {
          try await expectRefusal(.aborted, of: "a commit though a result has come") {
            try await subject.commit(subject.set("other/b"), in: id)
          }
        } else {
          try await subject.commit(subject.set("other/b"), in: id)
        }
      }
    },
    Contract("a transaction that nothing was in the way of commits") { subject in
      try await subject.commit(subject.set("rooms/a", ["n": .integer(1)]))
      for options in [optimistic, .readWrite(concurrency: .pessimistic), .readWrite()] {
        let id = try await subject.begin(options)
        let before = try await subject.get("rooms/a", .transaction(id))?.fields["n"]
        guard case .integer(let number)? = before else { throw ContractViolation("there is no number") }
        try await subject.commit(subject.set("rooms/a", ["n": .integer(number + 1)]), in: id)
      }
      try expect(try await subject.get("rooms/a")?.fields["n"], equals: .integer(4), "the number")
    },
    Contract("a transaction ends with its commit, failed or not, and with its rollback") { subject in
      let ways: [@Sendable ([UInt8]) async throws -> Void] = [
        { _ = try await subject.commit(subject.set("rooms/a"), in: $0) },
        { try await subject.rollback($0) },
        { id in
          try await expectRefusal(.notFound, of: "a commit that fails") {
            try await subject.commit(subject.set("rooms/none", precondition: .exists(true)), in: id)
          }
        },
      ]
      for end in ways {
        let id = try await subject.begin()
        try await end(id)
        try await expectRefusal(.invalidArgument, .failedPrecondition, of: "a read in a transaction that has ended") {
          try await subject.get("rooms/a", .transaction(id))
        }
      }
      try await expectRefusal(.invalidArgument, of: "the rollback of what never was") {
        try await subject.rollback([1, 2, 3])
      }
    },
    Contract("a rollback lets go what a transaction holds") { subject in
      try await subject.commit(subject.set("rooms/a", ["n": .integer(1)]))
      let first = try await subject.begin(.readWrite(concurrency: .pessimistic))
      _ = try await subject.get("rooms/a", .transaction(first))
      try await subject.rollback(first)
      let second = try await subject.begin(.readWrite(concurrency: .pessimistic))
      _ = try await subject.get("rooms/a", .transaction(second))
      try await subject.commit(subject.set("rooms/a", ["n": .integer(2)]), in: second)
    },
    Contract("a read-only transaction keeps its read time, and cannot write") { subject in
      let first = try await subject.commit(subject.set("rooms/a", ["n": .integer(1)]))
      for options in [TransactionOptions.readOnly(), .readOnly(readTime: first.commitTime)] {
        let id = try await subject.begin(options)
        let before = try await subject.get("rooms/a", .transaction(id))
        try await subject.commit(subject.set("rooms/a", ["n": .double(.random(in: 2...3))]), subject.set("rooms/b"))
        try expect(try await subject.get("rooms/a", .transaction(id)), equals: before, "the document")
        if case .readOnly(.some) = options {
          try expect(try await subject.ids(.all("rooms"), .transaction(id)), equals: ["rooms/a"], "the query")
          try expect(before?.fields, equals: ["n": .integer(1)], "the fields at the read time")
        }
        try await expectRefusal(.invalidArgument, .failedPrecondition, of: "a write in it") {
          try await subject.commit(subject.set("rooms/c"), in: id)
        }
      }
    },
    Contract("a read can begin a transaction") { subject in
      try await subject.commit(subject.set("rooms/a", ["n": .integer(1)]))
      var ids: [[UInt8]] = []
      let get = BatchGetDocumentsRequest(
        database: subject.database, documents: [subject.name("rooms/a")], consistency: .newTransaction(optimistic))
      try await subject.backend.batchGet(get, context: subject.context) { ids += $0.transaction.map { [$0] } ?? [] }
      let query = RunQueryRequest(parent: subject.root, query: .all("rooms"), consistency: .newTransaction(optimistic))
      try await subject.backend.runQuery(query, context: subject.context) { ids += $0.transaction.map { [$0] } ?? [] }
      try expect(ids.count, equals: 2, "the number of transactions that were returned")
      try await subject.commit(subject.set("rooms/a", ["n": .integer(2)]))
      for id in ids {
        try await expectRefusal(.aborted, of: "a commit on what has changed") {
          try await subject.commit(subject.set("rooms/b"), in: id)
        }
      }
    },
    Contract("of 16 clients that count at once, each is counted") { subject in
      try await subject.commit(subject.set("rooms/a", ["n": .integer(0)]))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for client in 0..<16 {
          let mode: TransactionOptions.ConcurrencyMode = client.isMultiple(of: 4) ? .optimistic : .pessimistic
          group.addTask { try await count(subject, .readWrite(concurrency: mode)) }
        }
        try await group.waitForAll()
      }
      try expect(try await subject.get("rooms/a")?.fields["n"], equals: .integer(16), "the number")
    },
  ]

  private static func count(_ subject: FirestoreSubject, _ options: TransactionOptions) async throws {
    while true {
      do {
        let id = try await subject.begin(options)
        guard case .integer(let number)? = try await subject.get("rooms/a", .transaction(id))?.fields["n"] else {
          throw ContractViolation("there is no number")
        }
        try await subject.commit(subject.set("rooms/a", ["n": .integer(number + 1)]), in: id)
        return
      } catch let error as FirestoreServiceError where error.code == .aborted {
        continue
      }
    }
  }
}

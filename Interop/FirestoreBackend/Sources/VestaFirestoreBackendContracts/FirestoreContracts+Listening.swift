import VestaFirestoreBackend
public import VestaTesting

extension FirestoreSubject {
  fileprivate func target(
    _ id: Int32, _ query: StructuredQuery, resume: [UInt8]? = nil, expecting count: Int32? = nil, once: Bool = false
  ) -> Target {
    Target(
      id: id, .query(parent: root, query), resume: resume.map { .token($0) }, once: once, expectedCount: count)
  }
}

extension FirestoreContracts {
  /// The promises of listen calls.
  public static let listening: [Contract<FirestoreSubject>] = [
    Contract("a target begins with what is there, and is current then") { subject in
      let commit = try await subject.commit(subject.set("rooms/a", ["n": .integer(1)]), subject.set("halls/a"))
      var probe = try await ListenProbe(subject)
      probe.add(subject.target(2, .all("rooms")))
      try await probe.current(2)
      try expect(probe.kinds, equals: [.add, .current], "what became of the target")
      try expect(probe.fields(of: 2, in: subject), equals: ["rooms/a": ["n": .integer(1)]], "what is in")
      try expect(probe.readTime >= commit.commitTime, "the read time comes before a commit that had returned")
      probe.cancel()
    },
    Contract("all targets of a call go on together, a commit at a time") { subject in
      var probe = try await ListenProbe(subject)
      probe.add(subject.target(2, .all("rooms")))
      probe.add(subject.target(4, .all("rooms", where: .field(path: "n", .greaterThan, .integer(0)))))
      try await probe.current(2, 4)
      for number in 1...5 {
        let fields: MapValue = ["n": .integer(Int64(number))]
        let commit = try await subject.commit(subject.set("rooms/a", fields), subject.set("rooms/b", fields))
        try await probe.snapshot(from: commit.commitTime)
        let expected = ["rooms/a": fields, "rooms/b": fields]
        try expect(probe.fields(of: 2, in: subject), equals: expected, "the first target")
        try expect(probe.fields(of: 4, in: subject), equals: expected, "the second target")
        try expect(probe.messages, equals: 2 * number, "one message for each document")
      }
      probe.cancel()
    },
    Contract("what no longer matches or has been deleted leaves its targets") { subject in
      let query = StructuredQuery.all("rooms", where: .field(path: "n", .greaterThan, .integer(5)))
      try await subject.commit(
        subject.set("rooms/a", ["n": .integer(9)]), subject.set("rooms/b", ["n": .integer(9)]),
        subject.set("rooms/c", ["n": .integer(1)]))
      var probe = try await ListenProbe(subject)
      probe.add(subject.target(2, query))
      try await probe.current(2)
      let commit = try await subject.commit(
        subject.set("rooms/a", ["n": .integer(2)]), .delete(subject.name("rooms/b")),
        subject.set("rooms/c", ["n": .integer(7)]))
      try await probe.snapshot(from: commit.commitTime)
      try expect(probe.fields(of: 2, in: subject), equals: ["rooms/c": ["n": .integer(7)]], "what is in")
      probe.cancel()
    },
    Contract("a limited query gets the new results together with the removed ones") { subject in
      for id in ["a", "b", "c"] { try await subject.commit(subject.set("rooms/\(id)")) }
      var query = StructuredQuery.all("rooms")
      query.limit = 2
      var probe = try await ListenProbe(subject)
      probe.add(subject.target(2, query))
      try await probe.current(2)
      for (write, expected) in [
        (Write.delete(subject.name("rooms/a")), ["rooms/b", "rooms/c"]),
        (subject.set("rooms/a"), ["rooms/a", "rooms/b"]),
      ] {
        let commit = try await subject.commit(write)
        try await probe.snapshot(from: commit.commitTime)
        try expect(probe.fields(of: 2, in: subject).keys.sorted(), equals: expected, "what is in")
      }
      probe.cancel()
    },
    Contract("documents can be followed by name, also those that are not there yet") { subject in
      try await subject.commit(subject.set("rooms/a", ["n": .integer(1)]))
      var probe = try await ListenProbe(subject)
      probe.add(Target(id: 2, .documents(["rooms/a", "rooms/b"].map(subject.name))))
      try await probe.current(2)
      try expect(probe.fields(of: 2, in: subject).keys.sorted(), equals: ["rooms/a"], "what is in at first")
      let commit = try await subject.commit(
        .delete(subject.name("rooms/a")), subject.set("rooms/b"), subject.set("rooms/c"))
      try await probe.snapshot(from: commit.commitTime)
      try expect(probe.fields(of: 2, in: subject).keys.sorted(), equals: ["rooms/b"], "what is in then")
      probe.cancel()
    },
    Contract("a write that changes nothing is not sent to listeners") { subject in
      try await subject.commit(subject.set("rooms/a", ["n": .integer(1)]))
      var probe = try await ListenProbe(subject)
      probe.add(subject.target(2, .all("rooms")))
      try await probe.current(2)
      try await subject.commit(subject.set("rooms/a", ["n": .integer(1)]))
      let commit = try await subject.commit(subject.set("rooms/b"))
      try await probe.snapshot(from: commit.commitTime)
      try expect(probe.messages, equals: 2, "the documents that were sent")
      probe.cancel()
    },
    Contract("a target that was removed says so once, and its number is free") { subject in
      var probe = try await ListenProbe(subject)
      probe.add(subject.target(2, .all("rooms")))
      try await probe.current(2)
      probe.remove(2)
      probe.add(subject.target(2, .all("halls")))
      try await probe.current(2)
      try expect(probe.kinds, equals: [.add, .current, .remove, .add, .current], "what became of the target")
      try expect(probe.changes.allSatisfy { $0.cause == nil }, "a removal that was asked for has a cause")
      try await subject.commit(subject.set("rooms/a"))
      let commit = try await subject.commit(subject.set("halls/a"))
      try await probe.snapshot(from: commit.commitTime)
      try expect(probe.fields(of: 2, in: subject).keys.sorted(), equals: ["halls/a"], "what is in")
      probe.cancel()
    },
    Contract("a target for once goes when it is current") { subject in
      try await subject.commit(subject.set("rooms/a"))
      var probe = try await ListenProbe(subject)
      probe.add(subject.target(2, .all("rooms"), once: true))
      try await probe.current(2)
      try expect(probe.fields(of: 2, in: subject).keys.sorted(), equals: ["rooms/a"], "what is in")
      try await probe.removal(of: 2)
      try expect(probe.kinds, equals: [.add, .current, .remove], "what became of the target")
      probe.cancel()
    },
    Contract("a target that cannot be followed ends alone, with the cause") { subject in
      var probe = try await ListenProbe(subject)
      let bad = [
        subject.target(4, .all("__rooms__")), Target(id: 6, .documents([subject.name("rooms")])),
        subject.target(8, .all("rooms", where: .field(path: "a..b", .equal, .null))),
      ]
      probe.add(subject.target(2, .all("rooms")))
      for target in bad { probe.add(target) }
      for target in bad { try await probe.removal(of: target.id) }
      let causes = probe.changes.compactMap(\.cause?.code)
      try expect(causes, equals: bad.map { _ in .invalidArgument }, "the causes")
      let commit = try await subject.commit(subject.set("rooms/a"))
      try await probe.snapshot(from: commit.commitTime)
      try expect(probe.fields(of: 2, in: subject).keys.sorted(), equals: ["rooms/a"], "what the good target has")
      probe.cancel()
    },
    Contract("a listener that begins beside writers misses nothing, and gets nothing twice") { subject in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<2 {
          group.addTask {
            for number in 0..<25 {
              try await subject.commit(
                subject.set("rooms/\(writer)-\(number % 4)", ["n": .integer(Int64(number))]),
                .delete(subject.name("rooms/\(writer)-\((number + 1) % 4)")))
            }
          }
        }
        for _ in 0..<3 {
          group.addTask {
            for _ in 0..<4 {
              var probe = try await ListenProbe(subject)
              probe.add(subject.target(2, .all("rooms")))
              try await probe.current(2)
              let commit = try await subject.commit(subject.set("rooms/last", ["n": .double(.random(in: 0...1))]))
              try await probe.snapshot(from: commit.commitTime)
              let found = try await subject.query(.all("rooms"), .readTime(probe.readTime))
              let expected = Dictionary(uniqueKeysWithValues: found.map { ($0.name, $0) })
              try expect(probe.targets[2] ?? [:], equals: expected, "what is in")
              try expect(probe.repetitions, equals: 0, "what was sent twice")
              probe.cancel()
            }
          }
        }
        try await group.waitForAll()
      }
    },
    Contract("a call that is cancelled ends without an error") { subject in
      var probe = try await ListenProbe(subject)
      probe.add(subject.target(2, .all("rooms")))
      try await probe.current(2)
      probe.cancel()
      try await probe.end()
    },
  ]

  /// The promises of resume tokens.
  public static let resuming: [Contract<FirestoreSubject>] = [
    Contract("a target that resumes gets what it has missed, and no more") { subject in
      for id in ["a", "b", "c"] { try await subject.commit(subject.set("rooms/\(id)", ["n": .integer(1)])) }
      var limited = StructuredQuery.all("rooms", by: "n")
      limited.limit = 2
      var first = try await ListenProbe(subject)
      first.add(subject.target(2, .all("rooms")))
      first.add(subject.target(4, limited))
      try await first.current(2, 4)
      first.cancel()
      try await subject.commit(subject.set("rooms/b", ["n": .integer(2)]), .delete(subject.name("rooms/c")))

      var later = try await ListenProbe(subject)
      for (id, query) in [(Int32(2), StructuredQuery.all("rooms")), (4, limited)] {
        later.adopt(id, from: first)
        later.add(subject.target(id, query, resume: first.token))
      }
      try await later.current(2, 4)
      let expected: [String: MapValue] = ["rooms/a": ["n": .integer(1)], "rooms/b": ["n": .integer(2)]]
      for id in [Int32(2), 4] { try expect(later.fields(of: id, in: subject), equals: expected, "target \(id)") }
      try expect(later.repetitions, equals: 0, "what was sent though it was known")
      try expect(!later.kinds.contains(.reset), "the target starts over")
      later.cancel()
    },
    Contract("a listener that expects too many documents gets the number") { subject in
      for id in ["a", "b", "c"] { try await subject.commit(subject.set("rooms/\(id)")) }
      var first = try await ListenProbe(subject)
      first.add(subject.target(2, .all("rooms")))
      try await first.current(2)
      first.cancel()
      try await subject.commit(.delete(subject.name("rooms/a")))
      var later = try await ListenProbe(subject)
      later.add(subject.target(2, .all("rooms"), resume: first.token, expecting: 7))
      try await later.current(2)
      let isReset = later.kinds.contains(.reset)
      try expect(later.filters.map(\.count), equals: isReset ? [] : [2], "the number that is sent")
      later.cancel()
    },
    Contract("with a token that is none a target starts over") { subject in
      try await subject.commit(subject.set("rooms/a"))
      var probe = try await ListenProbe(subject)
      probe.add(subject.target(2, .all("rooms"), resume: [9, 9, 9]))
      try await probe.current(2)
      try expect(probe.kinds, equals: [.add, .reset, .current], "what became of the target")
      try expect(probe.fields(of: 2, in: subject).keys.sorted(), equals: ["rooms/a"], "what is in")
      probe.cancel()
    },
  ]

  /// The promises of write calls.
  public static let writeCalls: [Contract<FirestoreSubject>] = [
    Contract("a write call answers each request in turn") { subject in
      let call = try await subject.backend.write(database: subject.database, context: subject.context)
      call.send(WriteRequest(database: subject.database))
      call.send(WriteRequest(writes: [subject.set("rooms/a"), subject.set("rooms/b")]))
      call.send(WriteRequest(writes: [.delete(subject.name("rooms/a"))]))
      call.send(WriteRequest())
      call.finish()
      var responses: [WriteResponse] = []
      for try await batch in call.responses { responses += batch }
      try expect(responses.map(\.writeResults.count), equals: [0, 2, 1, 0], "the numbers of results")
      try expect(responses.map { !$0.streamID.isEmpty }, equals: [true, false, false, false], "who tells the stream")
      try expect(responses.allSatisfy { !$0.streamToken.isEmpty }, "a response has no token")
      try expect(Set(responses.map(\.streamToken)).count, equals: 4, "the number of different tokens")
      let times = responses.compactMap(\.commitTime)
      try expect(times == times.sorted() && times.count >= 2, "the times of the commits do not grow: \(times)")
      let there = try await subject.get(["rooms/a", "rooms/b"]).map { $0 != nil }
      try expect(there, equals: [false, true], "what is there")
    },
    Contract("a write call ends with the first failure, after the answers before it") { subject in
      let call = try await subject.backend.write(database: subject.database, context: subject.context)
      call.send(WriteRequest(database: subject.database))
      call.send(WriteRequest(writes: [subject.set("rooms/a")]))
      call.send(WriteRequest(writes: [subject.set("rooms/b", precondition: .exists(true))]))
      call.send(WriteRequest(writes: [subject.set("rooms/c")]))
      var count = 0
      try await expectRefusal(.notFound, of: "a write call with a write that fails") {
        for try await batch in call.responses { count += batch.count }
      }
      try expect(count, equals: 2, "the number of responses before the failure")
      let there = try await subject.get(["rooms/a", "rooms/b", "rooms/c"]).map { $0 != nil }
      try expect(there, equals: [true, false, false], "what is there")
    },
  ]
}

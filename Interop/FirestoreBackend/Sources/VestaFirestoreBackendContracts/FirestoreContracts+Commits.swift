import VestaFirestoreBackend
public import VestaTesting

extension FirestoreContracts {
  /// The promises of commits.
  public static let commits: [Contract<FirestoreSubject>] = [
    Contract("a commit is kept whole or not at all") { subject in
      try await subject.commit(subject.set("rooms/a", ["n": .integer(1)]))
      try await expectRefusal(.notFound, of: "a commit whose last write fails") {
        try await subject.commit(
          subject.set("rooms/a", ["n": .integer(2)]), subject.set("rooms/b"),
          subject.set("rooms/c", precondition: .exists(true)))
      }
      try expect(try await subject.get("rooms/a")?.fields["n"], equals: .integer(1), "what was there before")
      try expect(try await subject.get("rooms/b") == nil, "a write of a commit that failed was kept")
    },
    Contract("a condition on existence has its codes") { subject in
      try await subject.commit(subject.set("rooms/a"))
      try await expectRefusal(.alreadyExists, of: "making what is there") {
        try await subject.commit(subject.set("rooms/a", precondition: .exists(false)))
      }
      try await expectRefusal(.notFound, of: "changing what is not there") {
        try await subject.commit(subject.set("rooms/b", precondition: .exists(true)))
      }
      try await expectRefusal(.notFound, of: "deleting what is not there and must be") {
        try await subject.commit(.delete(subject.name("rooms/b"), precondition: .exists(true)))
      }
      try await subject.commit(
        subject.set("rooms/a", precondition: .exists(true)), subject.set("rooms/b", precondition: .exists(false)))
    },
    Contract("a condition on the time of change lets only that version through") { subject in
      let first = try await subject.commit(subject.set("rooms/a", ["n": .integer(1)]))
      let time = try expectValue(first.writeResults.first?.updateTime, "the time of change")
      try await subject.commit(subject.set("rooms/a", ["n": .integer(2)], precondition: .updateTime(time)))
      try await expectRefusal(.failedPrecondition, of: "a write on an old version") {
        try await subject.commit(subject.set("rooms/a", ["n": .integer(3)], precondition: .updateTime(time)))
      }
      try expect(try await subject.get("rooms/a")?.fields["n"], equals: .integer(2), "the field")
    },
    Contract("an update without a mask replaces, and one with a mask merges") { subject in
      try await subject.commit(
        subject.set("rooms/a", ["a": .integer(1), "m": .map(["x": .integer(1), "y": .integer(2)]), "z": .null]))
      let part = Document(name: subject.name("rooms/a"), fields: ["a": .integer(9), "m": .map(["x": .integer(5)])])
      try await subject.commit(.update(part, mask: DocumentMask(fieldPaths: ["m.x", "z"])))
      try expect(
        try await subject.get("rooms/a")?.fields,
        equals: ["a": .integer(1), "m": .map(["x": .integer(5), "y": .integer(2)])], "the merged fields")
      try await subject.commit(.update(part))
      try expect(try await subject.get("rooms/a")?.fields, equals: part.fields, "the replaced fields")
    },
    Contract("an empty mask keeps the fields, and makes what is missing") { subject in
      let mask = DocumentMask(fieldPaths: [])
      try await subject.commit(subject.set("rooms/a", ["n": .integer(1)]))
      for id in ["a", "b"] {
        try await subject.commit(
          .update(Document(name: subject.name("rooms/\(id)"), fields: ["n": .integer(2)]), mask: mask))
      }
      try expect(try await subject.get("rooms/a")?.fields, equals: ["n": .integer(1)], "the fields that were there")
      try expect(try await subject.get("rooms/b")?.fields, equals: [:], "the fields of the new document")
    },
    Contract("a deletion succeeds where nothing is") { subject in
      try await subject.commit(subject.set("rooms/a"))
      for _ in 0..<2 {
        let result = try await subject.commit(.delete(subject.name("rooms/a"))).writeResults.first
        try expect(result, equals: WriteResult(), "the result of a deletion")
      }
      try expect(try await subject.get("rooms/a") == nil, "the document is still there")
    },
    Contract("a verification changes nothing and can stop a commit") { subject in
      let time = try await subject.commit(subject.set("rooms/a", ["n": .integer(1)])).writeResults.first?.updateTime
      let verify = Write.verify(subject.name("rooms/a"), precondition: .updateTime(try expectValue(time, "the time")))
      try await subject.commit(verify, subject.set("rooms/b"))
      try expect(try await subject.get("rooms/a")?.updateTime, equals: time, "the time of change")
      try await subject.commit(subject.set("rooms/a", ["n": .integer(2)]))
      try await expectRefusal(.failedPrecondition, .aborted, of: "a commit with a failed verification") {
        try await subject.commit(verify, subject.set("rooms/c"))
      }
      try expect(try await subject.get("rooms/c") == nil, "a write beside a failed verification was kept")
    },
    Contract("the times of commits grow and have whole microseconds") { subject in
      var last = Timestamp(seconds: 0)
      for number in 0..<20 {
        let commit = try await subject.commit(subject.set("rooms/a", ["n": .integer(Int64(number))]))
        try expect(commit.commitTime > last, "\(commit.commitTime) does not come after \(last)")
        try expect(commit.commitTime.nanos % 1000, equals: 0, "the nanoseconds beyond microseconds")
        try expect(commit.writeResults.first?.updateTime, equals: commit.commitTime, "the time of change")
        last = commit.commitTime
      }
    },
    Contract("a write that changes nothing keeps the time of change") { subject in
      let first = try await subject.commit(subject.set("rooms/a", ["n": .integer(1)]))
      let second = try await subject.commit(subject.set("rooms/a", ["n": .integer(1)]))
      let time = first.writeResults.first?.updateTime
      try expect(second.writeResults.first?.updateTime, equals: time, "the time that is reported")
      try expect(try await subject.get("rooms/a")?.updateTime, equals: time, "the time that is kept")
    },
    Contract("the time of making is kept until the document is made again") { subject in
      let first = try await subject.commit(subject.set("rooms/a"))
      try await subject.commit(subject.set("rooms/a", ["n": .integer(1)]))
      try expect(try await subject.get("rooms/a")?.createTime, equals: first.commitTime, "after a change")
      try await subject.commit(.delete(subject.name("rooms/a")))
      let again = try await subject.commit(subject.set("rooms/a", ["n": .integer(1)]))
      try expect(try await subject.get("rooms/a")?.createTime, equals: again.commitTime, "after a deletion")
    },
    Contract("later writes of a commit see earlier ones") { subject in
      let name = subject.name("rooms/a")
      let increment = FieldTransform(fieldPath: "n", .increment(.integer(1)))
      let results = try await subject.commit(
        subject.set("rooms/a", ["n": .integer(1)], precondition: .exists(false)),
        Write(.transform(name: name, transforms: [increment]), precondition: .exists(true)),
        .delete(name), subject.set("rooms/a", ["m": .null], precondition: .exists(false))
      ).writeResults
      try expect(results.count, equals: 4, "the number of results")
      try expect(results[1].transformResults, equals: [.integer(2)], "the result of the transform")
      try expect(try await subject.get("rooms/a")?.fields, equals: ["m": .null], "the fields at the end")
    },
    Contract("the writes of a batch stand each for itself") { subject in
      let writes = [
        subject.set("rooms/a"), subject.set("rooms/b", precondition: .exists(true)), subject.set("rooms/c"),
      ]
      let request = BatchWriteRequest(database: subject.database, writes: writes)
      let results = try await subject.backend.batchWrite(request, context: subject.context).results
      try expect(results.count, equals: 3, "the number of results")
      guard case .failure(let error) = results[1] else {
        throw ContractViolation("the second write has succeeded")
      }
      try expect(error.code, equals: .notFound, "the code of the second write")
      let there = try await subject.get(["rooms/a", "rooms/b", "rooms/c"]).map { $0 != nil }
      try expect(there, equals: [true, false, true], "what is there")
      let twice = BatchWriteRequest(
        database: subject.database, writes: [subject.set("rooms/d"), .delete(subject.name("rooms/d"))])
      try await expectRefusal(.invalidArgument, of: "two writes of one document in a batch") {
        try await subject.backend.batchWrite(twice, context: subject.context)
      }
    },
    Contract("documents that break a rule are refused") { subject in
      let deep = (0..<21).reduce(Value.null) { value, _ in .map(["m": value]) }
      let bad: [MapValue] = [
        ["": .null], ["__x__": .null], ["a": deep], ["a": .array([.array([])])],
        ["a": .bytes([UInt8](repeating: 0, count: 1_048_577))], ["a": .reference("nowhere")],
        ["a": .geoPoint(GeoPoint(latitude: 91, longitude: 0))],
      ]
      for fields in bad {
        try await expectRefusal(.invalidArgument, of: "fields that break a rule") {
          try await subject.commit(subject.set("rooms/b"), subject.set("rooms/a", fields))
        }
      }
      try expect(try await subject.get("rooms/b") == nil, "a write beside a bad document was kept")
    },
    Contract("a merge cannot make a document larger than the limit") { subject in
      let half = Value.string(String(repeating: "x", count: 600_000))
      try await subject.commit(subject.set("rooms/a", ["a": half]))
      try await expectRefusal(.invalidArgument, of: "a merge beyond the limit") {
        let more = Document(name: subject.name("rooms/a"), fields: ["b": half])
        try await subject.commit(.update(more, mask: DocumentMask(fieldPaths: ["b"])))
      }
    },
    Contract("names that are none are refused") { subject in
      let bad = [
        "", "rooms", subject.root, subject.name("rooms"), subject.name("rooms/a/b"), subject.name("rooms//a"),
        subject.name("__x__/a"), "projects/other/databases/(default)/documents/rooms/a",
      ]
      for name in bad {
        try await expectRefusal(.invalidArgument, of: "the name \"\(name)\"") {
          try await subject.commit(.update(Document(name: name)))
        }
      }
    },
    Contract("databases know nothing of each other") { subject in
      try await subject.commit(subject.set("rooms/a"))
      // A database exists from its first write on.
      let other = "projects/contracts/databases/other"
      let first = Write.update(Document(name: "\(other)/documents/rooms/b", fields: [:]))
      _ = try await subject.backend.commit(CommitRequest(database: other, writes: [first]), context: subject.context)
      let request = BatchGetDocumentsRequest(database: other, documents: ["\(other)/documents/rooms/a"])
      var found = 0
      try await subject.backend.batchGet(request, context: subject.context) {
        if case .found? = $0.result { found += 1 }
      }
      try expect(found, equals: 0, "what is found in another database")
    },
  ]

  /// The promises of transforms.
  public static let transforms: [Contract<FirestoreSubject>] = [
    Contract("transforms of numbers give the new values") { subject in
      try await subject.commit(subject.set("rooms/a", ["i": .integer(.max), "d": .double(1.5), "s": .string("")]))
      let transforms: [FieldTransform] = [
        .init(fieldPath: "i", .increment(.integer(1))), .init(fieldPath: "d", .increment(.integer(1))),
        .init(fieldPath: "s", .increment(.integer(7))), .init(fieldPath: "d", .maximum(.integer(2))),
        .init(fieldPath: "d", .minimum(.integer(-1))), .init(fieldPath: "new.one", .maximum(.double(0.5))),
      ]
      let expected: [Value] = [
        .integer(.max), .double(2.5), .integer(7), .double(2.5), .integer(-1), .double(0.5),
      ]
      let write = Write(.transform(name: subject.name("rooms/a"), transforms: transforms))
      let result = try await subject.commit(write).writeResults.first
      try expect(result?.transformResults, equals: expected, "the results")
      let fields: MapValue = [
        "i": .integer(.max), "d": .integer(-1), "s": .integer(7), "new": .map(["one": .double(0.5)]),
      ]
      try expect(try await subject.get("rooms/a")?.fields, equals: fields, "the fields")
    },
    Contract("transforms of arrays take values as equal that are") { subject in
      let name = subject.name("rooms/a")
      try await subject.commit(subject.set("rooms/a", ["l": .array([.integer(1), .integer(2), .integer(1)])]))
      let append = FieldTransform(fieldPath: "l", .appendMissingElements([.double(2), .string("x"), .string("x")]))
      let first = try await subject.commit(Write(.transform(name: name, transforms: [append])))
      try expect(first.writeResults.first?.transformResults, equals: [.null], "the result")
      let remove = FieldTransform(fieldPath: "l", .removeAllFromArray([.double(1)]))
      try await subject.commit(Write(.transform(name: name, transforms: [remove])))
      let left: Value = .array([.integer(2), .string("x")])
      try expect(try await subject.get("rooms/a")?.fields["l"], equals: left, "the array")
    },
    Contract("the server's time is that of the commit, to the millisecond") { subject in
      let time = FieldTransform(fieldPath: "at", .serverTimestamp)
      let update = Write.update(Document(name: subject.name("rooms/a")), transforms: [time])
      let commit = try await subject.commit(update)
      let (seconds, nanos) = (commit.commitTime.seconds, commit.commitTime.nanos)
      let expected = Value.timestamp(Timestamp(seconds: seconds, nanos: nanos / 1_000_000 * 1_000_000))
      try expect(commit.writeResults.first?.transformResults, equals: [expected], "the result")
      try expect(try await subject.get("rooms/a")?.fields["at"], equals: expected, "the field")
    },
  ]
}

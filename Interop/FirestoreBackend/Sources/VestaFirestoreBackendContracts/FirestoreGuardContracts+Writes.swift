import VestaFirestoreBackend
import VestaFirestoreBackendFakes
import VestaTesting

extension FirestoreGuardContracts {
  static let writes: [Contract<GuardedFirestoreSubject>] = [
    Contract("a commit is asked about once, with each document before and after") { subject in
      let engine = try await subject.prepared(looksUp: ["rooms/a"])
      let old = try expectValue(try await engine.subject.get("rooms/a"), "the document")
      let merge = Write.update(
        Document(name: old.name, fields: ["n": .integer(5)]), mask: DocumentMask(fieldPaths: ["n"]),
        transforms: [FieldTransform(fieldPath: "at", .serverTimestamp)])
      let writes = [
        merge, .delete(old.name), engine.subject.set("rooms/b", ["k": .string("v")]),
        .verify(engine.name("rooms/c"), precondition: .exists(false)),
      ]
      try await engine.expectDenied("a commit") { try await engine.commit(writes, as: engine.eve) }
      let question = try engine.last()
      guard case .commit(let asked) = question.subject else { throw ContractViolation("no commit was asked about") }
      try expect(asked.map(\.kind), equals: [.change, .deletion, .change, .verification], "the kinds")
      try expect(asked.map(\.name), equals: writes.map(\.name), "the names")
      try expect(asked.map(\.before), equals: [old, asked[0].after, nil, nil], "the documents before")
      let merged: MapValue = [
        "n": .integer(5), "open": .boolean(true),
        "at": .timestamp(Timestamp(microseconds: (question.time.microseconds ?? 0) / 1000 * 1000)),
      ]
      try expect(asked[0].after?.fields, equals: merged, "the first document after")
      try expect(asked[1].after == nil && asked[3].after == nil, "a document is there that is deleted or was not there")
      try expect(asked[2].after?.fields, equals: ["k": .string("v")], "the new document")
      try expect(question.found, equals: [old], "what is looked up")
      try expect(engine.gatekeeper.asked.entries.count, equals: 1, "the number of questions")
      try expect(try await engine.subject.get("rooms/a"), equals: old, "the document")
      try expect(try await engine.subject.get("rooms/b") == nil, "a denied commit has made a document")
      _ = try await engine.commit(writes, as: engine.ada)
      try expect(try await engine.subject.get("rooms/b") != nil, "an allowed commit has made no document")
    },
    Contract("a commit is asked about before its preconditions count, and ends its transaction") { subject in
      let engine = try await subject.prepared()
      for precondition in [Precondition.exists(true), .exists(false)] {
        for path in ["rooms/a", "rooms/x"] {
          try await engine.expectDenied("a deletion with a precondition") {
            try await engine.commit([.delete(engine.name(path), precondition: precondition)], as: engine.eve)
          }
          try engine.expectLast(demanding: precondition)
          try await engine.expectDenied("a verification") {
            try await engine.commit([.verify(engine.name(path), precondition: precondition)], as: engine.eve)
          }
          try engine.expectLast(demanding: precondition)
          let change = Write.update(Document(name: engine.name(path), fields: [:]), precondition: precondition)
          try await engine.expectDenied("a change with a precondition") {
            try await engine.commit([change], as: engine.eve)
          }
          try engine.expectLast(demanding: precondition)
        }
      }
      let begin = BeginTransactionRequest(database: engine.database)
      let id = try await engine.backend.beginTransaction(begin, context: engine.eve).transaction
      let write = engine.subject.set("rooms/a", ["n": .integer(2)])
      let request = CommitRequest(database: engine.database, writes: [write], transaction: id)
      try await engine.expectDenied("a commit of a transaction") {
        try await engine.backend.commit(request, context: engine.eve)
      }
      try await expectRefusal(.invalidArgument, .aborted, .notFound, of: "a transaction that has ended") {
        try await engine.backend.commit(request, context: engine.ada)
      }
    },
    Contract("each write of a batch is asked about by itself") { subject in
      let engine = try await subject.prepared { question in
        guard case .commit(let writes) = question.subject else { return false }
        return writes.count == 1 && writes[0].name.hasSuffix("/b")
      }
      let writes = ["rooms/a", "rooms/b", "rooms/c"].map { engine.subject.set($0, ["n": .integer(9)]) }
      let response = try await engine.backend.batchWrite(
        BatchWriteRequest(database: engine.database, writes: writes), context: engine.eve)
      let codes = response.results.map { result in
        if case .failure(let error) = result { error.code } else { nil as ServiceCode? }
      }
      try expect(codes, equals: [.permissionDenied, nil, .permissionDenied], "the codes")
      try expect(try await engine.subject.get("rooms/a")?.fields["n"], equals: .integer(1), "the denied document")
    },
    Contract("each request of a write call is asked about, and the denied one ends the call") { subject in
      let engine = try await subject.prepared { question in
        guard case .commit(let writes) = question.subject else { return false }
        return writes.allSatisfy { $0.name.hasSuffix("/b") }
      }
      let call = try await engine.backend.write(database: engine.database, context: engine.eve)
      defer { call.cancel() }
      call.send(WriteRequest(database: engine.database))
      for path in ["rooms/b", "rooms/a"] {
        call.send(WriteRequest(writes: [engine.subject.set(path, ["n": .integer(9)])]))
      }
      call.finish()
      try await engine.expectDenied("a request of a write call") { for try await _ in call.responses {} }
      try expect(try await engine.subject.get("rooms/b") != nil, "the allowed request was not served")
      try expect(try await engine.subject.get("rooms/a")?.fields["n"], equals: .integer(1), "the denied document")
    },
  ]
}

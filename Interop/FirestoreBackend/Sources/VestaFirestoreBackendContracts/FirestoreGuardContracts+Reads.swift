import VestaFirestoreBackend
import VestaFirestoreBackendFakes
import VestaTesting

extension FirestoreGuardContracts {
  static let reads: [Contract<GuardedFirestoreSubject>] = [
    Contract("a get is asked about with the whole document, however often it is read") { subject in
      let engine = try await subject.prepared()
      let document = try expectValue(try await engine.subject.get("rooms/a"), "the document")
      for _ in 0..<3 {
        let found = try await engine.get(["rooms/a"], as: engine.ada, mask: DocumentMask(fieldPaths: ["n"]))
        try expect(found.map(\.fields), equals: [["n": .integer(1)]], "the fields")
        try engine.expectLast(.get(document.name, document))
        try await engine.expectDenied("a get") { try await engine.get(["rooms/a"], as: engine.eve) }
        try engine.expectLast(.get(document.name, document))
      }
      try expect(engine.gatekeeper.asked.entries.count, equals: 6, "the number of questions")
      try expect(engine.gatekeeper.asked.entries.allSatisfy { $0.time.seconds > 0 }, "a question has no time")
    },
    Contract("a get of several documents is asked about each, found or not") { subject in
      let engine = try await subject.prepared()
      try await engine.expectDenied("a missing document") { try await engine.get(["rooms/x"], as: engine.eve) }
      try engine.expectLast(.get(engine.name("rooms/x"), nil))
      let before = engine.gatekeeper.asked.entries.count
      _ = try await engine.get(["rooms/a", "rooms/x"], as: engine.ada)
      let names = engine.gatekeeper.asked.entries.dropFirst(before).map { question in
        if case .get(let name, _) = question.subject { name } else { "" }
      }
      try expect(names, equals: [engine.name("rooms/a"), engine.name("rooms/x")], "the names")
      try await engine.expectDenied("several documents") {
        try await engine.get(["rooms/a", "rooms/x"], as: engine.eve)
      }
    },
    Contract("a read in the past and in a transaction is asked about with what is read") { subject in
      let engine = try await subject.prepared(looksUp: ["users/ada"])
      let first = try await engine.subject.commit(engine.subject.set("users/ada", ["level": .integer(1)]))
      let old = try expectValue(try await engine.subject.get("rooms/a"), "the document")
      try await engine.subject.commit(
        engine.subject.set("rooms/a", ["n": .integer(2)]), engine.subject.set("users/ada", ["level": .integer(2)]))
      let time = ReadConsistency.readTime(first.commitTime)
      try await engine.expectDenied("a get in the past") { try await engine.get(["rooms/a"], as: engine.eve, time) }
      try engine.expectLast(.get(old.name, old))
      try expect(
        try engine.last().found.map { $0?.fields }, equals: [["level": .integer(1)]], "what is looked up in the past")
      for consistency in [ReadConsistency.newTransaction(.readOnly()), .newTransaction(.readWrite())] {
        try await engine.expectDenied("a get in a transaction") {
          try await engine.get(["rooms/a"], as: engine.eve, consistency)
        }
        let query = RunQueryRequest(parent: engine.subject.root, query: .all("rooms"), consistency: consistency)
        try await engine.expectDenied("a query in a transaction") {
          try await engine.backend.runQuery(query, context: engine.eve) { _ in }
        }
      }
    },
    Contract("a query, a figure and a list are asked about as they were sent") { subject in
      let engine = try await subject.prepared()
      let root = engine.subject.root
      let query = StructuredQuery.all("rooms", where: .field(path: "n", .equal, .integer(1)))
      try await engine.expectDenied("a query") {
        try await engine.backend.runQuery(RunQueryRequest(parent: root, query: query), context: engine.eve) { _ in }
      }
      try engine.expectLast(.list(FirestoreGuardedQuery(parent: root, query: query)))
      let figures = StructuredAggregationQuery(query: query, aggregations: [Aggregation(.count(upTo: nil))])
      try await engine.expectDenied("a figure") {
        try await engine.backend.runAggregation(
          RunAggregationQueryRequest(parent: root, query: figures), context: engine.eve)
      }
      try engine.expectLast(.list(FirestoreGuardedQuery(parent: root, query: query)))
      let list = ListDocumentsRequest(parent: root, collectionID: "rooms", pageSize: 7)
      try await engine.expectDenied("a list") {
        try await engine.backend.listDocuments(list, context: engine.eve)
      }
      var page = StructuredQuery.all("rooms")
      page.limit = 7
      try engine.expectLast(.list(FirestoreGuardedQuery(parent: root, query: page)))
      let documents = try await engine.backend.listDocuments(list, context: engine.ada).documents
      try expect(documents.count, equals: 1, "the documents")
    },
    Contract("a caller for whom there are no rules is not asked about") { subject in
      let engine = try await subject.prepared { _ in false }
      _ = try await engine.subject.get("rooms/a")
      _ = try await engine.subject.query(.all("rooms"))
      try await engine.subject.commit(engine.subject.set("rooms/b"))
      try expect(engine.gatekeeper.asked.entries.isEmpty, "an owner was asked about")
    },
    Contract("a guard that cannot decide ends the call, and nothing has changed") { subject in
      let engine = try await subject.prepared { _ in throw FirestoreServiceError(.unavailable, "No answer.") }
      try await expectRefusal(.unavailable, of: "a get") { try await engine.get(["rooms/a"], as: engine.ada) }
      try await expectRefusal(.unavailable, of: "a commit") {
        try await engine.commit([.delete(engine.name("rooms/a"))], as: engine.ada)
      }
      try expect(try await engine.subject.get("rooms/a") != nil, "the document is gone")
    },
  ]
}

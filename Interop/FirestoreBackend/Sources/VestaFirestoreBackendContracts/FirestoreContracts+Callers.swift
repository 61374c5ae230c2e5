import VestaFirestoreBackend
public import VestaTesting

extension FirestoreContracts {
  /// The promise about callers whom the backend cannot verify.
  ///
  /// A backend that knows owners only, without tokens, leaves this list out.
  public static let callers: [Contract<FirestoreSubject>] = [
    Contract("a credential that cannot be verified is refused in every call") { subject in
      try await subject.commit(subject.set("rooms/a", ["n": .integer(1)]))
      let forged = CallContext(caller: .credential(.idToken("a.b.c")))
      try await subject.expectUnauthenticatedReads(forged)
      try await subject.expectUnauthenticatedQueries(forged)
      try await subject.expectUnauthenticatedWrites(forged)
      try await subject.expectUnauthenticatedStreams(forged)
      try expect(try await subject.get("rooms/a")?.fields, equals: ["n": .integer(1)], "the document")
    }
  ]
}

extension FirestoreSubject {
  fileprivate func expectUnauthenticatedReads(_ context: CallContext) async throws {
    try await expectRefusal(.unauthenticated, of: "a get") {
      let request = BatchGetDocumentsRequest(database: database, documents: [name("rooms/a")])
      try await backend.batchGet(request, context: context) { _ in }
    }
    try await expectRefusal(.unauthenticated, of: "a list of documents") {
      try await backend.listDocuments(ListDocumentsRequest(parent: root, collectionID: "rooms"), context: context)
    }
    try await expectRefusal(.unauthenticated, of: "a list of collections") {
      try await backend.listCollectionIDs(ListCollectionIDsRequest(parent: root), context: context)
    }
  }

  fileprivate func expectUnauthenticatedQueries(_ context: CallContext) async throws {
    try await expectRefusal(.unauthenticated, of: "a query") {
      try await backend.runQuery(RunQueryRequest(parent: root, query: .all("rooms")), context: context) { _ in }
    }
    try await expectRefusal(.unauthenticated, of: "an aggregation") {
      let query = StructuredAggregationQuery(query: .all("rooms"), aggregations: [Aggregation(.count(upTo: nil))])
      return try await backend.runAggregation(
        RunAggregationQueryRequest(parent: root, query: query), context: context)
    }
    try await expectRefusal(.unauthenticated, of: "a partition") {
      var query = StructuredQuery.all("rooms", by: "__name__")
      query.from[0].allDescendants = true
      return try await backend.partitionQuery(
        PartitionQueryRequest(parent: root, query: query, partitionCount: 2), context: context)
    }
  }

  fileprivate func expectUnauthenticatedWrites(_ context: CallContext) async throws {
    let writes = [set("rooms/a", ["n": .integer(2)])]
    try await expectRefusal(.unauthenticated, of: "a commit") {
      try await backend.commit(CommitRequest(database: database, writes: writes), context: context)
    }
    try await expectRefusal(.unauthenticated, of: "a batch of writes") {
      try await backend.batchWrite(BatchWriteRequest(database: database, writes: writes), context: context)
    }
    try await expectRefusal(.unauthenticated, of: "the beginning of a transaction") {
      try await backend.beginTransaction(BeginTransactionRequest(database: database), context: context)
    }
    let transaction = try await begin()
    try await expectRefusal(.unauthenticated, of: "the end of a transaction") {
      try await backend.rollback(RollbackRequest(database: database, transaction: transaction), context: context)
    }
    try await rollback(transaction)
  }

  /// A call that stays open is refused when it is opened, or instead of its first response.
  fileprivate func expectUnauthenticatedStreams(_ context: CallContext) async throws {
    try await expectRefusal(.unauthenticated, of: "a listen call") {
      let call = try await backend.listen(database: database, context: context)
      defer { call.cancel() }
      call.send(.addTarget(Target(id: 1, .documents([name("rooms/a")]))))
      for try await batch in call.responses where !batch.isEmpty { return }
    }
    try await expectRefusal(.unauthenticated, of: "a write call") {
      let call = try await backend.write(database: database, context: context)
      defer { call.cancel() }
      call.send(WriteRequest(database: database))
      call.send(WriteRequest(writes: [set("rooms/a", ["n": .integer(2)])]))
      call.finish()
      for try await _ in call.responses {}
    }
  }
}

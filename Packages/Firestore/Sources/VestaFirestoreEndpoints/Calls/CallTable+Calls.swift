import VestaFirestoreBackend
import VestaFirestoreWire

extension CallTable {
  mutating func addReads() {
    addBatchGet()
    addQueries()
    addListings()
    absent("ExecutePipeline")
  }

  private mutating func addBatchGet() {
    streaming(
      "BatchGetDocuments", .schema(BatchGetRequestWire.self), .schema(BatchGetResponseWire.self), resource: \.database
    ) { backend, request, context, receive in
      try await backend.batchGet(request, context: context) { response in
        var response = response
        // The transaction is first, and alone.
        if response.result != nil, let transaction = response.transaction {
          try await receive(BatchGetDocumentsResponse(transaction: transaction))
          response.transaction = nil
        }
        try await receive(response)
      }
    }
  }

  private mutating func addQueries() {
    streaming(
      "RunQuery", .conversion(RunQueryRequestWire.self), .schema(RunQueryResponseWire.self), resource: \.parent,
      isLong: true
    ) { backend, request, context, receive in
      try await backend.runQuery(request, context: context) { response in
        var response = response
        if response.document != nil, let transaction = response.transaction {
          try await receive(RunQueryResponse(transaction: transaction))
          response.transaction = nil
        }
        try await receive(response)
      }
    }
    streaming(
      "RunAggregationQuery", .conversion(RunAggregationRequestWire.self), .schema(RunAggregationResponseWire.self),
      resource: \.parent, isLong: true
    ) { backend, request, context, receive in
      try await receive(try await backend.runAggregation(request, context: context))
    }
  }

  private mutating func addListings() {
    unary(
      "PartitionQuery", .conversion(PartitionQueryRequestWire.self), .schema(PartitionQueryResponseWire.self),
      resource: \.parent
    ) { try await $0.partitionQuery($1, context: $2) }
    unary(
      "ListDocuments", .schema(ListDocumentsRequestWire.self), .schema(ListDocumentsResponseWire.self),
      resource: \.parent
    ) { try await $0.listDocuments($1, context: $2) }
    unary(
      "ListCollectionIds", .schema(ListCollectionIDsRequestWire.self), .schema(ListCollectionIDsResponseWire.self),
      resource: \.parent
    ) { try await $0.listCollectionIDs($1, context: $2) }
  }

  mutating func addWrites() {
    unary(
      "Commit", .schema(CommitRequestWire.self), .schema(CommitResponseWire.self), resource: \.database, isWrite: true
    ) { try await $0.commit($1, context: $2) }
    unary(
      "BatchWrite", .schema(BatchWriteRequestWire.self), .conversion(BatchWriteResponseWire.self), resource: \.database,
      isWrite: true
    ) { try await $0.batchWrite($1, context: $2) }
    unary(
      "BeginTransaction", .schema(BeginTransactionRequestWire.self), .schema(BeginTransactionResponseWire.self),
      resource: \.database
    ) { try await $0.beginTransaction($1, context: $2) }
    unary("Rollback", .schema(RollbackRequestWire.self), .schema(EmptyWire.self), resource: \.database) {
      try await $0.rollback($1, context: $2)
      return EmptyWire.Message()
    }
  }
}

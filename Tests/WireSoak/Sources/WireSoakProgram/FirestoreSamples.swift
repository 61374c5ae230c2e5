import VestaFirestoreWire

/// The messages of Firestore, short ones.
enum FirestoreSamples {
  static func all() throws -> [MessageSample] { try documents() + queries() + streams() + administration() }

  private static let document =
    #"{"name":"d/a","fields":{"a":{"mapValue":{"fields":{"b":{"arrayValue":{"values":[{"nullValue":null},{"bytesValue":"AQI="}]}}}}}},"#
    + #""createTime":"2026-01-01T00:00:05.1Z"}"#

  private static func documents() throws -> [MessageSample] {
    [
      try MessageSample(
        DocumentWire.self, document,
        #"{"name":"d","fields":{"a":{"integerValue":"-7"},"b":{"doubleValue":"NaN"},"c":{"timestampValue":"1999-12-31T23:59:59Z"}}}"#,
        #"{"fields":{"g":{"geoPointValue":{"latitude":1.5,"longitude":-2}},"r":{"referenceValue":"p/d"},"s":{"stringValue":"é"}}}"#
      ),
      try MessageSample(
        CommitRequestWire.self,
        #"{"database":"d","writes":[{"update":{"name":"a"},"updateMask":{"fieldPaths":["x"]},"currentDocument":{"exists":true}}]}"#,
        #"{"writes":[{"delete":"x"},{"update":{"name":"a"},"updateTransforms":[{"fieldPath":"c","setToServerValue":"REQUEST_TIME"}]}]}"#,
        #"{"writes":[{"update":{"name":"a"},"updateTransforms":[{"fieldPath":"c","increment":{"integerValue":"1"}}]}],"transaction":"AQ=="}"#
      ),
      try MessageSample(
        CommitResponseWire.self,
        #"{"writeResults":[{"updateTime":"2026-01-01T00:00:00Z","transformResults":[{"integerValue":"3"}]}],"commitTime":"2026-01-01T00:00:00Z"}"#
      ),
      try MessageSample(
        BatchWriteRequestWire.self, #"{"database":"d","writes":[{"delete":"x"}],"labels":{"a":"b"}}"#),
      try MessageSample(
        BatchWriteResponseWire.self, #"{"writeResults":[{}],"status":[{"code":5,"message":"m"}]}"#),
      try MessageSample(
        BatchGetRequestWire.self,
        #"{"database":"d","documents":["a","b"],"mask":{"fieldPaths":["x"]},"newTransaction":{"readWrite":{}}}"#),
      try MessageSample(BatchGetResponseWire.self, #"{"missing":"a","readTime":"2026-01-01T00:00:00Z"}"#),
      try MessageSample(
        ListDocumentsRequestWire.self,
        #"{"parent":"p","collectionId":"c","pageSize":3,"pageToken":"t","showMissing":true}"#),
      try MessageSample(ListDocumentsResponseWire.self, #"{"documents":[{"name":"a"}],"nextPageToken":"t"}"#),
      try MessageSample(
        BeginTransactionRequestWire.self,
        #"{"database":"d","options":{"readOnly":{"readTime":"2026-01-01T00:00:00Z"}}}"#,
        #"{"options":{"readWrite":{"retryTransaction":"AQ=="}}}"#),
      try MessageSample(RollbackRequestWire.self, #"{"database":"d","transaction":"AQ=="}"#),
      try MessageSample(
        UpdateDocumentRequestWire.self,
        #"{"document":{"name":"a"},"updateMask":{"fieldPaths":["x"]},"currentDocument":{"updateTime":"2026-01-01T00:00:00Z"}}"#
      ),
      try MessageSample(ListCollectionIDsResponseWire.self, #"{"collectionIds":["a","b"],"nextPageToken":"t"}"#),
    ]
  }

  private static func queries() throws -> [MessageSample] {
    [
      try MessageSample(
        RunQueryRequestWire.self,
        #"{"parent":"p","structuredQuery":{"from":[{"collectionId":"c","allDescendants":true}],"limit":3,"offset":1}}"#,
        #"{"structuredQuery":{"where":{"compositeFilter":{"op":"OR","filters":[{"unaryFilter":{"field":{"fieldPath":"b"},"op":"IS_NAN"}}]}}}}"#,
        #"{"structuredQuery":{"where":{"fieldFilter":{"field":{"fieldPath":"a"},"op":"IN","value":{"integerValue":"1"}}}},"transaction":"AQ=="}"#,
        #"{"structuredQuery":{"orderBy":[{"field":{"fieldPath":"a"},"direction":"DESCENDING"}],"startAt":{"values":[{"doubleValue":1.5}],"before":true}}}"#,
        #"{"structuredQuery":{"select":{"fields":[{"fieldPath":"a"}]},"from":[{"collectionId":"c"}]},"explainOptions":{"analyze":true}}"#
      ),
      try MessageSample(
        RunQueryResponseWire.self,
        #"{"document":{"name":"a"},"readTime":"2026-01-01T00:00:00Z","skippedResults":2,"done":true}"#,
        #"{"explainMetrics":{"planSummary":{"indexesUsed":[{"a":"b"}]},"executionStats":{"executionDuration":"1.5s"}}}"#
      ),
      try MessageSample(
        RunAggregationRequestWire.self,
        #"{"structuredAggregationQuery":{"structuredQuery":{"from":[{"collectionId":"c"}]},"aggregations":[{"count":{"upTo":"5"},"alias":"n"}]}}"#,
        #"{"structuredAggregationQuery":{"structuredQuery":{"from":[{"collectionId":"c"}]},"aggregations":[{"sum":{"field":{"fieldPath":"a"}}}]}}"#
      ),
      try MessageSample(
        RunAggregationResponseWire.self,
        #"{"result":{"aggregateFields":{"n":{"integerValue":"5"}}},"readTime":"2026-01-01T00:00:00Z"}"#),
      try MessageSample(
        PartitionQueryRequestWire.self,
        #"{"parent":"p","structuredQuery":{"from":[{"collectionId":"c"}]},"partitionCount":"4","pageSize":2}"#),
      try MessageSample(
        PartitionQueryResponseWire.self, #"{"partitions":[{"values":[{"referenceValue":"a"}],"before":true}]}"#),
    ]
  }

  private static func streams() throws -> [MessageSample] {
    [
      try MessageSample(
        ListenRequestWire.self,
        #"{"database":"d","addTarget":{"query":{"parent":"p","structuredQuery":{"from":[{"collectionId":"c"}]}},"targetId":2}}"#,
        #"{"addTarget":{"documents":{"documents":["a"]},"targetId":4,"resumeToken":"AQ==","expectedCount":3,"once":true}}"#,
        #"{"database":"d","removeTarget":2,"labels":{"a":"b"}}"#),
      try MessageSample(
        ListenResponseWire.self,
        #"{"targetChange":{"targetChangeType":"REMOVE","targetIds":[1,300],"cause":{"code":7,"message":"no"}}}"#,
        #"{"documentChange":{"document":{"name":"a","fields":{"x":{"booleanValue":true}}},"targetIds":[2]}}"#,
        #"{"documentDelete":{"document":"a","removedTargetIds":[2],"readTime":"2026-01-01T00:00:00Z"}}"#,
        #"{"filter":{"targetId":2,"count":3,"unchangedNames":{"bits":{"bitmap":"AQ==","padding":1},"hashCount":7}}}"#),
      try MessageSample(
        WriteRequestWire.self, #"{"database":"d","streamId":"s","writes":[{"delete":"x"}],"streamToken":"AQ=="}"#,
        #"{"labels":{"vesta-queue":"ff","vesta-number":"1"}}"#),
      try MessageSample(
        WriteResponseWire.self,
        #"{"streamId":"s","streamToken":"AQ==","writeResults":[{}],"commitTime":"2026-01-01T00:00:00Z"}"#),
    ]
  }

  private static func administration() throws -> [MessageSample] {
    [
      try MessageSample(
        CreateIndexRequestWire.self,
        #"{"parent":"p","index":{"queryScope":"COLLECTION","fields":[{"fieldPath":"a","order":"ASCENDING"}]}}"#,
        #"{"index":{"fields":[{"fieldPath":"b","arrayConfig":"CONTAINS"},{"fieldPath":"v","vectorConfig":{"dimension":3,"flat":{}}}]}}"#
      ),
      try MessageSample(
        UpdateFieldRequestWire.self,
        #"{"field":{"name":"f","indexConfig":{"indexes":[]},"ttlConfig":{"state":"ACTIVE"}},"updateMask":"indexConfig,ttlConfig"}"#
      ),
      try MessageSample(
        ListDatabasesResponseWire.self,
        #"{"databases":[{"name":"d","locationId":"nam5","type":"FIRESTORE_NATIVE","versionRetentionPeriod":"3600s","etag":"e"}]}"#
      ),
      try MessageSample(
        ListOperationsResponseWire.self,
        #"{"operations":[{"name":"o","done":true,"error":{"code":5,"message":"none"}}],"nextPageToken":"t"}"#),
      try MessageSample(
        OperationWire.self, #"{"name":"o","done":true,"error":{"code":5,"message":"none"}}"#,
        #"{"name":"o","response":{"@type":"type.googleapis.com/google.i","a":{"b":[1,"x"]}},"done":true}"#),
      try MessageSample(BulkDeleteRequestWire.self, #"{"name":"d","collectionIds":["a"],"namespaceIds":[""]}"#),
    ]
  }
}

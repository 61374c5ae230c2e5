import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

extension FirestoreCall {
  /// Splits a query of a group into parts, and hands over where they meet.
  func partitionQuery(_ request: PartitionQueryRequest) async throws -> PartitionQueryResponse {
    let query = try NormalQuery(request.query, parent: request.parent)
    try QueryPartitions.check(query, request)
    let pages = DocumentPages(request)
    let (returned, last) = try QueryPartitions.position(pages.values(request.pageToken))
    let wanted = min(Int(clamping: request.partitionCount), options.tuning.queries.partitions)
    return try await engine.reading(at: request.readTime, .everything) { snapshot in
      let catalogue = try await indexes.catalogue(in: snapshot.reader)
      if let needs = QueryNeeds(query) {
        indexes.want(
          QueryPlanner(needs, catalogue, isForbidden: indexes.declared.forbid).outcome().missing, catalogue)
      }
      var names = try await QueryPartitions(query, in: snapshot, catalogue).names(wanted)
      if let last { names.removeAll { $0 <= last } }
      names = Array(names.prefix(max(0, wanted - returned)))
      let page = request.pageSize == 0 ? names : Array(names.prefix(Int(request.pageSize)))
      var token = ""
      if page.count < names.count, let last = page.last {
        token = pages.token(after: [.integer(Int64(returned + page.count)), .string(last.description)])
      }
      let cursors = page.map { path in
        let name = ResourceName(database: name, path: path).description
        return StructuredQuery.Cursor(values: [.reference(name)], before: true)
      }
      return PartitionQueryResponse(partitions: cursors, nextPageToken: token)
    }
  }
}

import VestaFirestoreBackend
package import VestaFirestoreModel

/// Queries of targets.
extension LocalStore {
  /// The results of a query in the cache, without its limit, and the documents of its target.
  ///
  /// - Parameters:
  ///   - record: The record of the target, where the caller knows it.
  ///   - usesPreviousResults: Whether what the target had may answer the query.
  package mutating func execute(
    _ query: LocalQuery, of record: TargetRecord? = nil, usesPreviousResults: Bool
  ) -> (documents: [DocumentKey: CachedDocument], remoteKeys: Set<DocumentKey>) {
    guard usesPreviousResults else { return (shown.results(of: query, previous: nil), []) }
    var previous = LocalDocuments.Previous()
    if let kept = record ?? targets.record(of: query.target) {
      previous.keys = targets.keys(of: kept.id)
      previous.version = (targets.active[kept.id] ?? kept).lastLimboFreeVersion
    }
    return (shown.results(of: query, previous: previous), previous.keys)
  }
}

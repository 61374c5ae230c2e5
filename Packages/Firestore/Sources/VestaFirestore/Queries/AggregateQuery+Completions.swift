extension AggregateQuery {
  /// Completion form of ``getAggregation(source:)``.
  @preconcurrency
  public func getAggregation(
    source: AggregateSource, completion: @escaping @Sendable (AggregateQuerySnapshot?, (any Error)?) -> Void
  ) {
    query.firestore.complete(isCached: false, completion) { try await self.getAggregation(source: source) }
  }
}

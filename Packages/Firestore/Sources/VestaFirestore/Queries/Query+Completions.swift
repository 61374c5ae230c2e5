extension Query {
  /// Completion form of ``getDocuments()``.
  @preconcurrency
  public func getDocuments(completion: @escaping @Sendable (QuerySnapshot?, (any Error)?) -> Void) {
    getDocuments(source: .default, completion: completion)
  }

  /// Completion form of ``getDocuments(source:)``.
  @preconcurrency
  public func getDocuments(
    source: FirestoreSource, completion: @escaping @Sendable (QuerySnapshot?, (any Error)?) -> Void
  ) {
    firestore.complete(isCached: source == .cache, completion) { try await self.getDocuments(source: source) }
  }
}

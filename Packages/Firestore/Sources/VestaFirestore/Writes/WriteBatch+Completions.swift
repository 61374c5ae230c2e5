extension WriteBatch {
  /// Completion form of ``commit()``.
  @preconcurrency
  public func commit(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    firestore.complete(completion) { try self.startCommit() }
  }
}

import VestaFirestoreModel

/// Which documents and targets go, and when.
extension LocalStore {
  /// The numbers of targets and documents that a collection of garbage has removed.
  package struct GarbageResult: Sendable, Hashable {
    /// How many targets.
    package var targets = 0
    /// How many documents.
    package var documents = 0
  }

  mutating func beginTransaction() { uses.number += 1 }

  /// Ends a transaction: with the eager policy, unreferenced documents are deleted now.
  mutating func endTransaction() { for key in uses.takeOrphans() where !isReferenced(key) { remove(key) } }

  private func isReferenced(_ key: DocumentKey) -> Bool {
    targets.contains(key) || uses.contains(key) || shown.writes.contains(key)
  }

  /// Removes the least recently used targets and documents if the cache is larger than its limit.
  ///
  /// - Parameters:
  ///   - threshold: The bytes above which documents are deleted.
  ///   - percentile: The share of targets and documents without a referrer that go, in percent.
  ///   - maximum: How many targets and documents go in one round at most.
  ///   - rounds: How many rounds there are at most; the last one is that after which the cache is small enough.
  /// - Returns: The deleted documents.
  package mutating func collectGarbage(
    threshold: Int, percentile: Int = 10, maximum: Int = 1000, rounds: Int = 1
  ) -> GarbageResult {
    guard case .leastRecentlyUsed = policy, byteSize >= threshold else { return GarbageResult() }
    beginTransaction()
    var result = GarbageResult()
    for _ in 0..<rounds where byteSize >= threshold {
      let round = collectRound(percentile: percentile, maximum: maximum)
      if round == GarbageResult() { break }
      result.targets += round.targets
      result.documents += round.documents
    }
    return result
  }

  /// Removes a share of the least recently used targets and documents: of few, at least one.
  ///
  /// Documents of a removed target are without a referrer in the next round.
  private mutating func collectRound(percentile: Int, maximum: Int) -> GarbageResult {
    let orphaned = shown.remote.all.filter { !isReferenced($0.path) }.map(\.path)
    let unused = targets.records.values.filter { targets.active[$0.id] == nil }
    let numbers = (unused.map(\.sequenceNumber) + orphaned.map { uses.number(of: $0) ?? 0 }).sorted()
    let count = min(numbers.count, maximum, percentile > 0 ? max(1, numbers.count * percentile / 100) : 0)
    guard count > 0 else { return GarbageResult() }
    let bound = numbers[count - 1]
    var result = GarbageResult()
    for record in targets.records.values where record.sequenceNumber <= bound && targets.active[record.id] == nil {
      removeTarget(record.id)
      result.targets += 1
    }
    for document in Array(shown.remote.all)
    where (uses.number(of: document.path) ?? 0) <= bound && !isReferenced(document.path) {
      remove(document.path)
      result.documents += 1
    }
    return result
  }

  /// How large the cache is, as the service counts the sizes of documents.
  package var byteSize: Int { shown.remote.byteSize }
}

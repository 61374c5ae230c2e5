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

  mutating func beginTransaction() { sequenceNumber += 1 }

  /// Ends a transaction: with the eager policy, unreferenced documents are deleted now.
  mutating func endTransaction() {
    guard case .eager = policy, !orphans.isEmpty else { return }
    for key in orphans where !isReferenced(key) { remove(key) }
    orphans = []
  }

  /// Notes that a target, view or write has ceased to refer to a document.
  mutating func dereference(_ key: DocumentKey) {
    switch policy {
    case .eager: orphans.insert(key)
    case .leastRecentlyUsed: touch(key)
    }
  }

  /// Notes that a target or view has ceased to refer to documents.
  mutating func dereference(_ keys: Set<DocumentKey>) {
    switch policy {
    case .eager: if orphans.isEmpty { orphans = keys } else { orphans.formUnion(keys) }
    case .leastRecentlyUsed: touch(keys)
    }
  }

  /// Notes that a document was used now.
  mutating func touch(_ key: DocumentKey) {
    guard case .leastRecentlyUsed = policy else { return }
    sequenceNumbers[key] = sequenceNumber
    changes.sequenceNumbers.insert(key)
  }

  /// Notes that documents were used now.
  mutating func touch(_ keys: Set<DocumentKey>) {
    guard case .leastRecentlyUsed = policy else { return }
    for key in keys { touch(key) }
  }

  /// Notes that a document was stored; what only a limbo resolution or an acknowledgement stored may have no referrer.
  mutating func noteUse(of key: DocumentKey) {
    switch policy {
    case .eager: if !isReferenced(key) { orphans.insert(key) }
    case .leastRecentlyUsed: if sequenceNumbers[key] == nil { touch(key) }
    }
  }

  /// Notes that only a limbo resolution has reported a document.
  mutating func touchLimbo(_ key: DocumentKey) {
    switch policy {
    case .eager: if isReferenced(key) { orphans.remove(key) } else { orphans.insert(key) }
    case .leastRecentlyUsed: touch(key)
    }
  }

  func isReferenced(_ key: DocumentKey) -> Bool {
    targets.contains(key) || viewReferences.contains(key) || held.contains(key)
      || acknowledged.contains(key)
      || queues.values.contains { $0.contains(key) }
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
    let orphaned = documents.all.filter { !isReferenced($0.path) }.map(\.path)
    let unused = targets.records.values.filter { active[$0.id] == nil }
    let numbers = (unused.map(\.sequenceNumber) + orphaned.map { sequenceNumbers[$0] ?? 0 }).sorted()
    let share = percentile > 0 ? max(1, numbers.count * percentile / 100) : 0
    let count = min(numbers.count, maximum, share)
    guard count > 0 else { return GarbageResult() }
    let bound = numbers[count - 1]
    var result = GarbageResult()
    for record in targets.records.values where record.sequenceNumber <= bound && active[record.id] == nil {
      removeTarget(record.id)
      result.targets += 1
    }
    for document in Array(documents.all)
    where (sequenceNumbers[document.path] ?? 0) <= bound && !isReferenced(document.path) {
      remove(document.path)
      result.documents += 1
    }
    return result
  }

  /// How large the cache is, as the service counts the sizes of documents.
  package var byteSize: Int {
    documents.byteSize
  }
}

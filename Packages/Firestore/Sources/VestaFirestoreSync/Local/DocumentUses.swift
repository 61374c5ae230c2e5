import VestaFirestoreBackend
import VestaFirestoreModel

/// The uses that keep documents in the cache, and when each of them was used last.
///
/// A document is *referred to* by targets, by pending writes, and by what is noted here: the views that show it, and
/// acknowledged writes whose snapshot has not been received. With the eager policy a document that nothing refers to
/// any longer is an *orphan*, which the store deletes at the end of its transaction; with the other one its number says
/// when it was used, and the store deletes the documents with the smallest numbers when it is too large.
///
/// Worked example, eager: the view of target 2 shows `rooms/a` and loses it. `dereference`: an orphan. A write of it
/// was acknowledged in the same transaction, and is held: it stays. `release`: an orphan again, and the store deletes
/// it.
struct DocumentUses {
  let policy: LocalStore.GarbagePolicy
  /// The documents that views show, by the numbers of their targets.
  var views = ReferenceSet()
  /// Documents of acknowledged writes that stay until the views that look at them have had the backend's results.
  private(set) var held: Set<DocumentKey> = []
  /// Documents of acknowledged writes that stay until the backend has sent a snapshot of the writes.
  private(set) var acknowledged = AcknowledgedDocuments()
  private var orphans: Set<DocumentKey> = []
  /// The number of the transaction that used each document last.
  private var numbers: [DocumentKey: Int64] = [:]
  /// The number of the current transaction.
  var number: Int64 = 0
  /// The documents whose numbers have changed, for their rows.
  private var changed: Set<DocumentKey> = []

  init(_ policy: LocalStore.GarbagePolicy) { self.policy = policy }

  /// Begins with what an earlier client left.
  mutating func restore(_ numbers: [DocumentKey: Int64], last: Int64) { (self.numbers, number) = (numbers, last) }

  /// Begins again, because the cache does; views and acknowledged writes stay.
  mutating func discard() { (numbers, orphans, changed) = ([:], [], []) }

  // MARK: References

  /// Whether anything that is noted here refers to a document.
  func contains(_ key: DocumentKey) -> Bool {
    views.contains(key) || held.contains(key) || acknowledged.contains(key)
  }

  /// Notes that a target, view or write has ceased to refer to a document.
  mutating func dereference(_ key: DocumentKey) {
    if case .eager = policy { orphans.insert(key) } else { touch(key) }
  }

  /// Notes that a target or view has ceased to refer to documents.
  mutating func dereference(_ keys: Set<DocumentKey>) {
    guard case .eager = policy else { return touch(keys) }
    if orphans.isEmpty { orphans = keys } else { orphans.formUnion(keys) }
  }

  /// Takes the documents that nothing may refer to any longer.
  mutating func takeOrphans() -> Set<DocumentKey> {
    if orphans.isEmpty { return [] }
    defer { orphans = [] }
    return orphans
  }

  // MARK: Acknowledged writes

  /// Keeps a document, as an acknowledged write has left it, until `release` is called with it.
  mutating func hold(_ key: DocumentKey) { held.insert(key) }

  /// Keeps a document, as an acknowledged write has left it, until a snapshot of that version.
  mutating func hold(_ key: DocumentKey, until version: Timestamp) { acknowledged.append(key, version) }

  /// Ends the keeping of documents.
  mutating func release(_ keys: [DocumentKey]) { for key in keys where held.remove(key) != nil { dereference(key) } }

  /// Takes the documents of the writes that a snapshot has, and the oldest ones beyond a limit.
  mutating func takeAcknowledged(upTo version: Timestamp, limit: Int) -> [DocumentKey] {
    acknowledged.count > 0 ? acknowledged.take(upTo: version, limit: limit) : []
  }

  // MARK: Numbers

  /// The number of the last use of a document.
  func number(of key: DocumentKey) -> Int64? { numbers[key] }

  /// Notes that a document was used now.
  mutating func touch(_ key: DocumentKey) {
    guard case .leastRecentlyUsed = policy else { return }
    numbers[key] = number
    changed.insert(key)
  }

  /// Notes that documents were used now.
  mutating func touch(_ keys: Set<DocumentKey>) {
    guard case .leastRecentlyUsed = policy else { return }
    for key in keys { touch(key) }
  }

  /// Notes that a document was stored; what only a limbo resolution or an acknowledgement stored may have no referrer.
  ///
  /// - Parameter isReferenced: Whether a target or a pending write refers to it.
  mutating func noteStored(_ key: DocumentKey, isReferenced: @autoclosure () -> Bool) {
    switch policy {
    case .eager: if !contains(key), !isReferenced() { orphans.insert(key) }
    case .leastRecentlyUsed: if numbers[key] == nil { touch(key) }
    }
  }

  /// Notes that only a limbo resolution has reported a document.
  ///
  /// - Parameter isReferenced: Whether a target or a pending write refers to it.
  mutating func noteResolved(_ key: DocumentKey, isReferenced: @autoclosure () -> Bool) {
    switch policy {
    case .eager: if contains(key) || isReferenced() { orphans.remove(key) } else { orphans.insert(key) }
    case .leastRecentlyUsed: touch(key)
    }
  }

  /// Notes that a document has been deleted.
  ///
  /// - Parameter mayHaveRow: Whether a number that has not been read may have a row.
  mutating func remove(_ key: DocumentKey, mayHaveRow: Bool) {
    if numbers.removeValue(forKey: key) != nil || mayHaveRow { changed.insert(key) }
  }

  /// Takes the number of a document out of a durable cache, unless it is known.
  mutating func load(_ number: Int64, of key: DocumentKey) { if numbers[key] == nil { numbers[key] = number } }

  /// Takes the documents whose numbers have changed.
  mutating func takeChanged() -> Set<DocumentKey> {
    if changed.isEmpty { return [] }
    defer { changed = [] }
    return changed
  }
}

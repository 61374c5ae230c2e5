import VestaFirestoreBackend
import VestaFirestoreModel

/// The documents of acknowledged writes, until the watch stream has sent a snapshot of the writes.
///
/// Worked example: `rooms/a` is set and deleted, and both writes are acknowledged together, at the versions 5 and 6.
/// Then the stream sends the snapshot of version 5, with the room. The cache ignores it only as long as it knows that
/// there is no room at version 6.
struct AcknowledgedDocuments: Sendable {
  /// In the order of the acknowledgements; a document is there once for each of its writes.
  private var order: [(key: DocumentKey, version: Timestamp)] = []
  /// The position of the oldest one: those before it have been taken, and the list is cut now and then.
  private var first = 0
  private var counts: [DocumentKey: Int] = [:]

  var count: Int { order.count - first }

  func contains(_ key: DocumentKey) -> Bool { counts[key] != nil }

  /// Notes that a write of a document has been acknowledged at a version.
  mutating func append(_ key: DocumentKey, _ version: Timestamp) {
    order.append((key, version))
    counts[key, default: 0] += 1
  }

  /// Takes the documents of the writes that a snapshot has, and the oldest ones beyond a limit.
  mutating func take(upTo version: Timestamp, limit: Int) -> [DocumentKey] {
    var taken: [DocumentKey] = []
    while first < order.count, count > limit || order[first].version <= version {
      let key = order[first].key
      first += 1
      guard let left = counts[key] else { continue }
      counts[key] = left > 1 ? left - 1 : nil
      if left == 1 { taken.append(key) }
    }
    if first * 2 > order.count {
      order.removeFirst(first)
      first = 0
    }
    return taken
  }
}

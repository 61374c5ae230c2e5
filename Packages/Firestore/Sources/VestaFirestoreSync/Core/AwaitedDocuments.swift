import VestaFirestoreBackend
import VestaFirestoreModel

/// Documents that views show as an acknowledged write has left them, though no snapshot of that write has been
/// received.
struct AwaitedDocuments {
  /// How often the timer fires until a document is asked for.
  static let rounds = 3

  /// The number of the limbo references of these documents, which no target has.
  static let target: Int32 = 0

  /// Whether the timer runs.
  var hasTimer = false
  /// The documents that are asked for.
  private(set) var asked: Set<DocumentKey> = []
  private var seen: [DocumentKey: (version: Timestamp, count: Int)] = [:]

  /// Notes the documents that are overdue now, each with the version of its write.
  ///
  /// - Returns: Those to ask for, because they have been overdue for some rounds.
  mutating func advance(_ overdue: [DocumentKey: Timestamp]) -> [DocumentKey] {
    var due: [DocumentKey] = []
    seen = Dictionary(
      uniqueKeysWithValues: overdue.map { key, version in
        let count = seen[key].map { $0.version == version ? $0.count + 1 : 1 } ?? 1
        if count >= Self.rounds, !asked.contains(key) { due.append(key) }
        return (key, (version, count))
      })
    asked.formUnion(due)
    return due.sorted()
  }

  /// Begins to count anew.
  mutating func forgetRounds() { seen = [:] }

  /// Notes that a document need not be asked for.
  mutating func remove(_ key: DocumentKey) {
    asked.remove(key)
    seen[key] = nil
  }
}

import VestaFirestoreBackend
import VestaFirestoreModel

/// Acknowledged writes that change a part of a document of which nothing was known: the cache lacks its other parts.
///
/// A first read that began before the commit brings the document as it was before the writes. It is older than what
/// the cache has, but it has all parts; so the writes are applied to it once more.
///
/// Worked example: `rooms/a` is `{n: 1, name: "Hall"}` at version 4, and not in the cache. A listener is added, and
/// `n` is merged as 2. The acknowledgement at version 5 arrives: the cache has `{n: 2}` at version 5. Then the results
/// of version 4 arrive: the first snapshot shows `{n: 2, name: "Hall"}`. Without the note it would lack the name.
struct UnfoundedDocuments: Sendable {
  /// The answers to the writes of each document, in their order.
  private var answers: [DocumentKey: [BatchAcknowledgement]] = [:]

  var isEmpty: Bool { answers.isEmpty }

  /// Notes an acknowledged write.
  ///
  /// - Parameters:
  ///   - wasKnown: Whether the cache had the document before it.
  ///   - limit: The number of documents that are noted at most.
  mutating func note(_ answer: BatchAcknowledgement, of key: DocumentKey, wasKnown: Bool, limit: Int) {
    guard answer.batch.firstMutation(of: key)?.dependsOnDocument == true else { return remove(key) }
    if answers[key] != nil {
      answers[key]?.append(answer)
    } else if !wasKnown, answers.count < limit {
      answers[key] = [answer]
    }
  }

  /// Forgets a document: all of it is known, or nothing.
  mutating func remove(_ key: DocumentKey) { if !answers.isEmpty { answers[key] = nil } }

  /// A document with all its parts, made of the backend's document of an earlier version.
  ///
  /// - Returns: `nil` where that does not help.
  mutating func complete(_ known: CachedDocument, with earlier: CachedDocument) -> CachedDocument? {
    // Of an update nothing is shown until the backend sends its document, as in the SDK.
    if answers.isEmpty || !known.isFound { return nil }
    guard let list = answers.removeValue(forKey: known.path), earlier.isFound else { return nil }
    var result = earlier
    for answer in list where (answer.version(of: known.path) ?? .zero) > earlier.version {
      answer.batch.applyAcknowledged(to: &result, answer)
    }
    result.complete()
    result.readTime = known.readTime
    return result
  }
}

package import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreModel

/// The pending writes of all users of a client, of which one is the current user.
///
/// A batch is *pending* from the call of the application to the answer of the backend. The writes of other users wait
/// until their user is the current one again; only the current user's are shown and sent.
///
/// Worked example: alice writes `rooms/a` offline: her queue has batch 1, and `rooms/a` an overlay. Bob signs in
/// (`change`): nothing is overlaid, and the document stays in the cache, because `contains` looks at all queues. Alice
/// signs in again: her batch is overlaid and sent.
package struct PendingWrites {
  /// The current user; empty for none.
  package private(set) var user: UTF8String
  private var queues: [UTF8String: MutationQueue] = [:]

  /// No pending writes.
  init(user: UTF8String) {
    self.user = user
    queues[user] = MutationQueue()
  }

  /// The pending writes of the current user.
  package var queue: MutationQueue { queues[user] ?? MutationQueue() }

  /// Whether nothing is pending, of any user.
  var isEmpty: Bool { queues.values.allSatisfy(\.isEmpty) }

  /// Whether writes of a document are pending, of any user.
  func contains(_ key: DocumentKey) -> Bool { queues.values.contains { $0.contains(key) } }

  /// The batches of all users.
  var all: [CacheChanges.UserBatch] {
    queues.flatMap { user, queue in queue.batches.map { .init(user: user, id: $0.id) } }
  }

  /// The rows of batches; of one that is no longer pending, its deletion.
  func rows(of batches: some Sequence<CacheChanges.UserBatch>) -> [CacheRow] {
    batches.map { batch in
      CacheRow(key: batch.key.bytes, value: queues[batch.user]?.batch(batch.id)?.bytes)
    }
  }

  // MARK: Users

  /// Makes another user the current one.
  mutating func change(to user: UTF8String) {
    self.user = user
    if queues[user] == nil { queues[user] = MutationQueue() }
  }

  /// Takes the batches of a user that an earlier client left; overlays are computed by the caller.
  mutating func restore(_ batches: [MutationBatch], of user: UTF8String) {
    queues[user] = MutationQueue(batches: batches)
  }

  // MARK: Batches

  /// Queues writes as one batch.
  ///
  /// - Parameter base: The values on which the writes are based.
  mutating func add(_ mutations: [Mutation], base: [Mutation], at time: Timestamp) -> MutationBatch {
    queues[user, default: MutationQueue()].add(mutations, base: base, at: time)
  }

  /// Removes a batch and the overlays that end with it; `nil` when it is not pending.
  mutating func remove(_ id: Int) -> MutationBatch? { queues[user]?.remove(id) }

  /// Notes the token of the last response of the write stream.
  package mutating func keepStreamToken(_ token: [UInt8]) { queues[user]?.streamToken = token }

  // MARK: Overlays

  /// Whether any document has pending writes.
  package var hasOverlays: Bool { queues[user]?.overlays.isEmpty == false }

  /// A document with its overlay, and the fields that the overlay changes.
  func overlaid(_ document: CachedDocument) -> (document: CachedDocument, mutated: MutatedFields) {
    guard hasOverlays, let overlay = queues[user]?.overlays[document.path] else { return (document, .none) }
    var result = document
    let mutated = overlay.mutation.applyLocally(to: &result, mutated: .none, at: .zero)
    return (result, mutated)
  }

  /// The documents with pending writes that a query looks at.
  func overlayKeys(of query: LocalQuery) -> [DocumentKey] {
    if !hasOverlays { return [] }
    let queue = queue
    if query.collectionGroup == nil { return queue.overlayKeys(in: query.path).sorted() }
    return queue.overlays.keys.filter { query.selects($0) }
  }

  /// Whether the overlay of a document is to be computed anew after the removal of a batch of it.
  mutating func needsReplay(_ key: DocumentKey, exactly limit: Int) -> Bool {
    queues[user]?.needsReplay(key, exactly: limit) != false
  }

  /// Puts an overlay in place of the one of its document; `nil` for none.
  mutating func save(_ overlay: Overlay?, of key: DocumentKey) {
    if let overlay {
      queues[user]?.save(overlay)
    } else if queues[user]?.overlays[key] != nil {
      queues[user]?.removeOverlay(of: key)
    }
  }
}

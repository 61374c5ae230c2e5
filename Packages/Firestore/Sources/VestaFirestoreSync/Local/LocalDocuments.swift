import VestaBytes
import VestaFirestoreBackend
package import VestaFirestoreModel

/// Documents as the application sees them: the backend's, with the pending writes of the current user on top.
///
/// The two sides are kept apart. A pending write changes an overlay, which is computed once, from the backend's
/// document and the batches; reading a document takes both and never replays batches.
///
/// Worked example: the backend's `rooms/a` is `{n: 1}`, and `n: 2` is pending. `remote` has 1, the overlay sets 2, and
/// `document` shows 2, with a pending write. A query for `n == 2` finds it by its overlay, and one for `n == 1` does
/// not, although the index of the backend's documents has it.
package struct LocalDocuments {
  /// The documents of the backend.
  package var remote: RemoteDocuments
  /// The pending writes.
  package internal(set) var writes: PendingWrites

  /// A document with the pending writes on top.
  package func document(_ key: DocumentKey) -> CachedDocument { writes.overlaid(remote[key]).document }

  /// Documents with the pending writes on top.
  package func documents(_ keys: some Sequence<DocumentKey>) -> [DocumentKey: CachedDocument] {
    var result: [DocumentKey: CachedDocument] = [:]
    result.reserveCapacity(keys.underestimatedCount)
    for key in keys { result[key] = document(key) }
    return result
  }

  // MARK: Overlays

  /// Computes overlays again by applying the pending batches, oldest first.
  mutating func recalculateOverlays(of keys: some Sequence<DocumentKey>) {
    for key in keys {
      var document = remote[key]
      var mutated = MutatedFields.none
      var last = 0
      for batch in writes.queue.batches(of: key) {
        mutated = batch.applyLocally(to: &document, mutated: mutated)
        last = batch.id
      }
      if !remote[key].isValid, document.hasLocalMutations { mutated = .all }
      let mutation = Overlay.mutation(of: document, mutated: mutated)
      writes.save(mutation.map { Overlay(largestBatchID: last, $0) }, of: key)
    }
  }

  /// Computes overlays again where documents have begun or ceased to exist.
  ///
  /// Patches depend on the document beneath them; sets and deletes do not, unless they stand for patches of a document
  /// that was not known.
  mutating func recalculateOverlays(ofSwitched keys: [DocumentKey]) {
    let queue = writes.queue
    if queue.isEmpty { return }
    recalculateOverlays(
      of: keys.filter { key in
        guard queue.contains(key) else { return false }
        guard let overlay = queue.overlays[key] else { return true }
        if case .patch = overlay.mutation.change { return true }
        return queue.batches(of: key).first?.firstMutation(of: key)?.dependsOnDocument ?? false
      })
  }

  // MARK: Users

  /// Makes another user's writes the pending ones.
  ///
  /// - Returns: The documents that either user has written, as they are now.
  mutating func changeUser(_ user: UTF8String) -> [DocumentKey: CachedDocument] {
    let old = writes.queue
    writes.change(to: user)
    let new = writes.queue
    // Documents may have changed while another user was signed in.
    recalculateOverlays(of: new.batches.reduce(into: Set<DocumentKey>()) { $0.formUnion($1.paths) })
    return documents((old.batches + new.batches).reduce(into: Set<DocumentKey>()) { $0.formUnion($1.paths) })
  }

  /// Takes the pending writes of a user out of a durable cache.
  mutating func restore(_ batches: [MutationBatch], of user: UTF8String) {
    let current = writes.user
    writes.restore(batches, of: user)
    writes.change(to: user)
    recalculateOverlays(of: batches.reduce(into: Set<DocumentKey>()) { $0.formUnion($1.paths) })
    writes.change(to: current)
  }
}

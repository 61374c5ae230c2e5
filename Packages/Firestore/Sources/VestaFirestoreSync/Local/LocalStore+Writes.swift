package import VestaFirestoreBackend
package import VestaFirestoreModel

/// Pending writes: from the call of the application to the answer of the backend.
extension LocalStore {
  /// Queues writes as one batch.
  ///
  /// - Returns: The batch, and the written documents as they are now.
  package mutating func write(
    _ mutations: [Mutation], at time: Timestamp
  ) -> (batch: MutationBatch, documents: [DocumentKey: CachedDocument]) {
    beginTransaction()
    contents += 1
    let keys = Set(mutations.map(\.path))
    var local: [DocumentKey: (document: CachedDocument, mutated: MutatedFields)] = [:]
    for key in keys { local[key] = shown.writes.overlaid(shown.remote[key]) }
    let base = mutations.compactMap { mutation in local[mutation.path].flatMap { mutation.base(on: $0.document) } }
    let batch = shown.writes.add(mutations, base: base, at: time)
    changes.batches.insert(.init(user: shown.writes.user, id: batch.id))
    var result: [DocumentKey: CachedDocument] = [:]
    for (key, entry) in local {
      var document = entry.document
      var mutated = batch.applyLocally(to: &document, mutated: entry.mutated)
      // Nothing is known of the backend's document, so the overlay must have all of it.
      if !shown.remote[key].isValid { mutated = .all }
      if let overlay = Overlay.mutation(of: document, mutated: mutated) {
        shown.writes.save(Overlay(largestBatchID: batch.id, overlay), of: key)
      }
      if !document.isValid { document.become(.missing, at: .zero) }
      result[key] = document
    }
    return (batch, result)
  }

  /// Takes the backend's answer to a batch into the cache.
  ///
  /// - Returns: The written documents as they are now.
  package mutating func acknowledge(_ answer: BatchAcknowledgement) -> [DocumentKey: CachedDocument] {
    beginTransaction()
    for (key, version) in answer.versions {
      var document = shown.remote[key]
      guard document.version < version else { continue }
      let wasKnown = document.isValid
      answer.batch.applyAcknowledged(to: &document, answer)
      guard document.isValid else { continue }
      unfounded.note(answer, of: key, wasKnown: wasKnown, limit: tuning.acknowledgedDocuments)
      document.readTime = answer.commitTime
      insert(document)
    }
    let result = remove(answer.batch, isExact: false)
    endTransaction()
    return result
  }

  /// Drops a batch that the backend refused.
  ///
  /// - Returns: The documents as they are without it.
  package mutating func reject(_ batch: MutationBatch) -> [DocumentKey: CachedDocument] {
    beginTransaction()
    let result = remove(batch, isExact: true)
    endTransaction()
    return result
  }

  /// Removes a batch from the queue.
  ///
  /// - Parameter isExact: Whether the effect of the batch must be removed from every overlay. After an acknowledgement
  ///   the document beneath has it, too, so that an overlay of many batches may keep it for a while.
  private mutating func remove(_ batch: MutationBatch, isExact: Bool) -> [DocumentKey: CachedDocument] {
    guard let batch = shown.writes.remove(batch.id) else { return [:] }
    contents += 1
    changes.batches.insert(.init(user: shown.writes.user, id: batch.id))
    let paths = batch.paths
    for key in paths { uses.dereference(key) }
    let outdated = paths.filter {
      isExact || shown.writes.needsReplay($0, exactly: tuning.exactReplays)
    }
    shown.recalculateOverlays(of: outdated)
    return shown.documents(paths)
  }

  /// Makes rows of all pending writes.
  mutating func noteAllBatches() { changes.batches.formUnion(shown.writes.all) }
}

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
    for key in keys { local[key] = overlaid(documents[key]) }
    let base = mutations.compactMap { mutation in local[mutation.path].flatMap { mutation.base(on: $0.document) } }
    let batch = queues[user, default: MutationQueue()].add(mutations, base: base, at: time)
    changes.batches.insert(.init(user: user, id: batch.id))
    var result: [DocumentKey: CachedDocument] = [:]
    for (key, entry) in local {
      var document = entry.document
      var mutated = batch.applyLocally(to: &document, mutated: entry.mutated)
      // Nothing is known of the backend's document, so the overlay must have all of it.
      if !documents[key].isValid { mutated = .all }
      if let overlay = Overlay.mutation(of: document, mutated: mutated) {
        save(Overlay(largestBatchID: batch.id, overlay))
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
      var document = documents[key]
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
    guard let batch = queues[user]?.remove(batch.id) else { return [:] }
    contents += 1
    changes.batches.insert(.init(user: user, id: batch.id))
    for key in batch.paths { dereference(key) }
    let outdated = batch.paths.filter {
      isExact || queues[user]?.needsReplay($0, exactly: tuning.exactReplays) != false
    }
    recalculateOverlays(of: outdated)
    return localDocuments(batch.paths)
  }

  /// The keys of the rows of all pending writes.
  var batchKeys: Set<[UInt8]> {
    Set(queues.flatMap { user, queue in queue.batches.map { CacheKey.batch(user: user, $0.id).bytes } })
  }

  /// Makes rows of all pending writes.
  mutating func noteAllBatches() {
    for (user, queue) in queues {
      for batch in queue.batches { changes.batches.insert(.init(user: user, id: batch.id)) }
    }
  }

  /// Notes the token of the last response of the write stream.
  package mutating func keepStreamToken(_ token: [UInt8]) { queues[user]?.streamToken = token }

  // MARK: Overlays

  mutating func save(_ overlay: Overlay) { queues[user]?.save(overlay) }

  /// Computes overlays again by applying the pending batches, oldest first.
  mutating func recalculateOverlays(of keys: some Sequence<DocumentKey>) {
    for key in keys {
      var document = documents[key]
      var mutated = MutatedFields.none
      var last = 0
      for batch in queue.batches(of: key) {
        mutated = batch.applyLocally(to: &document, mutated: mutated)
        last = batch.id
      }
      if !documents[key].isValid, document.hasLocalMutations { mutated = .all }
      if let mutation = Overlay.mutation(of: document, mutated: mutated) {
        save(Overlay(largestBatchID: last, mutation))
      } else if queue.overlays[key] != nil {
        queues[user]?.removeOverlay(of: key)
      }
    }
  }

  // MARK: Local documents

  /// Whether any document has pending writes.
  var hasOverlays: Bool { queues[user]?.overlays.isEmpty == false }

  /// A document with the pending writes on top.
  package func localDocument(_ key: DocumentKey) -> CachedDocument { overlaid(documents[key]).document }

  /// Documents with the pending writes on top.
  package func localDocuments(_ keys: some Sequence<DocumentKey>) -> [DocumentKey: CachedDocument] {
    var result: [DocumentKey: CachedDocument] = [:]
    result.reserveCapacity(keys.underestimatedCount)
    for key in keys { result[key] = localDocument(key) }
    return result
  }

  /// A document with its overlay, and the fields that the overlay changes.
  func overlaid(_ document: CachedDocument) -> (document: CachedDocument, mutated: MutatedFields) {
    guard hasOverlays, let overlay = queue.overlays[document.path] else { return (document, .none) }
    var result = document
    let mutated = overlay.mutation.applyLocally(to: &result, mutated: .none, at: .zero)
    return (result, mutated)
  }
}

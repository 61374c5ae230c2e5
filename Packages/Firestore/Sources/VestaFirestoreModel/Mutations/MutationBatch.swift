package import VestaFirestoreBackend

/// The writes of one call, which the service commits together.
package struct MutationBatch: Sendable, Hashable {
  /// The identifier; later batches of a user have larger ones.
  package let id: Int
  /// The local time of the write, the estimate of pending server timestamps.
  package let localWriteTime: Timestamp
  private let base: PlacedMutations
  private let writes: PlacedMutations
  /// The identifier of the batch at the service, kept over restarts; `nil` for a batch of an older client.
  package let requestID: WriteRequestID?

  /// A batch of writes.
  package init(
    id: Int, localWriteTime: Timestamp, baseMutations: [Mutation] = [], mutations: [Mutation],
    requestID: WriteRequestID? = nil
  ) {
    self.id = id
    self.localWriteTime = localWriteTime
    base = PlacedMutations(baseMutations)
    writes = PlacedMutations(mutations)
    self.requestID = requestID
  }

  /// The values of incremented numbers at the time of the write, see `Mutation.base(on:)`.
  package var baseMutations: [Mutation] { base.all }

  /// The writes in their order.
  package var mutations: [Mutation] { writes.all }

  /// The documents that are written, each once.
  package var paths: Set<ResourcePath> { Set(mutations.map(\.path)) }

  /// Applies the batch to a document before the service has answered.
  ///
  /// - Returns: The fields that have been changed by now.
  package func applyLocally(to document: inout CachedDocument, mutated: MutatedFields = .none) -> MutatedFields {
    var mutated = mutated
    for part in [base, writes] {
      for index in part.positions(of: document.path) {
        mutated = part.all[index].applyLocally(to: &document, mutated: mutated, at: localWriteTime)
      }
    }
    return mutated
  }

  /// Applies the batch to a document with the service's answer.
  package func applyAcknowledged(to document: inout CachedDocument, _ acknowledgement: BatchAcknowledgement) {
    for index in writes.positions(of: document.path) {
      let result = acknowledgement.results[index]
      mutations[index].applyAcknowledged(
        to: &document, version: result.updateTime ?? acknowledgement.commitTime, results: result.transformResults)
    }
  }

  /// The first write of a document.
  package func firstMutation(of path: ResourcePath) -> Mutation? {
    writes.positions(of: path).first.map { mutations[$0] }
  }

  /// The position of the last write of a document.
  fileprivate func lastPosition(of path: ResourcePath) -> Int? { writes.positions(of: path).last }
}

/// The answer of the service to a batch.
package struct BatchAcknowledgement: Sendable, Hashable {
  /// The batch.
  package let batch: MutationBatch
  /// The time of the commit.
  package let commitTime: Timestamp
  /// One result for each mutation.
  package let results: [WriteResult]

  /// An answer.
  ///
  /// - Returns: `nil` when the results are not one for each mutation.
  package init?(_ batch: MutationBatch, commitTime: Timestamp, results: [WriteResult]) {
    guard results.count == batch.mutations.count else { return nil }
    self.batch = batch
    self.commitTime = commitTime
    self.results = results
  }

  /// The version of a document: that of its last write; `nil` for a document that the batch does not write.
  package func version(of path: ResourcePath) -> Timestamp? {
    batch.lastPosition(of: path).map { results[$0].updateTime ?? commitTime }
  }

  /// The version of each document: that of its last write.
  package var versions: [ResourcePath: Timestamp] {
    var versions: [ResourcePath: Timestamp] = [:]
    for (mutation, result) in zip(batch.mutations, results) {
      versions[mutation.path] = result.updateTime ?? commitTime
    }
    return versions
  }
}

package import VestaFirestoreBackend
package import VestaFirestoreModel

/// Batches of writes, from the call of the application to the answer of the backend.
extension ClientMachine {
  /// Writes a batch.
  ///
  /// - Parameter callback: Told when the backend has answered; `nil` for nobody.
  package func write(_ mutations: [Mutation], at time: Timestamp, callback: CallbackID?) {
    takeBases(of: mutations)
    let (batch, changed) = local.write(mutations, at: time)
    if let callback { writeCallbacks[local.user, default: [:]][batch.id] = callback }
    raise(changed, event: nil)
    fillPipeline()
  }

  /// Tells a caller when everything that is pending now has been answered.
  package func waitForPendingWrites(_ callback: CallbackID) {
    guard let last = local.queue.batches.last else { return emit(.finish(callback, nil)) }
    pendingWritesCallbacks[last.id, default: []].append(callback)
  }

  func acknowledge(_ answer: BatchAcknowledgement) {
    finish(answer.batch.id, error: nil)
    raise(local.acknowledge(answer), event: nil)
  }

  func reject(_ batch: MutationBatch, _ error: FirestoreServiceError) {
    let changed = local.reject(batch)
    finish(batch.id, error: error)
    raise(changed, event: nil)
  }

  private func finish(_ batch: Int, error: FirestoreServiceError?) {
    if let callback = writeCallbacks[local.user]?.removeValue(forKey: batch) { emit(.finish(callback, error)) }
    for callback in pendingWritesCallbacks.removeValue(forKey: batch) ?? [] { emit(.finish(callback, nil)) }
  }
}

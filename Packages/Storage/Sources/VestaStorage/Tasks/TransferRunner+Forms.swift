import Foundation

extension TransferRunner {
  /// Starts the transfer, unless the app has been deleted.
  func begin(_ task: StorageTask) {
    guard reference.storage.transfers.add(self) else {
      return refuse(TransferTable.closed)
    }
    perform { $0.enqueue() }
  }

  /// Waits for the end; cancelling the calling task cancels the transfer.
  func finish(
    _ onProgress: (@Sendable (Progress?) -> Void)?, of task: StorageTask
  ) async throws -> (metadata: StorageMetadata?, task: StorageTask) {
    if let onProgress { _ = observe(.progress, task) { onProgress($0.progress) } }
    let end = await withTaskCancellationHandler {
      await self.end()
    } onCancel: {
      cancel()
    }
    // The last calls of the observer precede the caller's continuation.
    if onProgress != nil { await observersWereCalled() }
    if let error = end.error { throw error }
    return (end.metadata, task)
  }

  /// Calls a handler once, when the transfer has succeeded or failed.
  func whenOver(_ task: StorageTask, _ handler: (@Sendable (StorageTaskSnapshot) -> Void)?) {
    guard let handler else { return }
    _ = observe(.success, task, handler)
    _ = observe(.failure, task, handler)
  }
}

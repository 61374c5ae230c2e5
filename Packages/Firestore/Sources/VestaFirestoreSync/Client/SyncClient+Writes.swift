import VestaConcurrency
import VestaFirestoreBackend
package import VestaFirestoreModel

/// The writes of the application.
extension SyncClient {
  /// Writes a batch: into the cache, so that listeners see it at once, and then to the backend.
  package func write(_ mutations: [Mutation]) -> PendingWrite {
    let write = PendingWrite()
    guard !mutations.isEmpty else {
      write.local.finish(nil)
      write.remote.finish(nil)
      return write
    }
    let id = register(write.remote)
    let time = options.clock.now
    run(.bases(of: mutations)) { [weak self] in
      self?.fail(write, id)
    } _: { [weak self] machine in
      machine.core.write(mutations, at: time, callback: id)
      self?.commitLocally(machine, write, id)
    }
    return write
  }

  /// Makes the rows of a write, and finishes its first stage when they are durable.
  ///
  /// Without separate rows, because the engine in the process is about to commit it, the write survives the process
  /// from the engine's answer on, or from the rows that are made when the network is disabled or the client ends.
  private func commitLocally(_ machine: ClientMachine, _ write: PendingWrite, _ id: CallbackID) {
    guard let writer else { return write.local.finish(nil) }
    if machine.makesRowsOfWrites { return writer.write(machine.takeRows(), completions: [write.local]) }
    withoutRows.withLock { $0[id] = write.local }
    write.remote.whenDone { [withoutRows] _ in
      // Where the engine does not take the write, it has got rows before its caller is told.
      withoutRows.withLock { $0.removeValue(forKey: id) }?.finish(nil)
    }
  }

  /// Makes rows of the pending writes that have none.
  func keepAll(_ machine: ClientMachine) {
    let waiting = withoutRows.withLock { writes in
      defer { writes = [:] }
      return writes.sorted { $0.key < $1.key }.map(\.value)
    }
    if !waiting.isEmpty { writer?.write(machine.takeRows(), completions: waiting) }
  }

  /// Fails a write that the client has ended before.
  private func fail(_ write: PendingWrite, _ id: CallbackID) {
    _ = state.withLock { $0.callbacks.removeValue(forKey: id) }
    write.local.finish(SyncClient.terminated)
    write.remote.finish(SyncClient.terminated)
  }

  private func register(_ completion: Completion) -> CallbackID {
    state.withLock { state in
      defer { state.nextID += 1 }
      state.callbacks[state.nextID] = completion
      return state.nextID
    }
  }

  /// Waits until every write that is pending now has been answered.
  package func waitForPendingWrites() async throws {
    let completion = Completion()
    let id = register(completion)
    run {
      completion.finish(SyncClient.terminated)
    } _: {
      $0.core.waitForPendingWrites(id)
    }
    try await completion.wait()
  }
}

import VestaConcurrency
import VestaFirestoreBackend
package import VestaFirestoreModel

/// The writes of the application.
extension SyncClient {
  /// Writes a batch: into the cache, so that listeners see it at once, and then to the backend.
  package func write(_ mutations: [Mutation]) -> SyncWrite {
    let write = SyncWrite()
    guard !mutations.isEmpty else {
      write.local.finish(nil)
      write.remote.finish(nil)
      return write
    }
    companions.takeUser(self)
    let id = register(write.remote)
    let time = Timestamp(microseconds: options.clock.now())
    takeEvent(.bases(of: mutations)) { [weak self] in
      self?.fail(write, id)
    } _: { [weak self] machine in
      machine.core.write(mutations, at: time, callback: id)
      self?.commits.commit(machine, write, id)
    }
    return write
  }

  /// Fails a write that the client has ended before.
  private func fail(_ write: SyncWrite, _ id: CallbackID) {
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
  package func waitForPendingWrites() async throws { try await startWaitingForPendingWrites().wait() }

  /// Begins to wait for every write that is pending now: not for later ones, and not for another user's.
  package func startWaitingForPendingWrites() -> Completion {
    companions.takeUser(self)
    let completion = Completion()
    let id = register(completion)
    takeEvent {
      completion.finish(SyncClient.terminated)
    } _: {
      $0.core.waitForPendingWrites(id)
    }
    return completion
  }
}

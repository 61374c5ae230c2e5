import VestaBytes
import VestaConcurrency
import VestaFirestoreBackend
package import VestaFirestoreModel

/// Reads of a backend over a network that need no listener.
extension SyncClient {
  /// A document as the backend has it now, read by one call.
  ///
  /// A call that is not answered soon is given up: the listener finds out whether the client is offline. That is the
  /// time of the call alone; its tokens may take longer.
  ///
  /// - Returns: `nil` where a listener must be used, see `ClientMachine.beginFetch(_:of:)`; also after a failure, which
  ///   the listener meets as well or knows how to wait out.
  package func fetchedDocument(_ path: ResourcePath) async throws -> CachedDocument? {
    guard options.link == .remote, state.withLock({ $0.isNetworkEnabled && !$0.isShutDown }) else { return nil }
    companions.takeUser(self)
    // Chosen here, so that a task that is cancelled while the beginning waits can end it all the same.
    let id = state.withLock { state in
      defer { state.nextID += 1 }
      return state.nextID
    }
    let document: CachedDocument
    do {
      guard try await read(.documents([path]), { $0.beginFetch(id, of: path) }) else { return nil }
      document = try await calls.document(at: path) {
        $0.limited(to: .seconds(options.tuning.fetchSeconds), by: options.clock)
      }
    } catch {
      takeEvent { $0.dropFetch(id) }
      try Task.checkCancellation()
      return nil
    }
    // A backend that answers for another document, or for none, has not answered.
    guard document.path == path, document.isFound || document.version > .zero else {
      takeEvent { $0.dropFetch(id) }
      return nil
    }
    companions.takeUser(self)
    let isShown = try await change(.documents([path])) { $0.takeFetched(document, of: id) }
    return isShown ? document : nil
  }

  /// Notes what a transaction has seen: calls that began before it may be answered from before that.
  func noteTransaction(of paths: [ResourcePath]) {
    // Without a machine there is no such call.
    if options.link == .remote { state.withLock { $0.machine?.noteTransaction(of: paths) } }
  }
}

import VestaBytes
import VestaConcurrency
import VestaFirestoreBackend
package import VestaFirestoreModel

/// Reads of a backend over a network that need no listener.
extension SyncClient {
  /// A document as the backend has it now, read by one call.
  ///
  /// A call that is not answered soon is given up: the listener finds out whether the client is offline.
  ///
  /// - Returns: `nil` where a listener must be used, see `ClientMachine.beginFetch(of:)`; also after a failure, which
  ///   the listener meets as well or knows how to wait out.
  package func fetchedDocument(_ path: ResourcePath) async throws -> CachedDocument? {
    guard options.link == .remote, state.withLock({ $0.isNetworkEnabled && !$0.isShutDown }) else { return nil }
    companions.takeUser(self)
    guard let id = try await read(.documents([path]), { $0.beginFetch(of: path) }) else { return nil }
    let document: CachedDocument
    do {
      document = try await calls.document(at: path) {
        $0.limited(to: .seconds(options.tuning.fetchSeconds), by: options.clock)
      }
    } catch {
      takeEvent { $0.dropFetch(id) }
      try Task.checkCancellation()
      return nil
    }
    companions.takeUser(self)
    let isShown = try await change(.documents([path])) { $0.takeFetched(document, of: id) }
    return isShown ? document : nil
  }
}

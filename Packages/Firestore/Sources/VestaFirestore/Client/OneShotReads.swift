internal import VestaConcurrency
internal import VestaFirestoreBackend
internal import VestaFirestoreModel
internal import VestaFirestoreSync

/// Reads that are a listener for one event.
extension SyncClient {
  /// A document, from the backend where it can be reached.
  ///
  /// - Throws: `unavailable` when the source cannot answer.
  func document(_ query: LocalQuery, source: FirestoreSource) async throws -> ViewSnapshot {
    let snapshot = try await firstEvent(query)
    let exists = snapshot.documents[query.path] != nil
    if !exists, snapshot.isFromCache {
      throw FirestoreErrorCode(.unavailable, "Failed to get document because the client is offline.")
    }
    if exists, snapshot.isFromCache, source == .server {
      throw FirestoreErrorCode(.unavailable, OfflineText.document)
    }
    return snapshot
  }

  /// The results of a query, from the backend where it can be reached.
  ///
  /// - Throws: `unavailable` when the results must be read from the backend and it cannot be reached.
  func results(_ query: LocalQuery, source: FirestoreSource) async throws -> ViewSnapshot {
    if let fresh = try await freshResults(query) { return fresh }
    let snapshot = try await firstEvent(query)
    if snapshot.isFromCache, source == .server { throw FirestoreErrorCode(.unavailable, OfflineText.documents) }
    return snapshot
  }

  /// The first event of a listener, which is removed then.
  ///
  /// A cancelled task stops waiting at once.
  private func firstEvent(_ query: LocalQuery) async throws -> ViewSnapshot {
    let registration = Locked<VestaConcurrency.ListenerRegistration?>(nil)
    defer { registration.withLock { $0.take() }?.remove() }
    return try await Turn<ViewSnapshot>().wait { turn in
      let options = ListenOptions(includesMetadata: true, waitsForSync: true)
      let ended = Firestore.terminatedError
      let added = listen(query, options: options, onEnd: { turn.begin()?.resume(throwing: ended) }) { result in
        turn.begin()?.resume(with: result.mapError { FirestoreErrorCode($0) as any Error })
      }
      registration.withLock { $0 = added }
    }
  }
}

private enum OfflineText {
  static let document =
    "Failed to get document from server. (However, this document does exist in the local cache. Run again without "
    + "setting source to FirestoreSourceServer to retrieve the cached document.)"
  static let documents =
    "Failed to get documents from server. (However, these documents may exist in the local cache. Run again without "
    + "setting source to FirestoreSourceServer to retrieve the cached documents.)"
}

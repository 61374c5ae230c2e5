internal import VestaFirestoreModel
internal import VestaFirestoreSync

extension DocumentReference {
  /// Reads the document, from the backend if it can be reached, else from the cache.
  ///
  /// - Throws: ``FirestoreErrorCode``: `unavailable` if neither has it, or the backend's refusal.
  public func getDocument() async throws -> DocumentSnapshot { try await getDocument(source: .default) }

  /// Reads the document.
  ///
  /// - Parameter source: Where it is taken from.
  /// - Throws: ``FirestoreErrorCode``: `unavailable` if the source cannot answer, or the backend's refusal.
  public func getDocument(source: FirestoreSource) async throws -> DocumentSnapshot {
    do {
      let client = try firestore.client()
      if source == .cache { return try await cachedDocument(client) }
      if let fresh = try await client.freshDocument(resourcePath) { return snapshot(of: fresh, isFromCache: false) }
      if let fetched = try await client.fetchedDocument(resourcePath) {
        return snapshot(of: fetched, isFromCache: false)
      }
      return snapshot(of: try await client.document(query.local(), source: source))
    } catch {
      throw FirestoreErrorCode.publicError(error)
    }
  }

  /// Reads the document and decodes it.
  ///
  /// - Throws: `DecodingError`, else as ``getDocument(source:)``.
  public func getDocument<T: Decodable>(
    as type: T.Type, with serverTimestampBehavior: ServerTimestampBehavior = .none,
    decoder: Firestore.Decoder = .init(), source: FirestoreSource = .default
  ) async throws -> T {
    try await getDocument(source: source).data(as: type, with: serverTimestampBehavior, decoder: decoder)
  }

  private func cachedDocument(_ client: SyncClient) async throws -> DocumentSnapshot {
    let document = try await client.cachedDocument(resourcePath)
    guard document.isFound || document.isMissing else {
      throw FirestoreErrorCode(
        .unavailable,
        "Failed to get document from cache. (However, this document may exist on the server. Run again without setting "
          + "source to FirestoreSourceCache to attempt to retrieve the document from the server.)")
    }
    return snapshot(of: document, isFromCache: true)
  }

  private func snapshot(of document: CachedDocument, isFromCache: Bool) -> DocumentSnapshot {
    DocumentSnapshot(
      reference: self, document: document.isFound ? document : nil,
      metadata: SnapshotMetadata(
        hasPendingWrites: document.isFound && document.hasLocalMutations, isFromCache: isFromCache))
  }

  /// This document in the snapshot of its query.
  func snapshot(of view: ViewSnapshot) -> DocumentSnapshot {
    let document = view.documents[resourcePath]
    let isPending = document != nil && view.mutatedKeys.contains(resourcePath)
    return DocumentSnapshot(
      reference: self, document: document,
      metadata: SnapshotMetadata(hasPendingWrites: isPending, isFromCache: view.isFromCache))
  }
}

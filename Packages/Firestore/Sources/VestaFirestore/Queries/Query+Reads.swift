internal import VestaFirestoreSync

extension Query {
  /// Reads the results, from the backend if it can be reached, else what the cache has of them.
  ///
  /// - Throws: ``FirestoreErrorCode``: `invalidArgument` for a query that was put together wrongly, or the backend's
  ///   refusal.
  public func getDocuments() async throws -> QuerySnapshot { try await getDocuments(source: .default) }

  /// Reads the results.
  ///
  /// - Parameter source: Where they are taken from.
  /// - Throws: ``FirestoreErrorCode``: `unavailable` if the source cannot answer, `invalidArgument` for a query that
  ///   was put together wrongly, or the backend's refusal.
  public func getDocuments(source: FirestoreSource) async throws -> QuerySnapshot {
    do {
      let local = try description.local()
      let client = try firestore.client()
      if source == .cache { return QuerySnapshot(query: self, view: try await client.cachedResults(local)) }
      return QuerySnapshot(query: self, view: try await client.results(local, source: source))
    } catch {
      throw FirestoreErrorCode.publicError(error)
    }
  }
}

extension Query {
  /// Calls a listener with the results now and after each change.
  ///
  /// - Parameter listener: Called on the queue of the settings with a snapshot, or once with an error: then it is not
  ///   called again.
  /// - Returns: The registration, which removes the listener.
  @preconcurrency
  @discardableResult
  public func addSnapshotListener(
    _ listener: @escaping @Sendable (QuerySnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    addSnapshotListener(options: SnapshotListenOptions(), listener: listener)
  }

  /// Calls a listener with the results now and after each change.
  ///
  /// - Parameters:
  ///   - includeMetadataChanges: Whether changes of metadata alone are events.
  ///   - listener: As in ``addSnapshotListener(_:)``.
  @preconcurrency
  @discardableResult
  public func addSnapshotListener(
    includeMetadataChanges: Bool, listener: @escaping @Sendable (QuerySnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    let options = SnapshotListenOptions().withIncludeMetadataChanges(includeMetadataChanges)
    return addSnapshotListener(options: options, listener: listener)
  }

  /// Calls a listener with the results now and after each change.
  ///
  /// - Parameters:
  ///   - options: The source, and whether changes of metadata alone are events.
  ///   - listener: As in ``addSnapshotListener(_:)``.
  @preconcurrency
  @discardableResult
  public func addSnapshotListener(
    options: SnapshotListenOptions, listener: @escaping @Sendable (QuerySnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    firestore.listen(description, options: options) { result in
      switch result {
      case .success(let view): listener(QuerySnapshot(query: self, view: view), nil)
      case .failure(let error): listener(nil, error)
      }
    }
  }

  /// The results now and after each change.
  ///
  /// The listener is added when the stream is made, and removed when the loop is left, its task cancelled, or the
  /// stream dropped. While the consumer lags, waiting snapshots become one, whose changes are relative to the last one
  /// it saw.
  public var snapshots: AsyncThrowingStream<QuerySnapshot, any Error> { snapshots(includeMetadataChanges: false) }

  /// The results now and after each change.
  ///
  /// - Parameter includeMetadataChanges: Whether changes of metadata alone are events.
  public func snapshots(includeMetadataChanges: Bool = false) -> AsyncThrowingStream<QuerySnapshot, any Error> {
    snapshots(options: SnapshotListenOptions().withIncludeMetadataChanges(includeMetadataChanges))
  }

  /// The results now and after each change, with options.
  public func snapshots(options: SnapshotListenOptions) -> AsyncThrowingStream<QuerySnapshot, any Error> {
    firestore.stream(description, options: options, tracksChanges: true) { view in
      QuerySnapshot(query: self, view: view)
    }
  }

  /// The results now and after each change, decoded.
  ///
  /// - Throws: In the loop, `DecodingError` for a document that does not fit; the stream ends then.
  public func snapshots<T: Decodable & Sendable>(
    as type: T.Type, options: SnapshotListenOptions = SnapshotListenOptions(),
    decoder: @escaping @Sendable () -> Firestore.Decoder = { Firestore.Decoder() }
  ) -> AsyncThrowingStream<[T], any Error> {
    firestore.stream(description, options: options, tracksChanges: false) { view in
      let decoder = decoder()
      return try QuerySnapshot(query: self, view: view).documents.map { try $0.data(as: type, decoder: decoder) }
    }
  }
}

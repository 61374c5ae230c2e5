internal import VestaConcurrency
internal import VestaFirestoreSync

extension DocumentReference {
  /// Calls a listener with the document now and after each change.
  ///
  /// - Parameter listener: Called on the queue of the settings with a snapshot, or once with an error: then it is not
  ///   called again.
  /// - Returns: The registration, which removes the listener.
  @preconcurrency
  @discardableResult
  public func addSnapshotListener(
    _ listener: @escaping @Sendable (DocumentSnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    addSnapshotListener(options: SnapshotListenOptions(), listener: listener)
  }

  /// Calls a listener with the document now and after each change.
  ///
  /// - Parameters:
  ///   - includeMetadataChanges: Whether changes of metadata alone are events.
  ///   - listener: As in ``addSnapshotListener(_:)``.
  @preconcurrency
  @discardableResult
  public func addSnapshotListener(
    includeMetadataChanges: Bool, listener: @escaping @Sendable (DocumentSnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    let options = SnapshotListenOptions().withIncludeMetadataChanges(includeMetadataChanges)
    return addSnapshotListener(options: options, listener: listener)
  }

  /// Calls a listener with the document now and after each change.
  ///
  /// - Parameters:
  ///   - options: The source, and whether changes of metadata alone are events.
  ///   - listener: As in ``addSnapshotListener(_:)``.
  @preconcurrency
  @discardableResult
  public func addSnapshotListener(
    options: SnapshotListenOptions, listener: @escaping @Sendable (DocumentSnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    firestore.listen(query, options: options) { result in
      switch result {
      case .success(let view): listener(self.snapshot(of: view), nil)
      case .failure(let error): listener(nil, error)
      }
    }
  }

  /// The document now and after each change.
  ///
  /// The listener is added when the stream is made, and removed when the loop is left, its task cancelled, or the
  /// stream dropped. While the consumer lags, waiting snapshots become one.
  public var snapshots: AsyncThrowingStream<DocumentSnapshot, any Error> { snapshots(includeMetadataChanges: false) }

  /// The document now and after each change.
  ///
  /// - Parameter includeMetadataChanges: Whether changes of metadata alone are events.
  public func snapshots(
    includeMetadataChanges: Bool = false
  ) -> AsyncThrowingStream<DocumentSnapshot, any Error> {
    snapshots(options: SnapshotListenOptions().withIncludeMetadataChanges(includeMetadataChanges))
  }

  /// The document now and after each change, with options.
  public func snapshots(options: SnapshotListenOptions) -> AsyncThrowingStream<DocumentSnapshot, any Error> {
    firestore.stream(query, options: options, tracksChanges: false, make: snapshot(of:))
  }

  /// The document now and after each change, decoded; `nil` while it does not exist.
  ///
  /// - Throws: In the loop, `DecodingError` for a document that does not fit; the stream ends then.
  public func snapshots<T: Decodable & Sendable>(
    as type: T.Type, options: SnapshotListenOptions = SnapshotListenOptions(),
    decoder: @escaping @Sendable () -> Firestore.Decoder = { Firestore.Decoder() }
  ) -> AsyncThrowingStream<T?, any Error> {
    firestore.stream(query, options: options, tracksChanges: false) { view in
      let snapshot = self.snapshot(of: view)
      return snapshot.exists ? try snapshot.data(as: type, decoder: decoder()) : nil
    }
  }
}

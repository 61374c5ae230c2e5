internal import VestaCore
internal import VestaFirestoreModel

// The forms with completion handlers. Each handler is called once on the queue of the settings. The data is read, and
// the write is in the queue, when the call returns.

extension DocumentReference {
  /// Completion form of ``setData(_:)-(_)``.
  @preconcurrency
  public func setData(_ documentData: [String: Any], completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    firestore.complete(completion) { try self.startSetData(documentData) }
  }

  /// Completion form of ``setData(_:merge:)``.
  @preconcurrency
  public func setData(
    _ documentData: [String: Any], merge: Bool, completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    firestore.complete(completion) { try self.startSetData(documentData, merge: merge) }
  }

  /// Completion form of ``setData(_:mergeFields:)``.
  @preconcurrency
  public func setData(
    _ documentData: [String: Any], mergeFields: [Any], completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    firestore.complete(completion) { try self.startSetData(documentData, mergeFields: mergeFields) }
  }

  /// Completion form of ``setData(encoding:merge:encoder:)``.
  ///
  /// - Throws: `EncodingError` before anything is written.
  @preconcurrency
  public func setData<T: Encodable>(
    from value: T, encoder: Firestore.Encoder = Firestore.Encoder(),
    completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) throws {
    let entries = try encoder.entries(of: value)
    firestore.complete(completion) { try self.startSet(entries) }
  }

  /// Completion form of ``setData(encoding:merge:encoder:)``.
  @preconcurrency
  public func setData<T: Encodable>(
    from value: T, merge: Bool, encoder: Firestore.Encoder = Firestore.Encoder(),
    completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) throws {
    let entries = try encoder.entries(of: value)
    firestore.complete(completion) { try self.startSet(entries, merge: merge) }
  }

  /// Completion form of ``setData(encoding:mergeFields:encoder:)``.
  @preconcurrency
  public func setData<T: Encodable>(
    from value: T, mergeFields: [Any], encoder: Firestore.Encoder = Firestore.Encoder(),
    completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) throws {
    let entries = try encoder.entries(of: value)
    firestore.complete(completion) { try self.startSet(entries, mergeFields: mergeFields) }
  }

  /// Completion form of ``updateData(_:)``.
  @preconcurrency
  public func updateData(_ fields: [AnyHashable: Any], completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    firestore.complete(completion) { try self.startUpdateData(fields) }
  }

  /// Completion form of ``delete()``.
  @preconcurrency
  public func delete(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    firestore.complete(completion) { try self.startDelete() }
  }

  /// Completion form of ``getDocument()``.
  @preconcurrency
  public func getDocument(completion: @escaping @Sendable (DocumentSnapshot?, (any Error)?) -> Void) {
    getDocument(source: .default, completion: completion)
  }

  /// Completion form of ``getDocument(source:)``.
  @preconcurrency
  public func getDocument(
    source: FirestoreSource, completion: @escaping @Sendable (DocumentSnapshot?, (any Error)?) -> Void
  ) {
    firestore.complete(isCached: source == .cache, completion) { try await self.getDocument(source: source) }
  }

  /// Completion form of ``getDocument(as:with:decoder:source:)``.
  @preconcurrency
  public func getDocument<T: Decodable & SendableMetatype>(
    as type: T.Type, with serverTimestampBehavior: ServerTimestampBehavior = .none,
    decoder: Firestore.Decoder = .init(), source: FirestoreSource = .default,
    completion: @escaping @Sendable (Result<T, any Error>) -> Void
  ) {
    // Sound: the closure has the decoder for itself, and is called once, on the callback queue.
    nonisolated(unsafe) let decode = { (snapshot: DocumentSnapshot) in
      try snapshot.data(as: type, with: serverTimestampBehavior, decoder: decoder)
    }
    getDocument(source: source) { snapshot, error in
      completion(
        Result {
          guard let snapshot else {
            throw error ?? FirestoreErrorCode(.internal, "There is neither document nor error.")
          }
          return try decode(snapshot)
        })
    }
  }
}

extension CollectionReference {
  /// Completion form of ``addDocument(data:)``: returns the reference at once.
  @preconcurrency
  @discardableResult
  public func addDocument(
    data: [String: Any], completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) -> DocumentReference {
    let reference = document()
    reference.setData(data, completion: completion)
    return reference
  }

  /// Completion form of ``addDocument(encoding:encoder:)``: returns the reference at once.
  ///
  /// - Throws: `EncodingError` before anything is written.
  @preconcurrency
  @discardableResult
  public func addDocument<T: Encodable>(
    from value: T, encoder: Firestore.Encoder = Firestore.Encoder(),
    completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) throws -> DocumentReference {
    let (reference, entries) = (document(), try encoder.entries(of: value))
    firestore.complete(completion) { try reference.startSet(entries) }
    return reference
  }
}

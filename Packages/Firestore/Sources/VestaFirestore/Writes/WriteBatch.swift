internal import VestaConcurrency
internal import VestaFirestoreModel
internal import VestaFirestoreSync

/// Several writes that happen together or not at all.
///
/// ```swift
/// let batch = db.batch()
/// batch.setData(["name": "Berlin"], forDocument: berlin)
/// batch.deleteDocument(paris)
/// try await batch.commit()
/// ```
///
/// A batch may be filled from any thread and is committed once. Data that Firestore does not store is an error of
/// `commit`; nothing is written then.
public final class WriteBatch: Sendable {
  private struct State {
    var mutations: [Mutation] = []
    var failure: (any Error)?
    var isCommitted = false
  }

  let firestore: Firestore
  private let state = Locked(State())

  init(firestore: Firestore) { self.firestore = firestore }

  /// Adds the writing of a document; all its fields are replaced.
  @discardableResult
  public func setData(_ data: [String: Any], forDocument document: DocumentReference) -> WriteBatch {
    setData(data, forDocument: document, merge: false)
  }

  /// Adds the writing of a document.
  ///
  /// - Parameters:
  ///   - data: The fields.
  ///   - document: The document.
  ///   - merge: Whether fields that are not in the data are kept.
  /// - Returns: The batch.
  @discardableResult
  public func setData(_ data: [String: Any], forDocument document: DocumentReference, merge: Bool) -> WriteBatch {
    setEntries(UserValue.entries(of: data), document, merge)
  }

  /// Adds the writing of the named fields of a document.
  ///
  /// - Parameters:
  ///   - data: The fields.
  ///   - document: The document.
  ///   - mergeFields: Strings with dots between names, or ``FieldPath``s; each must be in the data.
  /// - Returns: The batch.
  @discardableResult
  public func setData(
    _ data: [String: Any], forDocument document: DocumentReference, mergeFields: [Any]
  ) -> WriteBatch {
    setEntries(UserValue.entries(of: data), document, mergeFields)
  }

  /// Adds a change of fields of an existing document.
  @discardableResult
  public func updateData(_ fields: [AnyHashable: Any], forDocument document: DocumentReference) -> WriteBatch {
    add(document) { try .update(document, fields) }
  }

  /// Adds the deletion of a document.
  @discardableResult
  public func deleteDocument(_ document: DocumentReference) -> WriteBatch {
    add(document) { Mutation(document.resourcePath, .delete) }
  }

  /// Adds the writing of a document with the fields of a value.
  ///
  /// - Throws: `EncodingError`; nothing is added then.
  @discardableResult
  public func setData<T: Encodable>(
    from value: T, forDocument doc: DocumentReference, encoder: Firestore.Encoder = Firestore.Encoder()
  ) throws -> WriteBatch {
    setEntries(try encoder.entries(of: value), doc, false)
  }

  /// Adds the writing of a document with the fields of a value.
  ///
  /// - Throws: `EncodingError`; nothing is added then.
  @discardableResult
  public func setData<T: Encodable>(
    from value: T, forDocument doc: DocumentReference, merge: Bool, encoder: Firestore.Encoder = Firestore.Encoder()
  ) throws -> WriteBatch {
    setEntries(try encoder.entries(of: value), doc, merge)
  }

  /// Adds the writing of the named fields of a value.
  ///
  /// - Throws: `EncodingError`; nothing is added then.
  @discardableResult
  public func setData<T: Encodable>(
    from value: T, forDocument doc: DocumentReference, mergeFields: [Any],
    encoder: Firestore.Encoder = Firestore.Encoder()
  ) throws -> WriteBatch {
    setEntries(try encoder.entries(of: value), doc, mergeFields)
  }

  private func setEntries(_ entries: [UserEntry], _ document: DocumentReference, _ merge: Bool) -> WriteBatch {
    add(document) { try .set(document, entries, as: merge ? .merge : .set) }
  }

  private func setEntries(_ entries: [UserEntry], _ document: DocumentReference, _ mergeFields: [Any]) -> WriteBatch {
    add(document) { try .set(document, entries, as: .mergeFields(mergeFields.map(FieldPath.reading))) }
  }

  /// Writes everything in the batch; a second commit stops the program.
  ///
  /// The writes are visible to listeners when the call begins to wait; it returns when the backend has accepted them.
  ///
  /// - Throws: ``FirestoreErrorCode``: `invalidArgument` for data that Firestore does not store, or the backend's
  ///   refusal.
  public func commit() async throws { try await startCommit().acknowledgement() }

  /// Begins to write everything in the batch: `localCommit()` of the result returns also while there is no network.
  ///
  /// - Throws: ``FirestoreErrorCode/Code/invalidArgument`` for data that Firestore does not store.
  public func startCommit() throws -> PendingWrite {
    let (mutations, failure, wasCommitted) = state.withLock { state in
      defer { state.isCommitted = true }
      return (state.mutations, state.failure, state.isCommitted)
    }
    precondition(!wasCommitted, WriteBatch.usedUp)
    if let failure { throw failure }
    return PendingWrite(try firestore.client().write(mutations))
  }

  private func add(_ document: DocumentReference, _ make: () throws -> Mutation) -> WriteBatch {
    precondition(
      document.firestore === firestore, "Provided document reference is from a different Cloud Firestore instance.")
    let result = Result { try make() }
    let isCommitted = state.withLock { state in
      switch result {
      case .success(let mutation): state.mutations.append(mutation)
      case .failure(let error): state.failure = state.failure ?? error
      }
      return state.isCommitted
    }
    precondition(!isCommitted, WriteBatch.usedUp)
    return self
  }

  private static let usedUp = "A write batch can no longer be used after commit has been called."
}

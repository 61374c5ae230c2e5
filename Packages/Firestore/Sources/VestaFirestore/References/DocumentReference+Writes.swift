internal import VestaFirestoreModel
internal import VestaFirestoreSync

extension DocumentReference {
  /// Writes the document, whether it exists or not; all fields are replaced.
  ///
  /// The write is in the queue and visible to listeners when the call begins to wait; it returns when the backend has
  /// accepted it, which is when the network is there again if it is not. ``startSetData(_:merge:)`` separates the two.
  ///
  /// - Parameter documentData: The fields.
  /// - Throws: ``FirestoreErrorCode``: `invalidArgument` for data that Firestore does not store (nothing is written
  ///   then), or the backend's refusal, such as `permissionDenied` (the write is taken back then).
  public func setData(_ documentData: [String: Any]) async throws {
    try await setData(documentData, merge: false)
  }

  /// Writes the document.
  ///
  /// - Parameters:
  ///   - documentData: The fields.
  ///   - merge: Whether fields that are not in the data are kept.
  /// - Throws: As ``setData(_:)-(_)``.
  public func setData(_ documentData: [String: Any], merge: Bool) async throws {
    try await startSetData(documentData, merge: merge).acknowledgement()
  }

  /// Writes the named fields of the data, and keeps all others.
  ///
  /// - Parameters:
  ///   - documentData: The fields.
  ///   - mergeFields: Strings with dots between names, or ``FieldPath``s; each must be in the data.
  /// - Throws: As ``setData(_:)-(_)``.
  public func setData(_ documentData: [String: Any], mergeFields: [Any]) async throws {
    try await startSetData(documentData, mergeFields: mergeFields).acknowledgement()
  }

  /// Changes fields of an existing document.
  ///
  /// - Parameter fields: Keys are strings with dots between names, or ``FieldPath``s. A value replaces the whole field;
  ///   `FieldValue.delete()` removes it.
  /// - Throws: ``FirestoreErrorCode``: `notFound` if there is no such document, else as ``setData(_:)-(_)``.
  public func updateData(_ fields: [AnyHashable: Any]) async throws {
    try await startUpdateData(fields).acknowledgement()
  }

  /// Deletes the document; collections below it are kept.
  ///
  /// A document that does not exist is no error.
  public func delete() async throws { try await startDelete().acknowledgement() }

  /// Writes the document with the fields of a value, and returns when the backend has accepted it.
  ///
  /// The Firebase SDK's `setData(from:)` does not wait, and programs call it without `await`: hence the other label.
  ///
  /// - Throws: `EncodingError` before anything is written, else as ``setData(_:)-(_)``.
  public func setData<T: Encodable>(
    encoding value: T, merge: Bool = false, encoder: Firestore.Encoder = Firestore.Encoder()
  ) async throws {
    try await startSet(try encoder.entries(of: value), merge: merge).acknowledgement()
  }

  /// Writes the named fields of a value, keeps all others, and returns when the backend has accepted them.
  ///
  /// - Throws: `EncodingError` before anything is written, else as ``setData(_:)-(_)``.
  public func setData<T: Encodable>(
    encoding value: T, mergeFields: [Any], encoder: Firestore.Encoder = Firestore.Encoder()
  ) async throws {
    try await startSet(try encoder.entries(of: value), mergeFields: mergeFields).acknowledgement()
  }
}

/// Writes whose local and remote stage can be awaited apart.
extension DocumentReference {
  /// Begins to write the document: `localCommit()` of the result returns also while there is no network.
  ///
  /// ```swift
  /// let write = try note.startSetData(["text": text])
  /// try await write.localCommit()          // it survives a crash from here on
  /// try await write.acknowledgement()      // the backend has it
  /// ```
  ///
  /// - Throws: ``FirestoreErrorCode/Code/invalidArgument`` for data that Firestore does not store.
  public func startSetData(_ documentData: [String: Any], merge: Bool = false) throws -> PendingWrite {
    try startSet(UserValue.entries(of: documentData), merge: merge)
  }

  /// Begins to write the named fields of the data.
  public func startSetData(_ documentData: [String: Any], mergeFields: [Any]) throws -> PendingWrite {
    try startSet(UserValue.entries(of: documentData), mergeFields: mergeFields)
  }

  /// Begins to change fields of an existing document.
  public func startUpdateData(_ fields: [AnyHashable: Any]) throws -> PendingWrite {
    try start(Mutation.update(self, fields))
  }

  /// Begins to delete the document.
  public func startDelete() throws -> PendingWrite { try start(Mutation(resourcePath, .delete)) }

  func startSet(_ entries: [UserEntry], merge: Bool = false) throws -> PendingWrite {
    try start(Mutation.set(self, entries, as: merge ? .merge : .set))
  }

  func startSet(_ entries: [UserEntry], mergeFields: [Any]) throws -> PendingWrite {
    try start(Mutation.set(self, entries, as: .mergeFields(mergeFields.map(FieldPath.reading))))
  }

  private func start(_ mutation: Mutation) throws -> PendingWrite {
    PendingWrite(try firestore.client().write([mutation]))
  }
}

/// A write on its way: first into the durable queue of this client, then to the backend.
///
/// The write continues with or without waiters: cancelling a waiting task ends the waiting alone.
public struct PendingWrite: Sendable {
  private let write: SyncWrite

  init(_ write: SyncWrite) { self.write = write }

  /// Returns when the write is in the queue of this client and survives a crash of the program.
  ///
  /// - Throws: An error of the cache's disk; nothing is written then.
  public func localCommit() async throws {
    do { try await write.localCommit() } catch { throw FirestoreErrorCode.publicError(error) }
  }

  /// Returns when the backend has accepted the write.
  ///
  /// - Throws: The backend's refusal; listeners have then seen the write taken back.
  public func acknowledgement() async throws {
    do { try await write.acknowledged() } catch { throw FirestoreErrorCode.publicError(error) }
  }
}

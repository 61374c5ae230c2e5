internal import VestaFirestoreModel

// Sound as @unchecked Sendable: it adds no property to its parent; the class hierarchy of the Firebase SDK.
/// A collection of documents: a query for all of them, and the place to add new ones.
///
/// ```swift
/// let message = try await db.collection("messages").addDocument(data: ["text": "hello"])
/// ```
public final class CollectionReference: Query, @unchecked Sendable {
  init(path: ResourcePath, firestore: Firestore) {
    super.init(QueryDescription(database: firestore.database, path: path), firestore: firestore)
  }

  /// The identifier of the collection, the last part of its path.
  public var collectionID: String { description.path.lastSegment }

  /// The document above the collection; `nil` for a collection at the root.
  public var parent: DocumentReference? {
    description.path.segments.count == 1
      ? nil : DocumentReference(path: description.path.parent, firestore: firestore)
  }

  /// The path in the database, such as `cities/berlin/districts`.
  public var path: String { description.path.description }

  /// A reference to a new document with an identifier of 20 random letters and digits.
  public func document() -> DocumentReference { document(AutoID.make()) }

  /// A document of this collection.
  ///
  /// - Parameter documentPath: An identifier, or a longer path to a document below; anything else stops the program.
  public func document(_ documentPath: String) -> DocumentReference {
    DocumentReference(
      path: UserPath.parse(documentPath, below: description.path, kind: .document), firestore: firestore)
  }

  /// Creates a document with a random identifier.
  ///
  /// - Returns: The reference, when the backend has accepted the document.
  /// - Throws: ``FirestoreErrorCode``: `invalidArgument` for data that Firestore does not store, or the backend's
  ///   refusal.
  @discardableResult
  public func addDocument(data: [String: Any]) async throws -> DocumentReference {
    let reference = document()
    try await reference.setData(data)
    return reference
  }

  /// Creates a document with a random identifier from a value, and returns when the backend has accepted it.
  ///
  /// The Firebase SDK's `addDocument(from:)` does not wait, and programs call it without `await`: hence the other
  /// label.
  ///
  /// - Returns: The reference.
  @discardableResult
  public func addDocument<T: Encodable>(
    encoding value: T, encoder: Firestore.Encoder = Firestore.Encoder()
  ) async throws -> DocumentReference {
    let reference = document()
    try await reference.setData(encoding: value, encoder: encoder)
    return reference
  }
}

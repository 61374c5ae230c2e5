internal import VestaConcurrency
internal import VestaFirestoreBackend
internal import VestaFirestoreModel

// Sound as @unchecked Sendable: all properties are immutable values; the class has a subclass, which the compiler's
// own check does not allow.
/// A document as it was when it was read: its fields, or that it does not exist.
///
/// ```swift
/// let snapshot = try await db.document("cities/berlin").getDocument()
/// print(snapshot.exists, snapshot.get("population") ?? "unknown")
/// ```
public class DocumentSnapshot: @unchecked Sendable, Hashable {
  /// The document's reference.
  public let reference: DocumentReference
  /// Whether the data is from the cache, and has pending writes.
  public let metadata: SnapshotMetadata
  /// The document as the client knows it; `nil` if it does not exist.
  let document: CachedDocument?

  init(reference: DocumentReference, document: CachedDocument?, metadata: SnapshotMetadata) {
    self.reference = reference
    self.document = document?.isFound == true ? document : nil
    self.metadata = metadata
  }

  /// Whether the document exists.
  public var exists: Bool { document != nil }

  /// The identifier of the document in its collection.
  public var documentID: String { reference.documentID }

  /// All fields; `nil` if the document does not exist.
  ///
  /// Of fields whose names differ in their normal form alone, which are equal keys of a dictionary, only the first one
  /// is in, and a warning is logged: read such fields with ``get(_:)-(Any)`` and a ``FieldPath``.
  public func data() -> [String: Any]? { data(with: .none) }

  /// All fields; `nil` if the document does not exist.
  ///
  /// - Parameter serverTimestampBehavior: How server timestamps are shown that the backend has not set yet.
  public func data(with serverTimestampBehavior: ServerTimestampBehavior) -> [String: Any]? {
    document?.fields.map(writer(serverTimestampBehavior).dictionary)
  }

  /// The value of a field; `nil` if the document or the field does not exist.
  ///
  /// - Parameter field: A string with dots between names, or a ``FieldPath``.
  public func get(_ field: Any) -> Any? { get(field, serverTimestampBehavior: .none) }

  /// The value of a field; `nil` if the document or the field does not exist.
  ///
  /// - Parameters:
  ///   - field: A string with dots between names, or a ``FieldPath``; anything else stops the program.
  ///   - serverTimestampBehavior: How server timestamps are shown that the backend has not set yet.
  public func get(_ field: Any, serverTimestampBehavior: ServerTimestampBehavior) -> Any? {
    let path = FieldPath.required(field)
    guard let value = document?.value(at: path.model) else { return nil }
    return writer(serverTimestampBehavior).any(value)
  }

  /// The value of a field; `nil` if the document or the field does not exist.
  public subscript(key: Any) -> Any? { self.get(key) }

  /// Decodes the document.
  ///
  /// - Throws: `DecodingError` with the path of the field that does not fit, or for names of fields in
  ///   one decoded map that differ in their normal form alone. A document that does not exist decodes as
  ///   null: an optional type is `nil`, any other throws.
  public func data<T: Decodable>(
    as type: T.Type, with serverTimestampBehavior: ServerTimestampBehavior = .none,
    decoder: Firestore.Decoder = .init()
  ) throws -> T {
    guard let fields = document?.fields else {
      return try decoder.decode(type, from: .any(DocumentSnapshot.null), in: reference)
    }
    let map = try FieldMap(fields, with: serverTimestampBehavior, of: reference.firestore)
    return try decoder.decode(type, from: .map(map), in: reference)
  }

  /// Whether two snapshots are of the same document with the same data and metadata.
  public static func == (left: DocumentSnapshot, right: DocumentSnapshot) -> Bool {
    left.reference == right.reference && left.metadata == right.metadata && left.document == right.document
  }

  /// Hashes reference and metadata.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(reference)
    hasher.combine(metadata)
  }

  private func writer(_ behavior: ServerTimestampBehavior) -> UserDataWriter {
    UserDataWriter(behavior: behavior, reference: reference.firestore.reference(named:))
  }
}

// Sound as @unchecked Sendable: it adds no property to its parent; the class hierarchy of the Firebase SDK.
/// A document among the results of a query: it always exists.
public final class QueryDocumentSnapshot: DocumentSnapshot, @unchecked Sendable {
  /// All fields.
  public override func data() -> [String: Any] { data(with: .none) }

  /// All fields.
  ///
  /// - Parameter serverTimestampBehavior: How server timestamps are shown that the backend has not set yet.
  public override func data(with serverTimestampBehavior: ServerTimestampBehavior) -> [String: Any] {
    super.data(with: serverTimestampBehavior) ?? [:]
  }
}

internal import VestaFirestoreModel

/// The place of a document, whether there is one or not: reads it, writes it, and listens to it.
///
/// ```swift
/// let berlin = db.collection("cities").document("berlin")
/// try await berlin.setData(["name": "Berlin", "population": 3_700_000])
/// for try await snapshot in berlin.snapshots { print(snapshot.data() ?? [:]) }
/// ```
public final class DocumentReference: Sendable, Hashable, CustomStringConvertible {
  /// The database of the document.
  public let firestore: Firestore
  let resourcePath: ResourcePath

  init(path: ResourcePath, firestore: Firestore) {
    resourcePath = path
    self.firestore = firestore
  }

  /// The identifier of the document in its collection.
  public var documentID: String { resourcePath.lastSegment }

  /// The collection of the document.
  public var parent: CollectionReference { CollectionReference(path: resourcePath.parent, firestore: firestore) }

  /// The path in the database, such as `cities/berlin`.
  public var path: String { resourcePath.description }

  /// A collection below this document.
  ///
  /// - Parameter collectionPath: A path with an odd number of segments; anything else stops the program.
  public func collection(_ collectionPath: String) -> CollectionReference {
    CollectionReference(
      path: UserPath.parse(collectionPath, below: resourcePath, kind: .collection), firestore: firestore)
  }

  /// The name of the document at the backend.
  var resource: ResourceName { ResourceName(database: firestore.database, path: resourcePath) }

  /// The query whose result is this document.
  var query: QueryDescription { QueryDescription(database: firestore.database, path: resourcePath) }

  /// Whether two references are of the same document of the same database.
  public static func == (left: DocumentReference, right: DocumentReference) -> Bool {
    left.firestore === right.firestore && left.resourcePath == right.resourcePath
  }

  /// Hashes the path.
  public func hash(into hasher: inout Hasher) { hasher.combine(resourcePath) }

  /// The path for a log.
  public var description: String { "<FIRDocumentReference: \(path)>" }
}

/// Lets models hold references: ``Firestore/Encoder`` and ``Firestore/Decoder`` keep them, other coders refuse them.
extension DocumentReference: Codable {
  /// Refuses to decode.
  ///
  /// - Throws: ``FirestoreDecodingError/decodingIsNotSupported(_:)``; a ``Firestore/Decoder`` never calls this.
  public convenience init(from decoder: any Swift.Decoder) throws {
    throw FirestoreDecodingError.decodingIsNotSupported(
      "DocumentReference values can only be decoded with Firestore.Decoder")
  }

  /// Refuses to encode.
  ///
  /// - Throws: ``FirestoreEncodingError/encodingIsNotSupported(_:)``; a ``Firestore/Encoder`` never calls this.
  public func encode(to encoder: any Swift.Encoder) throws {
    throw FirestoreEncodingError.encodingIsNotSupported(
      "DocumentReference values can only be encoded with Firestore.Encoder")
  }
}

import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// Reads the names of documents from their path keys, one after the other.
///
/// The results of a query are of one collection most of the time. So its name is read once, and of each document the
/// last segment alone.
struct DocumentNames {
  private let database: DatabaseName
  /// The prefix of the path keys of the collection before; empty for none.
  private var prefix: [UInt8] = []
  /// The beginning of the names of its documents.
  private var beginning = ""

  /// Names in a database.
  init(in database: DatabaseName) { self.database = database }

  /// The document of a row.
  ///
  /// - Throws: `StoreError.Code.malformedKey`; `FirestoreServiceError` for damage, with the path of the document.
  mutating func document(at pathKey: PathKey, _ bytes: [UInt8]) throws -> Document {
    let name = try name(at: pathKey)
    let row: DocumentRow
    do {
      row = try DocumentRow(bytes)
    } catch {
      let path = try pathKey.path()
      throw error.at("documents/\(path)")
    }
    return row.document(named: name, fields: row.fields)
  }

  /// The name of a document.
  mutating func name(at pathKey: PathKey) throws -> String {
    if prefix.isEmpty || !pathKey.bytes.starts(with: prefix) { try begin(pathKey.collectionPrefix) }
    var last = KeyDecoder(pathKey.bytes, from: prefix.count)
    guard let element = try last.next(), last.isAtEnd else { throw FirestoreServiceError.damaged }
    return try beginning + PathKey.segment(element)
  }

  private mutating func begin(_ collection: [UInt8]) throws {
    prefix = []
    let segments = try KeyDecoder.elements(of: collection).dropLast().map(PathKey.segment)
    beginning = database.documentsPrefix + segments.joined(separator: "/") + "/"
    prefix = collection
  }
}

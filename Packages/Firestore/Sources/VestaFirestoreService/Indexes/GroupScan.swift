import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

/// The documents of all collections with one identifier, in the order of the store; each other collection costs one
/// row.
struct GroupScan {
  private let keys: DocumentDatabaseKeys
  private let collectionID: CollectionID
  /// The range that has not been read; `nil` at the end.
  private(set) var rest: KeyRange?
  /// The path key of the last row that was looked at.
  private(set) var last: PathKey?

  /// - Parameter range: Of the keys of documents.
  init(_ collectionID: CollectionID, range: KeyRange, keys: DocumentDatabaseKeys) {
    self.collectionID = collectionID
    self.keys = keys
    rest = range
  }

  /// The next documents; `nil` at the end.
  ///
  /// - Parameters:
  ///   - budget: How many rows to look at; none of them need be one of the group.
  ///   - most: The bytes of documents after which no more are read.
  mutating func next(_ budget: Int, bytes most: Int, in reader: any StoreReader) async throws -> [StoreEntry]? {
    if rest == nil { return nil }
    var documents: [StoreEntry] = []
    var budget = budget
    var bytes = 0
    while let part = rest, budget > 0, bytes < most {
      var foreign: ResourcePath?
      var last: [UInt8]?
      // How the keys of the collection begin that the scan is in.
      var known: [UInt8] = []
      let end = try await reader.scan(part, order: .ascending, limit: budget) { [keys, collectionID] key, value in
        let key = key.bytes
        last = key
        if known.isEmpty || !key.starts(with: known) {
          let collection = try keys.pathKey(ofDocumentKey: key).path().parent
          known = keys.documents(of: collection).lower
          if collection.collectionID != collectionID {
            foreign = collection
            return .stop
          }
        }
        documents.append(StoreEntry(key: key, value: value.bytes))
        bytes += value.byteCount
        return bytes < most ? .next : .stop
      }
      if let last { self.last = keys.pathKey(ofDocumentKey: last) }
      budget -= max(end.visited, 1)
      rest = foreign.map { KeyRange(from: keys.documents(of: $0).upper ?? part.lower, to: part.upper) } ?? end.rest
    }
    return documents
  }
}

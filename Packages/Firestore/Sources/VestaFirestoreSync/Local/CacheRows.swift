package import VestaBytes
package import VestaFirestoreBackend
package import VestaFirestoreModel

/// A row of a durable cache.
package struct CacheRow: Sendable, Hashable {
  /// The key, without the prefix of the client.
  package let key: [UInt8]
  /// The value; `nil` for a row to delete.
  package let value: [UInt8]?

  /// A row.
  package init(key: [UInt8], value: [UInt8]?) {
    self.key = key
    self.value = value
  }

  /// Whether it is of a pending write.
  var isOfWrite: Bool { key.first == 2 || key.first == 9 }
}

/// The keys of all rows of a durable cache.
///
/// The tags are on disk: never change one.
///
/// | tag | rest of the key | value |
/// |---|---|---|
/// | 1 | | the highest target identifier, the last snapshot version, the sequence number, the bytes of all documents |
/// | 2 | user, batch | `MutationBatch` |
/// | 3 | document | `CachedDocument` |
/// | 4 | document | the sequence number of its last use |
/// | 5 | target | `TargetRecord` |
/// | 6 | target, document | nothing |
/// | 7 | bundle | version and time |
/// | 8 | named query | read time and `LocalQuery` |
/// | 9 | the key of a batch that could not be read | its value, set aside |
/// | 10 | collection, field, value of the field, document identifier | the document identifier |
/// | 11 | collection, field: an index all of whose entries are rows | nothing |
///
/// Overlays are not kept: they are computed from batches and documents when the cache is opened.
package enum CacheKey: Sendable, Hashable {
  case globals
  case batch(user: UTF8String, Int)
  case document(DocumentKey)
  case sequenceNumber(DocumentKey)
  case target(Int32)
  case targetDocument(Int32, DocumentKey)
  case bundle(UTF8String)
  case namedQuery(UTF8String)
  case setAside([UInt8])
  case indexEntry(ResourcePath, CacheIndex.ID, entry: [UInt8])
  case index(ResourcePath, CacheIndex.ID)

  /// The bytes of the key.
  package var bytes: [UInt8] {
    var writer = RowWriter(reserving: 64)
    switch self {
    case .globals: writer.write(byte: 1)
    case .batch(let user, let id):
      writer.write(byte: 2)
      writer.write(text: user.string)
      writer.write(int: Int64(id))
    case .document(let key): writer.write(tag: 3, key)
    case .sequenceNumber(let key): writer.write(tag: 4, key)
    case .target(let id):
      writer.write(byte: 5)
      writer.write(int: Int64(id))
    case .targetDocument(let id, let key):
      writer.write(byte: 6)
      writer.write(int: Int64(id))
      writer.write(path: key)
    case .bundle(let name):
      writer.write(byte: 7)
      writer.write(text: name.string)
    case .namedQuery(let name):
      writer.write(byte: 8)
      writer.write(text: name.string)
    case .setAside(let key):
      writer.write(byte: 9)
      writer.write(blob: key)
    case .indexEntry(let collection, let id, let entry):
      return CacheKey.prefix(10, collection, id) + entry
    case .index(let collection, let id): return CacheKey.prefix(11, collection, id)
    }
    return writer.bytes
  }

  private static func prefix(_ tag: UInt8, _ collection: ResourcePath, _ id: CacheIndex.ID) -> [UInt8] {
    var writer = RowWriter(reserving: 64)
    writer.write(tag: tag, collection)
    writer.write(count: id.path.names.count)
    for name in id.path.names { writer.write(text: name) }
    writer.write(byte: id.isOfElements ? 1 : 0)
    return writer.bytes
  }

  /// The bytes that the keys of all documents of a collection begin with.
  package static func documents(in collection: ResourcePath) -> [UInt8] {
    var writer = RowWriter(reserving: 64)
    writer.write(byte: 3)
    writer.write(count: collection.segments.count + 1)
    for segment in collection.segments { writer.write(text: segment) }
    return writer.bytes
  }

  /// The bytes that the keys of all documents of a target begin with.
  package static func documents(ofTarget id: Int32) -> [UInt8] {
    var writer = RowWriter(reserving: 16)
    writer.write(byte: 6)
    writer.write(int: Int64(id))
    return writer.bytes
  }

  /// The tag of the rows of documents.
  static let documentTag: UInt8 = 3
  /// The tags of the rows that every client needs from its start on.
  package static let startTags: [UInt8] = [1, 2, 5, 7, 8, 9, 11]
  /// The tags of the rows that the backend can send again, and of what is made of them.
  static let cacheTags: [UInt8] = [1, 3, 4, 5, 6, 7, 8, 10, 11]
  /// The tags of durable indexes and their entries.
  static let indexTags: [UInt8] = [10, 11]

  /// The key of its bytes.
  ///
  /// - Throws: `DATA_LOSS` for other bytes.
  package init(_ bytes: [UInt8]) throws(FirestoreServiceError) {
    var reader = RowReader(bytes)
    switch try reader.byte() {
    case 1: self = .globals
    case 2: self = .batch(user: UTF8String(try reader.text()), Int(try reader.int()))
    case 3: self = .document(try reader.path())
    case 4: self = .sequenceNumber(try reader.path())
    case 5: self = .target(try reader.target())
    case 6: self = .targetDocument(try reader.target(), try reader.path())
    case 7: self = .bundle(UTF8String(try reader.text()))
    case 8: self = .namedQuery(UTF8String(try reader.text()))
    case 9: self = .setAside(try reader.blob())
    case 10:
      let (collection, id) = (try reader.path(), try reader.index())
      self = .indexEntry(collection, id, entry: Array(bytes.dropFirst(CacheKey.prefix(10, collection, id).count)))
    case 11: self = .index(try reader.path(), try reader.index())
    default: throw .damaged
    }
  }

  /// Whether the row is a write of the application, which nothing can bring back.
  var isBatch: Bool {
    if case .batch = self { return true }
    return false
  }
}

extension RowWriter {
  fileprivate mutating func write(tag: UInt8, _ key: DocumentKey) {
    write(byte: tag)
    write(path: key)
  }
}

extension RowReader {
  fileprivate mutating func index() throws(FirestoreServiceError) -> CacheIndex.ID {
    CacheIndex.ID(path: try fieldPath(), isOfElements: try byte() == 1)
  }

  fileprivate mutating func target() throws(FirestoreServiceError) -> Int32 {
    guard let id = Int32(exactly: try int()) else { throw .damaged }
    return id
  }
}

extension CachedDocument {
  /// The bytes of the row; the path is in its key.
  var row: [UInt8] {
    var writer = RowWriter()
    let kind: UInt8 =
      switch contents {
      case .invalid: 0
      case .found: 1
      case .missing: 2
      case .unknown: 3
      }
    writer.write(byte: kind | (hasCommittedMutations ? 0x10 : 0))
    writer.write(time: version)
    writer.write(time: readTime)
    writer.write(time: createTime ?? .zero)
    if let fields { writer.write(map: fields) }
    return writer.bytes
  }

  init(row: [UInt8], _ name: ResourceName) throws(FirestoreServiceError) {
    var reader = RowReader(row)
    let tag = try reader.byte()
    let (version, readTime, createTime) = (try reader.time(), try reader.time(), try reader.time())
    let contents: Contents =
      switch tag & 0xF {
      case 0: .invalid
      case 1: .found(try reader.map())
      case 2: .missing
      case 3: .unknown
      default: throw .damaged
      }
    self.init(
      name, contents, version: version, createTime: createTime == .zero ? nil : createTime, readTime: readTime)
    if tag & 0x10 != 0 { commit(contents, at: version) }
  }
}

import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

/// Every key that the engine keeps; nothing else writes keys.
///
/// | key | value |
/// |---|---|
/// | `(1, name)` | the number of a database |
/// | `(3, database, collection…, null, id)` | a document: a `DocumentRow` |
/// | `(4, database, version, part)` | what a commit changed: a `LogRow` |
/// | `(4, database, Int64.max)` | its `Head`: last commit, version of its index catalogue, beginning of its log |
/// | `(5, database, index)` | an `IndexRow`: what is indexed, and how far the index is |
/// | `(6, database, index, …)` | an entry of an index: an `EntryValue`, which has the document's place |
///
/// The head stands behind the log because every commit writes both: side by side they are one page of a file.
///
/// A *place* is what of a document's key follows the database: the segments of its collection, null, its identifier. A
/// segment is a string; one that stands for a number, `__id7__`, is an integer, and so comes first. The null keeps the
/// documents of a collection together, before everything that is below one of them. So one range holds the documents of
/// a collection in the order of their names, and one range holds all that is below a document.
enum Keys {
  enum Table: Int64, CaseIterable {
    case databases = 1
    case documents = 3
    case log = 4
    case indexes = 5
    case entries = 6
  }

  static func database(named name: String) -> [UInt8] {
    KeyEncoder(.int(Table.databases.rawValue), .string(name)).bytes
  }

  static let databases = KeyEncoder(.int(Table.databases.rawValue)).range

  /// A key for people: the table's name and its elements.
  static func describe(_ key: [UInt8]) -> String {
    var decoder = KeyDecoder(key)
    guard let number = try? decoder.int(), let table = Table(rawValue: number) else { return KeyPrinter.text(for: key) }
    return "\(table)" + KeyPrinter.text(for: Array(key.dropFirst(2)))
  }
}

/// The keys of one database.
struct DatabaseKeys: Sendable {
  let head: [UInt8]
  let documents: [UInt8]
  let log: [UInt8]
  let indexes: [UInt8]
  let entries: [UInt8]

  /// The keys of the database with this number.
  init(_ number: Int64) {
    func prefix(_ table: Keys.Table) -> [UInt8] { KeyEncoder(.int(table.rawValue), .int(number)).bytes }
    head = KeyEncoder(.int(Keys.Table.log.rawValue), .int(number), .int(.max)).bytes
    documents = prefix(.documents)
    log = prefix(.log)
    indexes = prefix(.indexes)
    entries = prefix(.entries)
  }

  func document(_ place: Place) -> [UInt8] { documents + place.bytes }

  func place(ofDocumentKey key: [UInt8]) -> Place { Place(bytes: Array(key.dropFirst(documents.count))) }

  /// The documents of one collection.
  func documents(of collection: ResourcePath) -> KeyRange {
    var key = KeyEncoder(continuing: documents)
    key.append(path: collection)
    key.appendNull()
    return key.range
  }

  /// All documents below the root or a document.
  func documents(below parent: ResourcePath) -> KeyRange {
    var key = KeyEncoder(continuing: documents)
    key.append(path: parent)
    return key.range
  }

  func log(version: Int64, part: Int64) -> [UInt8] {
    var key = KeyEncoder(continuing: log)
    key.append(int: version)
    key.append(int: part)
    return key.bytes
  }

  /// What has been changed after a version.
  func log(after version: Int64) -> KeyRange {
    KeyRange(from: log(version: version + 1, part: 0), to: head)
  }

  /// The version of a row of the log.
  func version(ofLogKey key: [UInt8]) throws -> Int64 {
    var decoder = KeyDecoder(key, from: log.count)
    return try decoder.int()
  }

  func index(_ id: Int64) -> [UInt8] {
    var key = KeyEncoder(continuing: indexes)
    key.append(int: id)
    return key.bytes
  }

  func entries(ofIndex id: Int64) -> [UInt8] {
    var key = KeyEncoder(continuing: entries)
    key.append(int: id)
    return key.bytes
  }
}

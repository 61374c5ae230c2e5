import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

/// Every key that the engine keeps; nothing else writes keys.
///
/// | key | value |
/// |---|---|
/// | `(1, name)` | the number of a database |
/// | `(2)` | the highest number of a database |
/// | `(3, database, collection…, null, id)` | a document: a `DocumentRow` |
/// | `(4, database, version, part)` | what a commit changed: a `LogRow` |
/// | `(4, "", …)` | the events of all databases; see `EventOutbox` |
/// | `(5, database, index)` | an `IndexRow`: the indexed fields, and the progress of the index |
/// | `(6, database, index, …)` | an entry of an index: an `EntryValue`, which has the document's path key |
/// | `(7, database, id, collection…, null, version, part)` | which parts of the log, up to that one, have documents of a collection, and which: a `ChangeRow` |
/// | `(8, database, 1)` | the version of the index catalogue |
/// | `(8, database, 2)` | the horizon: the log has all that was changed after this version |
/// | `(8, database, 6)` | the version at which the database was made: it had no documents before |
/// | `(8, database, 5)` | the indexes that were declared at run time: a `DeclaredRow` |
/// | `(8, database, 4)` | the last part of the log that is in the rows of the collections: a `PositionRow`; see `LogSorter` |
/// | `(8, database, 3, job…)` | who does a job in the background, and until when: a row of `StoreLease` |
/// | `(9, database, queue, slot)` | the answer to a request of a write call: an `AnswerRow` |
///
/// Versions are the store's: the times of commits. A commit writes its documents and one row of the log; it reads the
/// catalogue's version and writes none of the rows that all commits share. The rows of the collections follow in the
/// background (`LogSorter`), or are written by the commits themselves.
///
/// A *path key* is the part of a document's key after the database: the segments of its collection, null, its
/// identifier. A segment is a string; a number, `__id7__`, is an integer, and so sorts first. The null keeps the
/// documents of a collection together, before everything that is below one of them. So one range holds the documents of
/// a collection in the order of their names, and one range holds all that is below a document.
enum Keys {
  enum Table: Int64, CaseIterable {
    case databases = 1
    case counter = 2
    case documents = 3
    case log = 4
    case indexes = 5
    case entries = 6
    case changes = 7
    case state = 8
    case answers = 9
  }

  static func database(named name: String) -> [UInt8] {
    KeyEncoder(.int(Table.databases.rawValue), .string(name)).bytes
  }

  /// The names of all databases.
  static let databases = KeyEncoder(.int(Table.databases.rawValue)).bytes

  static let counter = KeyEncoder(.int(Table.counter.rawValue)).bytes

  /// After the log: the newest row of the log and the newest event, which are first in the outbox, share one page.
  static let outbox = KeyEncoder(.int(Table.log.rawValue), .string("")).bytes

  /// A key for people: the table's name and its elements.
  static func describe(_ key: [UInt8]) -> String {
    var decoder = KeyDecoder(key)
    guard let number = try? decoder.int(), let table = Table(rawValue: number) else { return KeyPrinter.text(for: key) }
    if key.starts(with: outbox) { return "outbox" + KeyPrinter.text(for: Array(key.dropFirst(outbox.count))) }
    return "\(table)" + KeyPrinter.text(for: Array(key.dropFirst(2)))
  }
}

/// The keys of one database; a class, since every call passes them on, and one reference is passed on for less than
/// ten.
final class DocumentDatabaseKeys: Sendable {
  let documents: [UInt8]
  let log: [UInt8]
  let indexes: [UInt8]
  let entries: [UInt8]
  let changes: [UInt8]
  let catalogue: [UInt8]
  let horizon: [UInt8]
  let made: [UInt8]
  let sorted: [UInt8]
  let declared: [UInt8]
  let leases: [UInt8]
  let answers: [UInt8]

  /// The keys of the database with this number.
  init(_ number: Int64) {
    func prefix(_ table: Keys.Table) -> [UInt8] { KeyEncoder(.int(table.rawValue), .int(number)).bytes }
    documents = prefix(.documents)
    log = prefix(.log)
    indexes = prefix(.indexes)
    entries = prefix(.entries)
    changes = prefix(.changes)
    answers = prefix(.answers)
    catalogue = KeyEncoder(.int(Keys.Table.state.rawValue), .int(number), .int(1)).bytes
    horizon = KeyEncoder(.int(Keys.Table.state.rawValue), .int(number), .int(2)).bytes
    made = KeyEncoder(.int(Keys.Table.state.rawValue), .int(number), .int(6)).bytes
    sorted = KeyEncoder(.int(Keys.Table.state.rawValue), .int(number), .int(4)).bytes
    declared = KeyEncoder(.int(Keys.Table.state.rawValue), .int(number), .int(5)).bytes
    leases = KeyEncoder(.int(Keys.Table.state.rawValue), .int(number), .int(3)).bytes
  }

  func document(_ pathKey: PathKey) -> [UInt8] { documents + pathKey.bytes }

  func lease(_ job: LeasedJob) -> [UInt8] {
    var key = KeyEncoder(continuing: leases)
    switch job {
    case .building(let index):
      key.append(int: 1)
      key.append(int: index)
    case .sweeping: key.append(int: 2)
    case .aging: key.append(int: 3)
    case .pruning: key.append(int: 4)
    }
    return key.bytes
  }

  func pathKey(ofDocumentKey key: [UInt8]) -> PathKey { PathKey(bytes: Array(key.dropFirst(documents.count))) }

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

  func log(_ position: LogPosition) -> [UInt8] { position.appended(to: log) }

  /// The range of the log after a version.
  func log(after version: Int64) -> KeyRange {
    KeyRange(from: log(LogPosition(version: version + 1)), to: KeyRange(prefix: log).upper)
  }

  /// The range of the log after a position.
  func log(after position: LogPosition) -> KeyRange {
    KeyRange(from: log(position.next), to: KeyRange(prefix: log).upper)
  }

  /// Returns the position of a row of the log.
  func position(ofLogKey key: [UInt8]) throws -> LogPosition { try LogPosition(key, from: log.count) }

  /// The key prefix of the answers to one queue of requests.
  func answers(of queue: [UInt8]) -> [UInt8] {
    var key = KeyEncoder(continuing: answers)
    key.append(bytes: queue)
    return key.bytes
  }

  /// The answer to a request; those whose numbers are a window apart share a slot.
  func answer(to id: WriteRequestID) -> [UInt8] {
    var key = KeyEncoder(continuing: answers(of: id.queue))
    key.append(int: id.number % WriteRequestID.window)
    return key.bytes
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

  /// The key prefix of the changes of all collections with one identifier.
  func changes(ofGroup collectionID: CollectionID) -> [UInt8] {
    var key = KeyEncoder(continuing: changes)
    key.append(string: collectionID.rawValue)
    return key.bytes
  }

  /// The key prefix of the changes of one collection.
  func changes(of collection: ResourcePath) -> [UInt8] {
    changes(ofGroup: collection.collectionID) + PathKey.prefix(of: collection)
  }

  /// The range of a collection's changes after a version.
  func changes(of collection: [UInt8], after version: Int64) -> KeyRange {
    KeyRange(from: LogPosition(version: version + 1).appended(to: collection), to: KeyRange(prefix: collection).upper)
  }
}

/// The position of a part of a commit in the log.
struct LogPosition: Hashable, Comparable, Sendable {
  var version: Int64
  var part: Int64 = 0

  /// The first position after this one.
  var next: LogPosition { LogPosition(version: version, part: part + 1) }

  static func < (left: LogPosition, right: LogPosition) -> Bool {
    (left.version, left.part) < (right.version, right.part)
  }

  init(version: Int64, part: Int64 = 0) {
    self.version = version
    self.part = part
  }

  init(_ key: [UInt8], from start: Int) throws {
    var decoder = KeyDecoder(key, from: start)
    version = try decoder.int()
    part = try decoder.int()
  }

  func appended(to prefix: [UInt8]) -> [UInt8] {
    var key = KeyEncoder(continuing: prefix)
    key.append(int: version)
    key.append(int: part)
    return key.bytes
  }
}

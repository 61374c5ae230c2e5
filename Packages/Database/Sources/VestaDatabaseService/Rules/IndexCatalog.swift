import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseModel

/// The indexes that a database has or is building, as the store knows them.
///
/// Writers keep the entries of all of them, queries use the ready ones. The numbers name the entries' rows; an
/// index keeps its number while others are added and removed.
struct IndexCatalog: Sendable, Equatable {
  struct Entry: Sendable, Equatable {
    let number: Int
    let definition: DatabaseIndexes.Definition
    /// The key of the row from which building continues; `nil` for an index that is ready.
    var cursor: [UInt8]?
  }

  private(set) var entries: [Entry] = []
  private var next = 0

  var isBuilding: Bool { entries.contains { $0.cursor != nil } }

  /// Enters the indexes that are declared now; an index that is new has to be built.
  ///
  /// - Parameter keepsOthers: Whether undeclared indexes stay, because other engines may declare them.
  /// - Returns: The numbers of the indexes that have been dropped.
  mutating func declare(_ indexes: DatabaseIndexes, keepsOthers: Bool) -> [Int] {
    var dropped: [Int] = []
    if !keepsOthers {
      dropped = entries.filter { !indexes.definitions.contains($0.definition) }.map(\.number)
      entries.removeAll { dropped.contains($0.number) }
    }
    for definition in indexes.definitions where !entries.contains(where: { $0.definition == definition }) {
      entries.append(Entry(number: next, definition: definition, cursor: []))
      next += 1
    }
    return dropped
  }

  /// Notes how far an index has been built.
  mutating func advance(_ number: Int, to cursor: [UInt8]?) {
    for index in entries.indices where entries[index].number == number { entries[index].cursor = cursor }
  }

  /// The index that serves a query at a path; `nil` for none, or for one that is being built.
  func table(for index: DatabaseIndex, at path: DatabasePath) -> IndexTable? {
    let entry = entries.first { $0.cursor == nil && $0.definition.index == index && $0.definition.matches(path.keys) }
    return entry.map { .declared($0.number) }
  }

  /// Whether an index is declared, ready or not.
  func declares(_ index: DatabaseIndex, at path: DatabasePath) -> Bool {
    entries.contains { $0.definition.index == index && $0.definition.matches(path.keys) }
  }

  // MARK: Bytes

  init() {}

  init(_ bytes: [UInt8]) throws {
    var reader = ByteReader(bytes)
    next = Int(try reader.zigzag())
    for _ in 0..<(try reader.count()) {
      let number = Int(try reader.zigzag())
      var pattern: [String?] = []
      for _ in 0..<(try reader.count()) { pattern.append(try reader.byte() == 0 ? nil : try reader.string()) }
      let path = DatabasePath(try reader.string())
      let cursor: [UInt8]? = try reader.byte() == 0 ? nil : Array(try reader.blob())
      entries.append(Entry(number: number, definition: .init(pattern: pattern, path: path), cursor: cursor))
    }
    guard reader.isAtEnd else { throw BytesError(.malformed, "Bytes follow the catalog of the indexes.") }
  }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.write(zigzag: Int64(next))
    writer.write(count: entries.count)
    for entry in entries {
      writer.write(zigzag: Int64(entry.number))
      writer.write(count: entry.definition.pattern.count)
      for part in entry.definition.pattern {
        writer.write(byte: part == nil ? 0 : 1)
        if let part { writer.write(string: part) }
      }
      writer.write(string: entry.definition.path.text)
      writer.write(byte: entry.cursor == nil ? 0 : 1)
      if let cursor = entry.cursor { writer.write(blob: cursor) }
    }
    return writer.bytes
  }
}

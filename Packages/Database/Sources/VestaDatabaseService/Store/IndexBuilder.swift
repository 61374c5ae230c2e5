import VestaBytes
import VestaCore
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaStoreInterop

/// Builds declared indexes of data that is there already, some rows at a time.
///
/// By the example of `/rooms` by `size`: a step reads rows from the cursor on, finds the rooms that they belong to,
/// looks up the size of each, puts their entries, and moves the cursor past the last room. Writers keep the entries
/// of the index from the start, so what is written before the cursor stays right, and what is written after it is met
/// later. A step is one transaction: an engine that continues, after a crash or in another process, starts from the
/// cursor.
struct IndexBuilder {
  let transaction: any StoreTransaction
  let context: RoomContext

  /// Does one step of the first index that is not ready.
  ///
  /// - Parameter rows: How many rows of data it reads at the most.
  /// - Returns: Whether there is more to do.
  func step(rows: Int) async throws -> Bool {
    var catalog = try await context.catalogs.read(transaction, context.keys)
    guard let entry = catalog.entries.first(where: { $0.cursor != nil }) else { return false }
    let cursor = try await step(entry, rows: rows)
    catalog.advance(entry.number, to: cursor)
    try await context.catalogs.write(catalog, transaction, context.keys)
    return catalog.isBuilding
  }

  /// - Returns: The cursor of the next step; `nil` at the end.
  private func step(_ entry: IndexCatalog.Entry, rows: Int) async throws -> [UInt8]? {
    let definition = entry.definition
    let whole = KeyRange(prefix: context.keys.data(literalPart(of: definition)))
    let range = KeyRange(from: entry.cursor.flatMap { $0.isEmpty ? nil : $0 } ?? whole.lower, to: whole.upper)
    let start = context.keys.data(.root).count
    var children: [DatabasePath] = []
    var last: [UInt8]?
    var count = 0
    _ = try await transaction.scan(range, order: .ascending, limit: rows) { key, _ in
      let bytes = key.bytes
      (last, count) = (bytes, count + 1)
      // A damaged key belongs to no child.
      guard let keys = try? PathCoding.decode(bytes, from: start) else { return .next }
      let depth = definition.pattern.count
      if keys.count > depth, definition.matches(keys[..<depth]) {
        let child = DatabasePath(keys[...depth])
        if children.last != child { children.append(child) }
      }
      return .next
    }
    try await putEntries(of: children, entry)
    guard let last, count == rows else { return nil }
    // The rest of the last child need not be read.
    if let child = children.last, case let rest = KeyRange(prefix: context.keys.data(child)), rest.contains(last) {
      return rest.upper
    }
    return last + [0]
  }

  private func putEntries(of children: [DatabasePath], _ entry: IndexCatalog.Entry) async throws {
    let places = children.map { $0.appending(entry.definition.path) }
    let rows = try await transaction.get(places.map { context.keys.data($0) })
    for ((child, place), row) in zip(zip(children, places), rows) {
      guard let key = child.back, let parent = child.parent else { continue }
      let value = try await value(at: place, row)
      try await transaction.put([], for: context.keys.entry(.declared(entry.number), of: parent, value, key))
    }
  }

  /// The sort value of a place.
  ///
  /// A damaged row keeps no index from being built: its child is where those without a value are, until it is written.
  private func value(at place: DatabasePath, _ row: [UInt8]?) async throws -> SortValue {
    do {
      if let row, let leaf = try TreeReader.decode(row, at: place).leaf { return .leaf(leaf) }
    } catch StoreError.Code.corrupt {
      log.error("I-RDS000008", "An index takes a damaged row for one without a value: \(place)")
      return .null
    }
    let reader = TreeReader(reader: transaction, keys: context.keys)
    return try await reader.exists(place) ? .object : .null
  }

  /// The part of the pattern before its first `$`: nothing outside of it can match.
  private func literalPart(of definition: DatabaseIndexes.Definition) -> DatabasePath {
    DatabasePath(definition.pattern.prefix { $0 != nil }.map { DatabaseKey($0 ?? "") })
  }
}

private let log = Logger(service: "VestaDatabaseService")

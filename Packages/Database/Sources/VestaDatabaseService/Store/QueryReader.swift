import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaStoreInterop

/// Reads what a query wants, along an index where there is one.
///
/// By the example of the last two of `/rooms` by `size`, with an index: the entries of `/rooms` are scanned from the
/// end, two of them, and two rooms are read. Without an index all rooms are read, and the reply warns of it. In the
/// order of priorities, children without one are first and are found by their keys; the others have entries in their
/// own.
struct QueryReader {
  let tree: TreeReader
  private let catalog: IndexCatalog

  /// The first read of a query; a store in another process brings it along with the beginning.
  static func first(_ path: DatabasePath, _ spec: DatabaseQuerySpec, _ context: RoomContext) -> StoreFirstRead {
    if path.back?.isPriority == true { return .keys([context.keys.data(path.withoutPriority)]) }
    return spec.loadsAllData
      ? .scan(KeyRange(prefix: context.keys.data(path)), order: .ascending, limit: nil)
      : .keys([context.keys.catalog()])
  }

  /// Reads one snapshot of the store, with the indexes that are ready in it.
  ///
  /// - Parameter specs: The following queries; the indexes are read if one of them may use them.
  init(
    _ reader: any StoreReader, _ context: RoomContext, for specs: some Sequence<DatabaseQuerySpec>
  ) async throws {
    tree = TreeReader(reader: reader.yielding, keys: context.keys)
    let usesIndexes = specs.contains { !$0.loadsAllData }
    catalog = usesIndexes ? try await context.catalogs.read(reader, context.keys) : IndexCatalog()
  }

  /// The result of a query, and whether an index is missing for it.
  func window(_ path: DatabasePath, _ spec: DatabaseQuerySpec) async throws -> (node: DatabaseNode, lacksIndex: Bool) {
    if spec.loadsAllData { return (try await tree.node(path), false) }
    if spec.index == .key { return (DatabaseNode(children: try await byKey(path, spec)), false) }
    guard let table = spec.index == .priority ? .priority : catalog.table(for: spec.index, at: path) else {
      let window = NodeWindow.window(of: try await tree.node(path), spec)
      return (window, !catalog.declares(spec.index, at: path))
    }
    do {
      let children = table == .priority ? try await byPriority(path, spec) : try await byIndex(table, path, spec)
      return (DatabaseNode(children: children), false)
    } catch is CutEntry {
      return (NodeWindow.window(of: try await tree.node(path), spec), false)
    }
  }

  /// An entry that does not say all of its value.
  private struct CutEntry: Error {}

  private func order(_ spec: DatabaseQuerySpec) -> ScanOrder { spec.limit?.side == .last ? .descending : .ascending }

  private func byKey(_ path: DatabasePath, _ spec: DatabaseQuerySpec) async throws -> [(DatabaseKey, DatabaseNode)] {
    // A bound that is not part of the range costs one child more, which is dropped here.
    let margin = (spec.start?.isInclusive == false ? 1 : 0) + (spec.end?.isInclusive == false ? 1 : 0)
    let children = try await tree.children(
      of: path, from: spec.startPosition?.key, to: spec.endPosition?.key, order: order(spec),
      limit: spec.limit.map { $0.count + margin })
    return prefix(children.filter { spec.contains($0.0, $0.1) }, spec)
  }

  private func prefix(
    _ children: [(DatabaseKey, DatabaseNode)], _ spec: DatabaseQuerySpec
  ) -> [(DatabaseKey, DatabaseNode)] {
    spec.limit.map { Array(children.prefix($0.count)) } ?? children
  }

  private func byPriority(
    _ path: DatabasePath, _ spec: DatabaseQuerySpec
  ) async throws -> [(DatabaseKey, DatabaseNode)] {
    var children: [(DatabaseKey, DatabaseNode)] = []
    let parts = order(spec) == .ascending ? [plainChildren, prioritized] : [prioritized, plainChildren]
    for part in parts {
      let rest = spec.limit.map { $0.count - children.count }
      if rest == 0 { break }
      children += try await part(path, spec, rest)
    }
    return children
  }

  /// The children without a priority, in the order of their keys.
  private func plainChildren(
    _ path: DatabasePath, _ spec: DatabaseQuerySpec, _ limit: Int?
  ) async throws -> [(DatabaseKey, DatabaseNode)] {
    if let start = spec.startPosition, !start.value.isEmpty { return [] }
    let end = spec.endPosition.flatMap { $0.value.isEmpty ? $0.key : nil }
    let margin = (spec.start?.isInclusive == false ? 1 : 0) + (spec.end?.isInclusive == false ? 1 : 0)
    let children = try await tree.children(
      of: path, from: spec.startPosition?.key, to: end, order: order(spec), limit: limit.map { $0 + margin },
      isWanted: { $0 == nil })
    let wanted = children.filter { spec.contains($0.0, $0.1) }
    return limit.map { Array(wanted.prefix($0)) } ?? wanted
  }

  private func prioritized(
    _ path: DatabasePath, _ spec: DatabaseQuerySpec, _ limit: Int?
  ) async throws -> [(DatabaseKey, DatabaseNode)] {
    var spec = spec
    if let limit { spec.limit?.count = limit }
    return try await byIndex(.priority, path, spec)
  }

  private func byIndex(
    _ table: IndexTable, _ path: DatabasePath, _ spec: DatabaseQuerySpec
  ) async throws -> [(DatabaseKey, DatabaseNode)] {
    let prefix = tree.keys.entries(table, of: path)
    let range = try range(prefix, spec)
    if range.isEmpty { return [] }
    let cut = tree.keys.entryBytes
    var found: [DatabaseKey] = []
    _ = try await tree.reader.scan(range, order: order(spec), limit: spec.limit?.count) { key, _ in
      let bytes = key.bytes
      var (position, isCut) = try SortValue.skip(bytes, from: prefix.count, cutAt: cut)
      if isCut { throw CutEntry() }
      found.append(try PathCoding.key(in: bytes, at: &position))
      return .next
    }
    var children: [(DatabaseKey, DatabaseNode)] = []
    for key in found { children.append((key, try await tree.node(path.child(key)))) }
    return children
  }

  private func range(_ prefix: [UInt8], _ spec: DatabaseQuerySpec) throws -> KeyRange {
    var lower = prefix
    var upper = KeyRange(prefix: prefix).upper
    if let start = spec.startPosition {
      let range = try range(prefix, start)
      lower = spec.start?.isInclusive == true ? range.lower : range.upper ?? range.lower
    }
    if let end = spec.endPosition {
      let range = try range(prefix, end)
      upper = spec.end?.isInclusive == true ? range.upper : range.lower
    }
    return KeyRange(from: lower, to: upper)
  }

  /// The entries at a position; before or after all of a value for the lowest and the highest key.
  private func range(_ prefix: [UInt8], _ position: DatabasePosition) throws -> KeyRange {
    let value = SortValue(position.value)
    if value.isCut(at: tree.keys.entryBytes) { throw CutEntry() }
    var bytes = prefix
    value.append(to: &bytes, cutAt: tree.keys.entryBytes)
    if position.key == .minimum { return KeyRange(from: bytes, to: bytes) }
    if position.key == .maximum {
      let end = KeyRange(prefix: bytes).upper ?? bytes
      return KeyRange(from: end, to: end)
    }
    PathCoding.append(position.key, to: &bytes)
    return KeyRange(prefix: bytes)
  }
}

import VestaStoreInterop

/// A reader of one version of a memory store.
///
/// A class, so that the caller's copy of it is the one that ends.
final class MemorySnapshot: StoreReader {
  private var tree: OrderedTree?
  let version: StoreVersion

  var answersInPlace: Bool { true }

  init(tree: OrderedTree, version: StoreVersion) {
    self.tree = tree
    self.version = version
  }

  /// Ends the reader and lets go of the snapshot.
  func end() { tree = nil }

  private func current(_ operation: String) throws -> OrderedTree {
    guard let tree else { throw StoreError.ended(operation) }
    return tree
  }

  func get(_ key: [UInt8]) async throws -> [UInt8]? { try current("get").get(key) }

  func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] {
    let tree = try current("get")
    return keys.map { tree.get($0) }
  }

  func scan(
    _ range: KeyRange,
    order: ScanOrder,
    limit: Int?,
    _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    let tree = try current("scan")
    try Task.checkCancellation()
    return try tree.scan(range, order: order, limit: limit, visit)
  }
}

/// A transaction of a memory store: changes a tree that shares its nodes with the committed one.
final class MemoryTransaction: StoreTransaction {
  private(set) var tree: OrderedTree
  private(set) var treeBefore: OrderedTree
  let version: StoreVersion
  private let versions: StoreVersions
  private var commitTime: StoreVersion?
  private var hasEnded = false

  init(tree: OrderedTree, version: StoreVersion, versions: StoreVersions) {
    self.tree = tree
    self.version = version
    self.versions = versions
    treeBefore = tree
  }

  /// Ends the transaction and lets go of its trees.
  func end() {
    hasEnded = true
    tree = OrderedTree()
    treeBefore = tree
  }

  /// The version of the commit; the next one of the store when it was not asked for before.
  func allotted() -> StoreVersion {
    let version = commitTime ?? versions.next()
    commitTime = version
    return version
  }

  func commitVersion() async throws -> StoreVersion {
    try check("commitVersion")
    return allotted()
  }

  private func check(_ operation: String) throws {
    if hasEnded { throw StoreError.ended(operation) }
    try Task.checkCancellation()
  }

  func get(_ key: [UInt8]) async throws -> [UInt8]? {
    try check("get")
    return tree.get(key)
  }

  func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] {
    try check("get")
    return keys.map { tree.get($0) }
  }

  func scan(
    _ range: KeyRange,
    order: ScanOrder,
    limit: Int?,
    _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    try check("scan")
    return try tree.scan(range, order: order, limit: limit, visit)
  }

  func put(_ value: [UInt8], for key: [UInt8]) async throws {
    try check("put")
    try StoreLimits.check(value, for: key)
    tree.put(value, for: key)
  }

  func delete(_ key: [UInt8]) async throws {
    try check("delete")
    tree.remove(key)
  }

  func deleteRange(_ range: KeyRange) async throws {
    try check("deleteRange")
    tree.remove(range)
  }
}

extension OrderedTree {
  /// Visits entries as a `StoreReader` does.
  fileprivate func scan(
    _ range: KeyRange,
    order: ScanOrder,
    limit: Int?,
    _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) throws -> ScanEnd {
    let limit = limit ?? .max
    guard limit > 0 else { return ScanEnd(visited: 0, rest: range.isEmpty ? nil : range) }
    var visited = 0
    var last: [UInt8] = []
    let isThrough = try scan(range, order: order) { key, value in
      if visited % 64 == 63 { try Task.checkCancellation() }
      visited += 1
      let step = try visit(key.span.bytes, value.span.bytes)
      guard step == .stop || visited == limit else { return .next }
      last = key
      return .stop
    }
    guard !isThrough else { return ScanEnd(visited: visited, rest: nil) }
    let rest = order == .ascending ? range.after(last) : range.before(last)
    return ScanEnd(visited: visited, rest: rest.isEmpty ? nil : rest)
  }
}

extension StoreError {
  static func closed(_ operation: String) -> StoreError {
    StoreError(.closed, operation: operation, message: "The store has been closed.", hint: "Open it again first.")
  }

  static func ended(_ operation: String) -> StoreError {
    StoreError(
      .ended,
      operation: operation,
      message: "The reader or transaction was used after its body had returned.",
      hint: "Use it inside the body only, and await all that the body starts."
    )
  }
}

import VestaDatabaseBackend

/// Rows of an import as the values of merges, in batches; pure.
///
/// A priority belongs to a node that is there: that of a path with children is written in a batch after theirs.
///
/// ```
/// a: priority 1    ->
/// a/b: 2           ->
/// a/c: 3           ->  batch: a/b = 2, a/c = 3
/// d: 4             ->  batch: a/.priority = 1, d = 4
/// ```
struct ImportMachine {
  private let limit: Int
  private let byteLimit: Int
  private var batch: [DatabasePathValue] = []
  private var batchBytes = 0
  /// Priorities whose nodes have all their children in this batch and the ones before it.
  private var late: [DatabasePathValue] = []
  /// Places whose children may still follow, the outer ones first.
  private var open: [(path: DatabasePath, priority: DatabaseLeaf)] = []

  /// - Parameters:
  ///   - rows: The number of values of a batch.
  ///   - bytes: The size of a batch, roughly.
  init(rows: Int, bytes: Int) { (limit, byteLimit) = (max(1, rows), bytes) }

  /// Takes a row.
  ///
  /// - Returns: A batch to write, if one is full.
  mutating func add(_ row: DatabaseRow) -> [DatabasePathValue]? {
    close(above: row.path)
    guard let leaf = row.leaf else {
      if let priority = row.priority { open.append((row.path, priority)) }
      return nil
    }
    batch.append(DatabasePathValue(row.path, DatabaseNode(leaf, priority: row.priority)))
    batchBytes += 64 + 16 * row.path.count
    if case .string(let text) = leaf { batchBytes += text.utf8.count }
    return batch.count >= limit || batchBytes >= byteLimit ? take() : nil
  }

  /// The batches that are left, in their order.
  mutating func finish() -> [[DatabasePathValue]] {
    close(above: nil)
    return [take(), take()].filter { !$0.isEmpty }
  }

  /// Closes the nodes that are not above a path.
  private mutating func close(above path: DatabasePath?) {
    while let last = open.last, path.map({ !last.path.contains($0) || last.path == $0 }) ?? true {
      open.removeLast()
      late.append(
        DatabasePathValue(last.path.appending(DatabasePath([DatabaseKey.priority])), DatabaseNode(last.priority)))
    }
  }

  private mutating func take() -> [DatabasePathValue] {
    defer { (batch, late, batchBytes) = (late, [], 0) }
    return batch
  }
}

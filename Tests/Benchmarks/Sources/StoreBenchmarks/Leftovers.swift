import VestaConcurrency

/// The tables that have been made, to be removed at the end.
enum Leftovers {
  private static let tables = Locked<[StoreTable]>([])

  static func add(_ table: StoreTable) { tables.withLock { $0.append(table) } }

  static func removeAll() async throws {
    let tables = tables.withLock { $0 }
    for table in tables { try await table.remove() }
  }
}

/// Removes the files that the benchmarks have made.
public func removeStoreBenchmarkFiles() async {
  do { try await Leftovers.removeAll() } catch { print("files of the benchmarks are left behind: \(error)") }
}

import VestaBytes
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop

/// Writes the rows of a durable cache, one commit at a time; what comes meanwhile goes into the next one together.
final class CacheWriter: Sendable {
  private struct State {
    var rows: [[UInt8]: [UInt8]?] = [:]
    var waiters: [Completion] = []
    var isWriting = false
  }

  private let open: @Sendable () async throws -> any OrderedStore
  private let prefix: [UInt8]
  private let log: @Sendable (String) -> Void
  private let state = Locked(State())

  init(
    open: @escaping @Sendable () async throws -> any OrderedStore, prefix: [UInt8],
    log: @escaping @Sendable (String) -> Void
  ) {
    self.open = open
    self.prefix = prefix
    self.log = log
  }

  /// Writes rows soon; the latest value of a key counts.
  ///
  /// - Parameter completions: Finished when the rows are durable, or with the store's error.
  func write(_ rows: [CacheRow], completions: [Completion] = []) {
    let begins = state.withLock { state in
      for row in rows { state.rows[prefix + row.key] = .some(row.value) }
      state.waiters += completions
      guard !state.isWriting, !(state.rows.isEmpty && state.waiters.isEmpty) else { return false }
      state.isWriting = true
      return true
    }
    if begins { Task { await run() } }
  }

  /// Waits until everything that was handed over before is durable.
  func flush() async throws {
    let completion = Completion()
    write([], completions: [completion])
    try await completion.wait()
  }

  private func run() async {
    while let (rows, waiters) = take() {
      do {
        if !rows.isEmpty { try await commit(rows) }
        for waiter in waiters { waiter.finish(nil) }
      } catch {
        keep(rows)
        log("The cache cannot be written: \(error)")
        for waiter in waiters { waiter.finish(error) }
        // What could not be written goes along with the next change.
        if stop() { return }
      }
    }
  }

  private func commit(_ rows: [[UInt8]: [UInt8]?]) async throws {
    let sorted = rows.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    try await open().write { transaction in
      for (key, value) in sorted {
        if let value { try await transaction.put(value, for: key) } else { try await transaction.delete(key) }
      }
    }
  }

  private func take() -> ([[UInt8]: [UInt8]?], [Completion])? {
    state.withLock { state in
      guard !(state.rows.isEmpty && state.waiters.isEmpty) else {
        state.isWriting = false
        return nil
      }
      defer { (state.rows, state.waiters) = ([:], []) }
      return (state.rows, state.waiters)
    }
  }

  private func keep(_ rows: [[UInt8]: [UInt8]?]) {
    state.withLock { state in state.rows.merge(rows) { newer, _ in newer } }
  }

  /// Ends after a failure unless somebody waits.
  private func stop() -> Bool {
    state.withLock { state in
      guard state.waiters.isEmpty else { return false }
      state.isWriting = false
      return true
    }
  }

  /// The rows that an earlier client left.
  func load(database: DatabaseName) async throws -> CacheLoader {
    let prefix = prefix
    return try await open().read { reader in
      var loader = CacheLoader(database: database)
      _ = try await reader.scan(KeyRange(prefix: prefix), order: .ascending, limit: nil) { key, value in
        loader.add(key: Array(key.bytes.dropFirst(prefix.count)), value: value.bytes)
        return .next
      }
      return loader
    }
  }

  /// Deletes every row of a client.
  static func clear(_ store: any OrderedStore, prefix: [UInt8]) async throws {
    try await store.write { try await $0.deleteRange(KeyRange(prefix: prefix)) }
  }
}

import Foundation
import VestaConcurrency
import VestaSQLite
import VestaStoreInterop
import VestaStoreInteropCrashTesting

/// The commands of the crash contracts, and tests that need a separate process because they exhaust it.
///
/// Usage: as `CrashWorker`, or `StoreCrashWorker fill <directory> <bytes per file>` or `... scarce <directory> <files>
/// <reads>`; `... hasty <directory> <first number> <tasks>` acknowledges before it commits, as a wrong store does.
enum Worker {
  static func run(_ arguments: [String]) async {
    guard arguments.count > 2 else { exit(64) }
    let numbers = arguments.dropFirst(3).compactMap { Int($0) }
    switch arguments[1] {
    case "fill" where numbers.count == 1:
      await own { try await fill(try await open(arguments[2]), numbers[0], copy: arguments[2] + "/copy") }
    case "scarce" where numbers.count == 2:
      await own { try await readScarcely(try await open(arguments[2]), files: numbers[0], reads: numbers[1]) }
    case "hasty":
      let passed = [arguments[0], "write"] + arguments.dropFirst(2)
      await CrashWorker.run(passed) { directory, _ in HastyStore(try await open(directory)) }
    default:
      await CrashWorker.run(arguments) { directory, clock in
        try await SQLiteStore.open(named: "test", in: directory, options: StoreOptions(clock: clock))
      }
    }
  }

  private static func open(_ directory: String) async throws -> SQLiteStore {
    try await SQLiteStore.open(named: "test", in: directory)
  }

  /// Runs something away from the main actor.
  private static func own(_ work: @escaping @Sendable () async throws -> Void) async {
    do {
      try await Task.detached { try await work() }.value
    } catch {
      say("error \(error)")
      exit(1)
    }
  }

  private static func say(_ line: String) { CrashWorker.say(line) }

  /// Writes until there is no room: acknowledged writes must be there, and the store continue with more room.
  private static func fill(_ store: SQLiteStore, _ limit: Int, copy: String) async throws {
    limitFiles(to: limit)
    var number = 0
    do {
      while true {
        let next = number + 1
        try await store.write { try await Numbered.write(next, in: $0) }
        number = next
      }
    } catch StoreError.Code.diskFull {
      say("full \(number)")
    }
    let last = number
    for checked in 1...max(last, 1) {
      let count = try await store.read { try await Numbered.count(checked, in: $0) }
      guard count == Numbered.keys else { return say("lost \(checked): \(count)") }
    }
    let missing = try await store.read { try await Numbered.count(last + 1, in: $0) }
    guard missing == 0 else { return say("half of \(last + 1): \(missing)") }
    say("sound \(try await store.checkIntegrity().isEmpty)")
    limitFiles(to: limit / 20)
    do { try await store.backup(to: copy) } catch StoreError.Code.diskFull { say("backup full") }
    // With a little more room than before: how much the last commits have left depends on the time.
    limitFiles(to: limit + limit / 10)
    try await store.write { try await $0.delete(Numbered.key(last, 0)) }
    say("done")
  }

  /// Holds many reads open at once with too few files for them.
  private static func readScarcely(_ store: SQLiteStore, files: Int, reads: Int) async throws {
    try await store.put([1], for: [1])
    var limit = rlimit(rlim_cur: rlim_t(files), rlim_max: rlim_t(files))
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let found = try await withThrowingTaskGroup { group in
      for _ in 0..<reads {
        group.addTask {
          try await store.read { reader in
            for _ in 0..<50 { await Task.yield() }
            return try await reader.get([1]) == [1] ? 1 : 0
          }
        }
      }
      return try await group.reduce(0, +)
    }
    say("read \(found)")
    try await store.put([2], for: [1])
    say("done")
  }

  private static func limitFiles(to bytes: Int) {
    // The system then refuses to let a file grow, as a full disk does; the signal it also sends is not wanted.
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    limit.rlim_cur = rlim_t(bytes)
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
  }
}

/// A wrong store: a write returns before its commit, which the second write after it makes.
///
/// So a kill always loses the last two acknowledged writes, in whatever order threads run.
private final class HastyStore: OrderedStore {
  private struct Undone: Error {}
  private typealias Body = @Sendable (any StoreTransaction) async throws -> Void

  private let inner: SQLiteStore
  private let pending = Locked<[Body]>([])

  init(_ inner: SQLiteStore) { self.inner = inner }

  func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    try await inner.read(body)
  }

  func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    let answer = Locked<StoreCommit<Result>?>(nil)
    do {
      try await inner.write { transaction in
        let value = try await body(transaction)
        let version = try await transaction.commitVersion()
        answer.withLock { $0 = StoreCommit(value: value, version: version) }
        throw Undone()
      }
    } catch is Undone {}
    let due = pending.withLock { pending in
      pending.append { _ = try await body($0) }
      return pending.count > 2 ? pending.removeFirst() : nil
    }
    if let due { try await inner.write { try await due($0) } }
    guard let commit = answer.withLock({ $0 }) else { throw CancellationError() }
    return commit
  }

  func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion { try await inner.raiseFloor(to: version) }

  func close() async throws { try await inner.close() }
}

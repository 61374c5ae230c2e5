import Foundation
import VestaStoreInterop
import VestaSQLite

/// Writes numbered transactions until it is killed, or until the disk is full.
///
/// Usage: `StoreCrashWorker write <directory> <first number> <tasks>` or `... fill <directory> <bytes per file>` or
/// `... scarce <directory> <files> <reads>` or `... hold <directory>`. A line with the number follows each transaction that was acknowledged.
enum Worker {
  static func run(_ arguments: [String]) async {
    guard arguments.count > 2 else { exit(64) }
    do {
      // From here on nothing runs on the main actor.
      try await Task.detached { try await start(arguments) }.value
    } catch {
      say("error \(error)")
      exit(1)
    }
  }

  private static func start(_ arguments: [String]) async throws {
    let numbers = arguments.dropFirst(3).compactMap { Int($0) }
    if arguments[1] == "fill", let limit = numbers.first { limitFiles(to: limit) }
    let store = try await SQLiteStore.open(named: "test", in: arguments[2])
    say("ready")
    switch arguments[1] {
    case "write" where numbers.count == 2: try await write(store, from: numbers[0], tasks: numbers[1])
    case "fill": try await fill(store)
    case "scarce" where numbers.count == 2: try await readScarcely(store, files: numbers[0], reads: numbers[1])
    default: _ = readLine()
    }
    try await store.close()
  }

  /// Several tasks, each with the numbers that fall to it; every transaction spans keys all over the store.
  private static func write(_ store: SQLiteStore, from first: Int, tasks: Int) async throws {
    try await withThrowingTaskGroup { group in
      for task in 0..<tasks {
        group.addTask {
          for number in stride(from: first + task, to: Int.max, by: tasks) {
            try await store.write { try await Numbered.write(number, in: $0) }
            say("\(number)")
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Writes until there is no room, and checks that what was acknowledged is there and that the store goes on.
  private static func fill(_ store: SQLiteStore) async throws {
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
    var limit = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t(bytes))
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
  }

  /// One line in one system call, so that a kill leaves no half of it behind.
  private static func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
  }
}

/// A transaction whose parts can be told from those of any other, at keys far from each other.
enum Numbered {
  static let keys = 5

  static func key(_ number: Int, _ part: Int) -> [UInt8] { Array("\(part)/\(number)".utf8) }

  /// Values of all sizes: some in the index, and one in seven beyond it.
  static func value(_ number: Int, _ part: Int) -> [UInt8] {
    let length = (number + part) % 7 == 0 ? 9_000 : 20 + number % 400
    return (0..<length).map { UInt8(truncatingIfNeeded: number &* 31 &+ part &* 7 &+ $0) }
  }

  static func write(_ number: Int, in transaction: any StoreTransaction) async throws {
    for part in 0..<keys { try await transaction.put(value(number, part), for: key(number, part)) }
  }

  /// How many parts of a transaction are there; -1 when one is there with a wrong value.
  static func count(_ number: Int, in reader: any StoreReader) async throws -> Int {
    var count = 0
    for part in 0..<keys {
      guard let found = try await reader.get(key(number, part)) else { continue }
      guard found == value(number, part) else { return -1 }
      count += 1
    }
    return count
  }
}

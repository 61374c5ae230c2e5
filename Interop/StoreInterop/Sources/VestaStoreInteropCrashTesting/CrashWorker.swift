import Foundation
public import VestaStoreInterop

/// The body of the executable that the crash contracts start and kill.
///
/// ```swift
/// // Sources/MyStoreCrashWorker/main.swift
/// await CrashWorker.run(CommandLine.arguments) { directory, clock in
///   try await MyStore.open(named: "test", in: directory, options: StoreOptions(clock: clock))
/// }
/// ```
public enum CrashWorker {
  /// Opens the store as the arguments say, works on it, and says a line for everything that was acknowledged.
  ///
  /// - Parameters:
  ///   - arguments: The arguments of the process: `write <directory> <first number> <tasks>`, `hold <directory>` or
  ///     `raise <directory>`.
  ///   - open: Opens the store of a directory.
  public static func run(
    _ arguments: [String],
    open: @escaping @Sendable (_ directory: String, _ clock: StoreClock) async throws -> any OrderedStore
  ) async {
    guard arguments.count > 2 else { exit(64) }
    do {
      // From here on nothing runs on the main actor.
      try await Task.detached { try await start(arguments, open) }.value
    } catch {
      say("error \(error)")
      exit(1)
    }
  }

  /// Prints one line in one system call, so that a kill leaves no half of it.
  ///
  /// - Parameter line: The line, without its end.
  public static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

  private static func start(
    _ arguments: [String], _ open: (_ directory: String, _ clock: StoreClock) async throws -> any OrderedStore
  ) async throws {
    let numbers = arguments.dropFirst(3).compactMap { Int($0) }
    let store = try await open(arguments[2], .system)
    say("ready")
    switch arguments[1] {
    case "write" where numbers.count == 2: try await write(store, from: numbers[0], tasks: numbers[1])
    case "raise":
      try await store.put([1], for: [1])
      let ahead = StoreClock.system.now.wall + 30_000_000
      say("raised \(try await store.raiseFloor(to: StoreVersion(microseconds: ahead)).microseconds)")
      _ = readLine()
    default: _ = readLine()
    }
    try await store.close()
  }

  /// Several tasks, each with the numbers that fall to it; every transaction spans keys all over the store.
  private static func write(_ store: any OrderedStore, from first: Int, tasks: Int) async throws {
    try await withThrowingTaskGroup { group in
      for task in 0..<tasks {
        group.addTask {
          for number in stride(from: first + task, to: Int.max, by: tasks) {
            let commit = try await store.write { try await Numbered.write(number, in: $0) }
            say("\(number) \(commit.version.microseconds)")
          }
        }
      }
      try await group.waitForAll()
    }
  }
}

/// A transaction whose parts are unlike any other's, at keys far from each other.
public enum Numbered {
  /// How many parts a transaction has.
  public static let keys = 5

  /// The key of a part.
  public static func key(_ number: Int, _ part: Int) -> [UInt8] { Array("\(part)/\(number)".utf8) }

  /// The value of a part; of all sizes, and one in seven large.
  public static func value(_ number: Int, _ part: Int) -> [UInt8] {
    let length = (number + part) % 7 == 0 ? 9_000 : 20 + number % 400
    return (0..<length).map { UInt8(truncatingIfNeeded: number &* 31 &+ part &* 7 &+ $0) }
  }

  /// Puts all parts of a transaction.
  public static func write(_ number: Int, in transaction: any StoreTransaction) async throws {
    for part in 0..<keys { try await transaction.put(value(number, part), for: key(number, part)) }
  }

  /// How many parts of a transaction are there; -1 when one is there with a wrong value.
  public static func count(_ number: Int, in reader: any StoreReader) async throws -> Int {
    var count = 0
    for part in 0..<keys {
      guard let found = try await reader.get(key(number, part)) else { continue }
      guard found == value(number, part) else { return -1 }
      count += 1
    }
    return count
  }
}

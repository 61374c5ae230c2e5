import Foundation
import VestaFirestoreBackend
import VestaFirestoreService
import VestaSQLite
import VestaStoreInterop

/// Commits numbered batches until it is killed.
///
/// Usage: `FirestoreCrashWorker <directory> <round> <first number> <tasks>`. A line with number and version follows
/// each batch that was acknowledged.
enum Worker {
  static func run(_ arguments: [String]) async {
    let numbers = arguments.dropFirst(2).compactMap { Int($0) }
    guard arguments.count == 5, numbers.count == 3 else { exit(64) }
    do {
      // From here on nothing runs on the main actor.
      try await Task.detached {
        try await work(in: arguments[1], round: numbers[0], first: numbers[1], tasks: numbers[2])
      }.value
    } catch {
      say("error \(error)")
      exit(1)
    }
  }

  static func engine(in directory: String) async throws -> FirestoreEngine {
    FirestoreEngine(
      store: try await SQLiteStoreProvider().openStore(named: "firestore", in: directory, options: StoreOptions()))
  }

  /// Several tasks, each with the numbers that fall to it, and one that asks queries, so that indexes are made
  /// at the same time.
  private static func work(in directory: String, round: Int, first: Int, tasks: Int) async throws {
    let engine = try await engine(in: directory)
    say("ready")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<tasks {
        group.addTask {
          var previous: Int?
          for number in stride(from: first + task, to: Int.max, by: tasks) {
            let batch = Batch(number: number, round: round, previous: previous)
            let commit = try await commit(batch, to: engine)
            say("\(number) \(commit.commitTime.microseconds ?? 0)")
            previous = number
            if task == 0, number % 10 == 1 { try await query(engine, round) }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  private static func commit(_ batch: Batch, to engine: FirestoreEngine) async throws -> CommitResponse {
    try await engine.commit(CommitRequest(database: database, writes: batch.writes), context: owner)
  }

  private static func query(_ engine: FirestoreEngine, _ round: Int) async throws {
    for query in Indexed.queries(round) {
      try await engine.runQuery(RunQueryRequest(parent: root, query: query), context: owner) { _ in }
    }
  }

  /// One line in one system call, so that a kill leaves no half of it behind.
  private static func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
  }
}

import Foundation
import VestaConcurrency
import VestaCore
import VestaFirestoreBackend
import VestaFirestoreService
import VestaFunctionsService
import VestaSQLite
import VestaServiceInterop

/// Writes numbered documents, each twice, until it is killed, and notes down each event in a file.
///
/// Usage: `EventCrashWorker <directory> <first number>`. It says "ready" once its function is registered, and a number
/// after the commits of each document were acknowledged.
enum Worker {
  static let database = "projects/crash/databases/(default)"

  static func run(_ arguments: [String]) async {
    guard arguments.count == 3, let first = Int(arguments[2]) else { exit(64) }
    do {
      // From here on nothing runs on the main actor.
      try await Task.detached { try await write(in: arguments[1], from: first) }.value
    } catch {
      say("error \(error)")
      exit(1)
    }
  }

  /// Takes over soon from a process that was killed.
  enum ShortLease: Library {
    static let name = "crash-options"

    static func components() -> [Component] {
      [
        Component(FunctionsServiceOptions.self, caching: .shared) { _ in
          var options = FunctionsServiceOptions()
          options.eventLease = .milliseconds(150)
          return options
        }
      ]
    }
  }

  /// An app on SQLite in a directory.
  static func app(in directory: String) throws -> VestaApp {
    let options = VestaOptions(
      projectID: "crash", backend: .embedded(directory: URL(filePath: directory, directoryHint: .isDirectory)))
    let libraries: [any Library.Type] = [
      FirestoreServiceLibrary.self, FunctionsServiceLibrary.self, SQLiteLibrary.self, ShortLease.self,
    ]
    return try VestaApp.configure(name: "worker", options: options, libraries: libraries)
  }

  /// Registers a function that appends `path round id` to a file, in one system call.
  static func register(_ app: VestaApp, ledger path: String) throws {
    if !FileManager.default.fileExists(atPath: path) { _ = FileManager.default.createFile(atPath: path, contents: nil) }
    let file = Locked(try FileHandle(forWritingTo: URL(filePath: path)))
    try FunctionRegistry.registry(for: app).onDocumentWritten("ledger", document: "n/{number}") { event in
      let round = event.data.after?.get("round") as? Int ?? 0
      let line = Data("\(event.params["number"] ?? "?") \(round) \(event.id)\n".utf8)
      try file.withLock { file in
        try file.seekToEnd()
        try file.write(contentsOf: line)
      }
    }
  }

  static func set(_ backend: any FirestoreBackend, _ number: Int, round: Int) async throws {
    let fields: MapValue = ["round": .integer(Int64(round)), "text": .string("document \(number)")]
    let document = Document(name: "\(database)/documents/n/\(number)", fields: fields)
    let request = CommitRequest(database: database, writes: [.update(document)])
    _ = try await backend.commit(request, context: CallContext(caller: .owner))
  }

  private static func write(in directory: String, from first: Int) async throws {
    let app = try app(in: directory)
    try register(app, ledger: directory + "/ledger")
    let backend = try app.container.require((any FirestoreBackend).self)
    say("ready")
    for number in first... {
      try await set(backend, number, round: 1)
      try await set(backend, number, round: 2)
      say("\(number)")
    }
  }

  /// One line in one system call, so that a kill leaves no half of it behind.
  private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}

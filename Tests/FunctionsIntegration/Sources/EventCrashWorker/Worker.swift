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
///
/// `EventCrashWorker <directory> step <step> before|after` changes documents whose function succeeds, fails once, or
/// always fails, and kills itself at a step of their delivery.
enum Worker {
  static let database = "projects/crash/databases/(default)"

  static func run(_ arguments: [String]) async {
    if arguments.count == 5, let death = Death(arguments[3...]) { return await die(at: death, in: arguments[1]) }
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
  static func app(in directory: String, name: String = "worker") throws -> VestaApp {
    let options = VestaOptions(
      projectID: "crash", backend: .embedded(directory: URL(filePath: directory, directoryHint: .isDirectory)))
    let libraries: [any Library.Type] = [
      FirestoreServiceLibrary.self, FunctionsServiceLibrary.self, DeadlyStores.self, ShortLease.self,
    ]
    return try VestaApp.configure(name: name, options: options, libraries: libraries)
  }

  /// Registers a function that appends `path round id` to a file, in one system call, and says so.
  static func register(
    _ app: VestaApp, ledger path: String,
    heard: @escaping @Sendable (_ number: String, _ round: Int) -> Void = { _, _ in }
  ) throws {
    if !FileManager.default.fileExists(atPath: path) { _ = FileManager.default.createFile(atPath: path, contents: nil) }
    let file = Locked(try FileHandle(forWritingTo: URL(filePath: path)))
    try FunctionRegistry.registry(for: app).onDocumentWritten("ledger", document: "n/{number}") { event in
      let round = event.data.after?.get("round") as? Int ?? 0
      let line = Data("\(event.params["number"] ?? "?") \(round) \(event.id)\n".utf8)
      try file.withLock { file in
        try file.seekToEnd()
        try file.write(contentsOf: line)
      }
      heard(event.params["number"] ?? "?", round)
    }
  }

  static func set(_ backend: any FirestoreBackend, _ number: Int, round: Int) async throws {
    try await set(backend, "\(number)", round: round)
  }

  static func set(_ backend: any FirestoreBackend, _ name: String, round: Int) async throws {
    let fields: MapValue = ["round": .integer(Int64(round)), "text": .string("document \(name)")]
    let document = Document(name: "\(database)/documents/n/\(name)", fields: fields)
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

  // MARK: Killed at a step

  /// The documents of the steps: their function succeeds, fails at its first attempt, or always fails.
  static let kinds = ["good", "flaky", "bad"]

  private static func die(at death: Death, in directory: String) async {
    Death.chosen.withLock { $0 = death }
    do {
      try await Task.detached {
        let app = try app(in: directory, name: "steps")
        try registerSteps(app, ledger: directory + "/ledger", death)
        let backend = try app.container.require((any FirestoreBackend).self)
        for round in 1...2 {
          for kind in kinds {
            try await set(backend, kind, round: round)
            say("wrote \(kind) \(round)")
          }
        }
        // Until the step is reached.
        while true { try await Task.sleep(for: .seconds(3600)) }
      }.value
    } catch {
      say("error \(error)")
      exit(1)
    }
  }

  /// Registers a function that notes down each attempt, and fails as the document says.
  static func registerSteps(_ app: VestaApp, ledger path: String, _ death: Death? = nil) throws {
    if !FileManager.default.fileExists(atPath: path) { _ = FileManager.default.createFile(atPath: path, contents: nil) }
    let ledger = Locked(path)
    var options = EventOptions()
    options.retryDelay = .milliseconds(1)
    options.maximumAttempts = 3
    let registry = try FunctionRegistry.registry(for: app)
    try registry.onDocumentWritten("steps", document: "n/{kind}", options: options) { event in
      if death?.step == .run, death?.isAfter == false { death?.come() }
      let kind = event.params["kind"] ?? "?"
      let round = event.data.after?.get("round") as? Int ?? 0
      let line = "\(kind) \(round) \(event.id)"
      let isFirst = try ledger.withLock { path in
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data("\(line)\n".utf8))
        try file.close()
        return !text.split(separator: "\n").contains { $0 == line }
      }
      if death?.step == .run, death?.isAfter == true { death?.come() }
      if kind == "bad" || kind == "flaky" && isFirst { throw Refused() }
    }
  }

  struct Refused: Error {}

  /// One line in one system call, so that a kill leaves no half of it behind.
  static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}

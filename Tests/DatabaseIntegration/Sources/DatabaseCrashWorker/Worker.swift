import Dispatch
import Foundation
import VestaConcurrency
@_spi(VestaTesting) import VestaCore
import VestaDatabase
import VestaDatabaseBackend
import VestaDatabaseEndpoints
import VestaDatabaseRemote
import VestaDatabaseService
import VestaSQLite
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// The processes that the crash tests kill.
///
/// - `both <directory> <first number>`: a client and its engine. It says "registered" once the engine has accepted the
///   write for the end of this client, and `ack N` after each write that was acknowledged.
/// - `client <directory> <first number>`: the same client, whose engine is at the other end of its standard input and
///   output. It writes on without waiting for answers.
/// - `settle <directory> <mark>`: the client once more: sends what the one before has left, says "done" and ends.
/// - `engine <directory>`: an engine for clients at the other end of its standard input and output.
enum Worker {
  static func run(_ arguments: [String]) async {
    guard arguments.count > 2 else { exit(64) }
    do {
      // From here on nothing runs on the main actor.
      try await Task.detached {
        let number = arguments.count > 3 ? Int(arguments[3]) ?? 1 : 1
        switch arguments[1] {
        case "both": try await both(in: arguments[2], from: number)
        case "client": try await client(in: arguments[2], from: number)
        case "settle": try await settle(in: arguments[2], mark: number)
        case "engine": try await engine(in: arguments[2])
        default: exit(64)
        }
      }.value
    } catch {
      say("error \(error)")
      exit(1)
    }
  }

  /// An app on SQLite in a directory; with `VESTA_BACKEND=wire` its client reaches the engine over the wire.
  static func app(in directory: String, name: String) throws -> VestaApp {
    let app = try app(
      in: directory, name: name, [DatabaseLibrary.self, DatabaseServiceLibrary.self, SQLiteLibrary.self])
    guard TestBackend.current == .wire else { return app }
    let host = FakeEndpointHost(project: "crash")
    host.add((any DatabaseBackend).self, try app.container.require((any DatabaseBackend).self))
    let remote: any DatabaseBackend = DatabaseRemote(on: try host.service(of: DatabaseEndpoints()))
    app.container.override((any DatabaseBackend).self, with: remote)
    return app
  }

  /// An app on SQLite in a directory whose engine is elsewhere.
  static func app(in directory: String, name: String, backend: any DatabaseBackend) throws -> VestaApp {
    ElsewhereLibrary.backends.withLock { $0[name] = backend }
    return try app(in: directory, name: name, [DatabaseLibrary.self, ElsewhereLibrary.self, SQLiteLibrary.self])
  }

  private static func app(
    in directory: String, name: String, _ libraries: [any Library.Type]
  ) throws -> VestaApp {
    let options = VestaOptions(
      projectID: "crash", backend: .embedded(directory: URL(filePath: directory, directoryHint: .isDirectory)))
    options.callbackQueue = DispatchQueue(label: "callbacks")
    return try VestaApp.configure(name: name, options: options, libraries: libraries)
  }

  // MARK: Client and engine in one process

  private static func both(in directory: String, from first: Int) async throws {
    let database = Database.database(app: try app(in: directory, name: "worker"))
    database.isPersistenceEnabled = true
    let root = database.reference()
    try await root.onDisconnectUpdateChildValues(["ends": ServerValue.increment(1)])
    say("registered")
    for number in first... {
      try await root.updateChildValues(values(number))
      say("ack \(number)")
    }
  }

  /// The values of one write, far from each other, and the same for all.
  static func values(_ number: Int) -> [String: Any] {
    ["n/\(number)": number, "twin/\(number)": ["value": number], "last": number]
  }

  // MARK: A client alone

  private static func client(in directory: String, from first: Int) async throws {
    let root = try remote(in: directory).reference()
    root.child("last").observe(.value) { _ in }
    root.onDisconnectUpdateChildValues(["ends": ServerValue.increment(1)]) { _, _ in }
    // A few writes under way at any time.
    let turns = DispatchSemaphore(value: 4)
    await aside {
      for number in first... {
        turns.wait()
        root.updateChildValues(values(number)) { error, _ in
          say(error.map { "error \($0)" } ?? "ack \(number)")
          turns.signal()
        }
      }
    }
  }

  private static func settle(in directory: String, mark: Int) async throws {
    // Writes are sent in their order: the remaining ones precede this one.
    try await remote(in: directory).reference(withPath: "mark").setValue(mark)
    say("done")
    exit(0)
  }

  private static func remote(in directory: String) throws -> Database {
    let backend = LineBackend()
    let database = Database.database(app: try app(in: directory, name: "worker", backend: backend))
    database.isPersistenceEnabled = true
    backend.begin { say($0) }
    Thread.detachNewThread {
      while let text = readLine() { if let line = try? Wire.read(text) { backend.take(line) } }
      exit(0)
    }
    return database
  }

  // MARK: An engine alone

  private static func engine(in directory: String) async throws {
    let engine = DatabaseEngine(store: try await SQLiteStore.open(named: "engine", in: directory))
    let service = LineService(engine) { say($0) }
    say("ready")
    await aside {
      while let text = readLine() { if let line = try? Wire.read(text) { service.take(line) } }
    }
  }

  /// Waits for a body that holds a thread up, on a separate thread.
  private static func aside(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        body()
        continuation.resume()
      }
    }
  }

  /// One line in one system call, so that a kill leaves no half of it behind; longer ones can be cut.
  private static func say(_ line: String) { output.withLock { $0.write(Data("\(line)\n".utf8)) } }

  private static let output = Locked(FileHandle.standardOutput)
}

/// Gives an app, by its name, an engine that is elsewhere.
enum ElsewhereLibrary: Library {
  static let name = "elsewhere"
  static let version = VestaVersion()
  static let backends = Locked([String: any DatabaseBackend]())

  static func components() -> [Component] {
    [
      Component((any DatabaseBackend).self) { container, isCacheable in
        isCacheable = true
        let name = container.app?.name ?? ""
        guard let backend = backends.withLock({ $0[name] }) else {
          throw VestaError(.notProvided, "The app '\(name)' has no engine elsewhere.")
        }
        return backend
      }
    ]
  }
}

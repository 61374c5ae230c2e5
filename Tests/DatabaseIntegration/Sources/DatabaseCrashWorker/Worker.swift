import Dispatch
import Foundation
import VestaCore
import VestaDatabase
import VestaDatabaseService
import VestaSQLite

/// Writes numbered values until it is killed.
///
/// Usage: `DatabaseCrashWorker <directory> <first number>`. It says "registered" once the service has accepted what it
/// is to write when this client is gone, and a number after each write that was acknowledged.
enum Worker {
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

  /// An app on SQLite in a directory.
  static func app(in directory: String, name: String) throws -> VestaApp {
    let options = VestaOptions(
      projectID: "crash", backend: .embedded(directory: URL(filePath: directory, directoryHint: .isDirectory)))
    options.callbackQueue = DispatchQueue(label: "callbacks")
    let libraries: [any Library.Type] = [DatabaseLibrary.self, DatabaseServiceLibrary.self, SQLiteLibrary.self]
    return try VestaApp.configure(name: name, options: options, libraries: libraries)
  }

  private static func write(in directory: String, from first: Int) async throws {
    let database = Database.database(app: try app(in: directory, name: "worker"))
    database.isPersistenceEnabled = true
    let root = database.reference()
    try await root.onDisconnectUpdateChildValues(["ends": ServerValue.increment(1)])
    say("registered")
    for number in first... {
      let values: [String: Any] = ["n/\(number)": number, "twin/\(number)": ["value": number]]
      try await root.updateChildValues(values)
      say("\(number)")
    }
  }

  /// One line in one system call, so that a kill leaves no half of it behind.
  private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}

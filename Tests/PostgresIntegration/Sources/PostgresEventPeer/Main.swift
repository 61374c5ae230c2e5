import Foundation
import VestaConcurrency
import VestaCore
import VestaFirestoreBackend
import VestaFirestoreService
import VestaFunctionsService
import VestaPostgres
import VestaServiceInterop

/// One process of an app whose documents are in PostgreSQL and whose function notes down what it is notified of.
///
/// `PostgresEventPeer <space> <ledger> <lease>`, with the length of the lease in milliseconds. A line `write <document>
/// <count>` of its input changes a document `count` times; it says `wrote <document> <number>` after each commit. The
/// function appends `<document> <number> <id> <process>` to the ledger, and says `event <document> <number>`.
@main
enum Main {
  private static let database = "projects/demo/databases/(default)"

  static func main() async {
    let arguments = CommandLine.arguments
    guard arguments.count == 4, let milliseconds = Int(arguments[3]) else { exit(64) }
    lease.withLock { $0 = .milliseconds(milliseconds) }
    // Off the main actor, which nothing here is to wait for.
    await Task.detached { await serve(arguments[1], arguments[2]) }.value
  }

  private static let lease = Locked(Duration.seconds(10))

  /// The length of the lease, and looks at the queue in short intervals.
  private enum PeerOptions: Library {
    static let name = "peer-options"

    static func components() -> [Component] {
      [
        Component(FunctionsServiceOptions.self, caching: .shared) { _ in
          var options = FunctionsServiceOptions()
          options.eventLease = lease.withLock { $0 }
          options.eventPollInterval = .milliseconds(100)
          return options
        },
        Component(PostgresOptions.self, caching: .shared) { _ in
          var options = PostgresOptions()
          options.connections = 4
          return options
        },
      ]
    }
  }

  private static func serve(_ space: String, _ ledger: String) async {
    do {
      let options = VestaOptions(
        projectID: "demo", backend: .embedded(directory: URL(filePath: "/\(space)", directoryHint: .isDirectory)))
      let app = try VestaApp.configure(
        name: "peer", options: options,
        libraries: [
          FirestoreServiceLibrary.self, FunctionsServiceLibrary.self, PostgresLibrary.self, PeerOptions.self,
        ])
      try register(app, ledger)
      let backend = try app.container.require((any FirestoreBackend).self)
      say("ready")
      for await line in lines() {
        let words = line.split(separator: " ").map(String.init)
        guard words.count == 3, words[0] == "write", let count = Int(words[2]) else { continue }
        Task.detached { await write(words[1], count, backend) }
      }
      await app.delete()
    } catch {
      say("failed \(error)")
      exit(1)
    }
  }

  private static func register(_ app: VestaApp, _ ledger: String) throws {
    // Each write is appended, whatever the other process has written in between.
    let number = open(ledger, O_WRONLY | O_APPEND)
    guard number >= 0 else { throw CocoaError(.fileNoSuchFile) }
    let file = FileHandle(fileDescriptor: number)
    try FunctionRegistry.registry(for: app).onDocumentWritten("ledger", document: "n/{id}") { event in
      let number = event.data.after?.get("n") as? Int ?? 0
      try file.write(contentsOf: Data("\(event.subject) \(number) \(event.id) \(getpid())\n".utf8))
      say("event \(event.subject) \(number)")
    }
  }

  private static func write(_ path: String, _ count: Int, _ backend: any FirestoreBackend) async {
    for number in 1...count {
      let document = Document(name: "\(database)/documents/\(path)", fields: ["n": .integer(Int64(number))])
      let request = CommitRequest(database: database, writes: [.update(document)])
      do {
        _ = try await backend.commit(request, context: CallContext(caller: .owner))
        say("wrote \(path) \(number)")
      } catch {
        say("failed \(error)")
      }
    }
  }

  /// The lines of the input, read on a separate thread.
  private static func lines() -> AsyncStream<String> {
    let (stream, continuation) = AsyncStream.makeStream(of: String.self)
    Thread.detachNewThread {
      while let line = readLine() { continuation.yield(line) }
      continuation.finish()
    }
    return stream
  }

  /// Says a line in one system call, so that a kill leaves no half of it.
  private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}

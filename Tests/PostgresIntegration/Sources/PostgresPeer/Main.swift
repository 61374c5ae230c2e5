import Foundation
import VestaAuthService
import VestaCrypto
import VestaFirestoreService
import VestaPostgres
import VestaStoreInterop

/// One process of an app whose stores are in PostgreSQL: it has the engines of Auth and Firestore, does what the lines
/// of its input ask for, one task for each, and says how each of them ended.
///
/// `PostgresPeer <space>`; the connection string is `VESTA_POSTGRES_URL`.
@main
enum Main {
  static func main() async {
    guard CommandLine.arguments.count > 1 else { exit(64) }
    // Off the main actor, which nothing here is to wait for.
    await Task.detached { await serve(space: CommandLine.arguments[1]) }.value
  }

  private static func serve(space: String) async {
    let peer: Peer
    do {
      peer = try await Peer(space: space)
    } catch {
      say("failed \(error)")
      exit(1)
    }
    say("ready")
    for await line in lines() {
      let words = line.split(separator: " ").map(String.init)
      guard words.count > 1 else { continue }
      Task.detached { await say(words[0] + " " + peer.answer(words[1], Array(words.dropFirst(2)), number: words[0])) }
    }
    await peer.close()
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
}

/// Says a line in one system call, so that a kill leaves no half of it.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

/// Opens a store as every process of the app does.
@Sendable func openStore(_ name: String, in space: String) async throws -> any OrderedStore {
  var options = PostgresOptions()
  options.connections = 4
  return try await PostgresStoreProvider(options: options).openStore(named: name, in: space, options: StoreOptions())
}

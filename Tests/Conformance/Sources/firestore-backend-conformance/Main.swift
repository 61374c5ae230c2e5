import Foundation
import VestaFirestoreService
import VestaMemoryStore
import VestaPostgres
import VestaStoreInterop

/// Runs the suites that are named on the command line, or all that this runner knows.
///
/// Under `Scripts/with-postgres` the documents are in stores in PostgreSQL, otherwise in memory.
@main
enum Main {
  static func main() async {
    // Off the main actor: a backend should not be measured or blocked by it.
    let isFine = await Task.detached { await run(Array(CommandLine.arguments.dropFirst())) }.value
    exit(isFine ? 0 : 1)
  }

  private static func run(_ arguments: [String]) async -> Bool {
    let suite = "firestore-backend-traces"
    guard arguments.isEmpty || arguments.contains(suite) else { return true }
    let root = ProcessInfo.processInfo.environment["VESTA_CONFORMANCE_DIR"] ?? "../shared/conformance"
    let folder = URL(fileURLWithPath: root).appendingPathComponent(suite)
    guard FileManager.default.fileExists(atPath: folder.path) else {
      print("\(suite): 0 passed, 0 failed, 0 skipped (there is no data at \(folder.path))")
      return true
    }
    do {
      let hasServer = ProcessInfo.processInfo.environment["VESTA_POSTGRES_CONTROL"] != nil
      var runner = TraceRunner(suite: suite) { isStrict in
        var options = FirestoreServiceOptions()
        options.requiresDeclaredIndexes = isStrict
        return FirestoreEngine(store: try await store(onServer: hasServer), options: options)
      } closeBackend: { backend in
        try await (backend as? FirestoreEngine)?.close()
      }
      try await runner.run(TraceFile(folder: folder))
      return runner.failed == 0
    } catch {
      print("\(suite): the data cannot be read: \(error)")
      return false
    }
  }

  private static func store(onServer: Bool) async throws -> any OrderedStore {
    if !onServer { return MemoryStore() }
    return try await PostgresStoreProvider()
      .openStore(named: "traces", in: UUID().uuidString, options: StoreOptions(durability: .relaxed))
  }
}

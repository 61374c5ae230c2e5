import Foundation
import VestaFirestoreService
import VestaMemoryStore

/// Runs the suites that are named on the command line, or all that this runner knows.
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
      var runner = TraceRunner(suite: suite) { isStrict in
        var options = FirestoreServiceOptions()
        options.requiresDeclaredIndexes = isStrict
        return FirestoreEngine(store: MemoryStore(), options: options)
      }
      try await runner.run(TraceFile(folder: folder))
      return runner.failed == 0
    } catch {
      print("\(suite): the data cannot be read: \(error)")
      return false
    }
  }
}

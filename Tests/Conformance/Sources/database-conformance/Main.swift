import Foundation

/// Runs the suites that are named on the command line, or all that this runner knows.
@main
enum Main {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let results = [
      run("rtdb-syncpoint", arguments, SyncPointCase.read) { $0.failure() },
      run("rtdb-next-push-id", arguments, KeyNeighborCase.read) { $0.failure() },
    ]
    exit(results.contains(false) ? 1 : 0)
  }

  /// Runs the cases of one suite, and prints its line.
  private static func run<Case>(
    _ suite: String, _ arguments: [String], _ read: (URL) throws -> [(name: String, test: Case)],
    _ failure: (Case) -> String?
  ) -> Bool {
    guard arguments.isEmpty || arguments.contains(suite) else { return true }
    let root = ProcessInfo.processInfo.environment["VESTA_CONFORMANCE_DIR"] ?? "../shared/conformance"
    let folder = URL(filePath: root).appending(path: suite)
    guard FileManager.default.fileExists(atPath: folder.path) else {
      print("\(suite): 0 passed, 0 failed, 0 skipped (there is no data at \(folder.path))")
      return true
    }
    var (passed, failed) = (0, 0)
    do {
      for (name, test) in try read(folder) {
        if let failure = failure(test) {
          print("\(suite): failed: \(name): \(failure)")
          failed += 1
        } else {
          passed += 1
        }
      }
    } catch {
      print("\(suite): the data cannot be read: \(error)")
      failed += 1
    }
    print("\(suite): \(passed) passed, \(failed) failed, 0 skipped")
    return failed == 0
  }
}

/// Why a file of cases cannot be used.
struct UnreadableCase: Error, CustomStringConvertible {
  let description: String
}

/// The JSON files of a folder, in the order of their names.
func jsonFiles(in folder: URL) throws -> [(name: String, content: Any)] {
  try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().filter { $0.hasSuffix(".json") }.map {
    let data = try Data(contentsOf: folder.appending(path: $0))
    return ($0, try JSONSerialization.jsonObject(with: data))
  }
}

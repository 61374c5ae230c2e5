import Foundation
import VestaCrypto
import VestaCryptoInterop
import VestaFirestoreSpecs

/// Runs the Firestore spec tests in memory and in durable mode.
@main
enum Main {
  static func main() async {
    let isFine = await Task.detached {
      let arguments = Array(CommandLine.arguments.dropFirst())
      let specs = await run(arguments)
      return runTraces(arguments) && specs
    }.value
    exit(isFine ? 0 : 1)
  }

  private static func run(_ arguments: [String]) async -> Bool {
    let suite = "firestore-spec"
    guard arguments.isEmpty || arguments.contains(suite) else { return true }
    let root = ProcessInfo.processInfo.environment["VESTA_CONFORMANCE_DIR"] ?? "../shared/conformance"
    let folder = URL(fileURLWithPath: root).appendingPathComponent(suite)
    guard FileManager.default.fileExists(atPath: folder.path) else {
      print("\(suite): 0 passed, 0 failed, 0 skipped (there is no data at \(folder.path))")
      return true
    }
    var isFine = true
    for mode in SpecRunner.Mode.allCases {
      do {
        let crypto = OpenSSLCrypto()
        let report = try SpecRunner(folder: folder) { (try? crypto.digest(.md5, of: $0)) ?? [] }.run(mode)
        for line in report.failures { print(line) }
        print(
          "\(suite) (\(mode.rawValue)): \(report.passed) passed, \(report.failures.count) failed, \(report.skipped) skipped"
        )
        isFine = isFine && report.failures.isEmpty
      } catch {
        print("\(suite) (\(mode.rawValue)): the data cannot be read: \(error)")
        isFine = false
      }
    }
    return isFine
  }

  /// The answers of the cache offline, compared with recordings of the service.
  private static func runTraces(_ arguments: [String]) -> Bool {
    let suite = "firestore-cache-traces"
    guard arguments.isEmpty || arguments.contains(suite) else { return true }
    let root = ProcessInfo.processInfo.environment["VESTA_CONFORMANCE_DIR"] ?? "../shared/conformance"
    let folder = URL(fileURLWithPath: root).appendingPathComponent("firestore-backend-traces")
    guard FileManager.default.fileExists(atPath: folder.path) else {
      print("\(suite): 0 passed, 0 failed, 0 skipped (there is no data at \(folder.path))")
      return true
    }
    do {
      var runner = CacheTraceRunner(folder: folder)
      let report = try runner.run()
      for line in report.failures { print(line) }
      print("\(suite): \(report.passed) passed, \(report.failures.count) failed, \(report.skipped) skipped")
      return report.failures.isEmpty
    } catch {
      print("\(suite): the data cannot be read: \(error)")
      return false
    }
  }
}

import Foundation
import VestaRemoteConfigService

/// A seed, an instance, and the rank of the instance among all.
struct PercentCase: Decodable {
  let seed, randomizationId: String
  let microPercentile: Int?
  let between0and50percent: Bool?

  var isKept: Bool {
    let percentile = Percentile.micro(seed: seed, id: randomizationId)
    if let microPercentile, microPercentile != percentile { return false }
    return between0and50percent.map { $0 == (percentile > 0 && percentile <= 50_000_000) } ?? true
  }
}

struct PercentCases: Decodable { let cases: [PercentCase] }

let suite = "remote-config-percent"
let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.isEmpty || arguments.contains(suite) else { exit(0) }
let root = ProcessInfo.processInfo.environment["VESTA_CONFORMANCE_DIR"] ?? "../shared/conformance"
let folder = URL(filePath: root).appending(path: suite)
let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
guard !files.isEmpty else {
  print("\(suite): 0 passed, 0 failed, 0 skipped (there is no data at \(folder.path))")
  exit(0)
}
var (passed, failed) = (0, 0)
for file in files.sorted(by: { $0.path < $1.path }) where file.pathExtension == "json" {
  do {
    let cases = try JSONDecoder().decode(PercentCases.self, from: Data(contentsOf: file)).cases
    for (index, vector) in cases.enumerated() {
      if vector.isKept {
        passed += 1
      } else {
        failed += 1
        print("\(suite): failed: \(file.lastPathComponent), case \(index)")
      }
    }
  } catch {
    failed += 1
    print("\(suite): \(file.lastPathComponent) cannot be read: \(error)")
  }
}
print("\(suite): \(passed) passed, \(failed) failed, 0 skipped")
exit(failed == 0 ? 0 : 1)

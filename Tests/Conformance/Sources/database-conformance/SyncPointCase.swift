import Foundation
import VestaDatabaseBackend
import VestaDatabaseModel

/// A case of the sync-point specification: steps on a sync tree, and the events that each raises.
struct SyncPointCase {
  let steps: [[String: Any]]
  let base: DatabasePath

  /// Every case twice: at the root, and deep in the tree.
  static func read(_ folder: URL) throws -> [(name: String, test: SyncPointCase)] {
    try jsonFiles(in: folder).flatMap { file, content in
      guard let cases = content as? [[String: Any]] else {
        throw UnreadableCase(description: "\(file) is not a list of cases")
      }
      return try cases.flatMap { fields -> [(String, SyncPointCase)] in
        guard let name = fields["name"] as? String, let steps = fields["steps"] as? [[String: Any]] else {
          throw UnreadableCase(description: "\(file) has a case without a name or steps")
        }
        return ["", "foo/bar/baz"].map { base in
          (
            "\(name) (\(base.isEmpty ? "at the root" : "below \(base)"))",
            SyncPointCase(steps: steps, base: DatabasePath(base))
          )
        }
      }
    }
  }

  /// Why the case fails; `nil` when it passes.
  func failure() -> String? {
    var run = SyncPointRun(base: base)
    for (index, step) in steps.enumerated() {
      do {
        try run.run(step)
      } catch {
        return "step \(index) (\(step["type"] as? String ?? "?")): \(error)"
      }
    }
    return nil
  }
}

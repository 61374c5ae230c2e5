import Checks
import Foundation

/// Reads the repository whose root is the first argument (or the current folder), prints what is broken, and ends with
/// status 1 when something is.
@main
struct Main {
  static func main() {
    let root = CommandLine.arguments.dropFirst().first ?? "."
    let tree = readTree(root)
    guard tree.files["Packages/Core/Package.swift"] != nil else {
      print("\(root) is not the root of the repository: Packages/Core/Package.swift is not there.")
      exit(2)
    }
    let violations = check(tree)
    for violation in violations { print(violation) }
    print("laws: \(tree.files.count) files, \(violations.count) violations")
    exit(violations.isEmpty ? 0 : 1)
  }

  /// Every text file below `root`, without build products and version control.
  private static func readTree(_ root: String) -> Tree {
    let skipped: Set = [".build", ".git", ".swiftpm", "node_modules"]
    var files: [String: String] = [:]
    var folders = [""]
    while let folder = folders.popLast() {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(root)/\(folder)")) ?? []
      for name in names where !skipped.contains(name) {
        let path = folder.isEmpty ? name : "\(folder)/\(name)"
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: "\(root)/\(path)", isDirectory: &isFolder) else { continue }
        if isFolder.boolValue {
          folders.append(path)
        } else if let text = try? String(contentsOfFile: "\(root)/\(path)", encoding: .utf8) {
          files[path] = text
        }
      }
    }
    return Tree(files)
  }
}

import Checks
import Foundation

/// Checks the repository whose root is the first argument, or the current folder.
///
/// Prints what is broken, and ends with status 1 when something is. With `--wrap` it wraps wide comments in place
/// instead, in the whole tree or in the folders that follow the root.
@main
struct Main {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    let root = arguments.first { !$0.hasPrefix("--") } ?? "."
    let tree = readTree(root)
    guard tree.files["Packages/Core/Package.swift"] != nil else {
      print("\(root) is not the root of the repository: Packages/Core/Package.swift is not there.")
      exit(2)
    }
    if arguments.contains("--wrap") {
      return wrap(tree, root, folders: Array(arguments.filter { !$0.hasPrefix("--") }.dropFirst()))
    }
    let violations = check(tree)
    for violation in violations { print(violation) }
    print("laws: \(tree.files.count) files, \(violations.count) violations")
    exit(violations.isEmpty ? 0 : 1)
  }

  private static func wrap(_ tree: Tree, _ root: String, folders: [String]) {
    for (path, text) in tree.files where path.hasSuffix(".swift") {
      guard folders.isEmpty || folders.contains(where: { path.hasPrefix($0) }) else { continue }
      // Writing would put a file in the place of a link.
      guard (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(root)/\(path)")) == nil else { continue }
      let wrapped = wrappingComments(in: text)
      guard wrapped != text else { continue }
      do {
        try wrapped.write(toFile: "\(root)/\(path)", atomically: true, encoding: .utf8)
      } catch {
        print("\(path) could not be written: \(error)")
        exit(2)
      }
    }
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

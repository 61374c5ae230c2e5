import Checks
import Export
import Foundation

/// Exports packages.
///
/// `vesta-export ROOT [--repository] DIR NAME...`; the header of `Scripts/export-package` has the meaning.
@main
struct Main {
  static func main() {
    var arguments = Array(CommandLine.arguments.dropFirst())
    guard let root = arguments.first else { exit(2) }
    arguments.removeFirst()
    let isRepository = arguments.first == "--repository"
    if isRepository { arguments.removeFirst() }
    let tree = manifests(below: root)
    do {
      guard arguments.count >= 2, !arguments[0].hasPrefix("-") else { throw ExportFailure("", isMisuse: true) }
      let target = Target(root: root, directory: arguments[0], isRepository: isRepository)
      try target.check()
      let export = try Export(tree, Array(arguments.dropFirst()))
      for line in isRepository ? try target.writeRepository(export) : try target.writeCopies(export) { print(line) }
    } catch let failure as ExportFailure where failure.isMisuse {
      complain(usage + "NAME is any of: \(Export.known(in: tree).joined(separator: " "))")
      exit(2)
    } catch {
      complain("\(error)")
      exit(1)
    }
  }

  private static let usage = """
    Usage: Scripts/export-package [--repository] DIR NAME...
    DIR is a new or an empty folder, or one that was exported to before.
    With --repository DIR is one package in a git repository, tagged with the version of Vesta.

    """

  private static func complain(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

  /// The manifests of all packages.
  private static func manifests(below root: String) -> Tree {
    var files: [String: String] = [:]
    for room in ["Packages", "Interop"] {
      for name in (try? FileManager.default.contentsOfDirectory(atPath: "\(root)/\(room)")) ?? [] {
        let path = "\(room)/\(name)/Package.swift"
        files[path] = try? String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
      }
    }
    return Tree(files)
  }
}

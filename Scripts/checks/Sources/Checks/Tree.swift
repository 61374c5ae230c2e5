/// The files of a repository as values: paths relative to its root, and their texts.
public struct Tree: Sendable {
  /// Text by path.
  public var files: [String: String]

  /// Makes a tree.
  ///
  /// - Parameter files: Text by path; paths are relative to the root and use `/`.
  public init(_ files: [String: String]) {
    self.files = files
  }

  /// The paths below a folder that end in a suffix, sorted.
  func paths(under folder: String = "", ending suffix: String = "") -> [String] {
    files.keys.filter { $0.hasPrefix(folder) && $0.hasSuffix(suffix) }.sorted()
  }
}

/// Joins a path written in a manifest to the folder of the manifest; `nil` when it leaves the repository.
package func resolve(_ path: String, from folder: String) -> String? {
  guard !path.hasPrefix("/"), !path.hasPrefix("~") else { return nil }
  var parts = folder.split(separator: "/")
  for part in path.split(separator: "/") where part != "." {
    guard part == ".." else {
      parts.append(part)
      continue
    }
    guard parts.popLast() != nil else { return nil }
  }
  return parts.joined(separator: "/")
}

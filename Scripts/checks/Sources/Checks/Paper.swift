/// A Markdown text of the repository, and the files and folders that it mentions.
struct Paper {
  /// A path in backticks, or the target of a link.
  struct Mention {
    let path: String
    let line: Int
    /// Whether it is the target of a link, which is resolved from the folder of the text alone.
    let isLink: Bool
  }

  let path: String
  let mentions: [Mention]
  /// The lines, without code blocks.
  private let prose: [String]

  /// The folder of the text.
  var folder: String { path.split(separator: "/").dropLast().joined(separator: "/") }

  init(path: String, text: String) {
    self.path = path
    var isInFence = false
    prose = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let isFence = line.trimmed.hasPrefix("```")
      if isFence { isInFence.toggle() }
      return isInFence || isFence ? "" : String(line)
    }
    mentions = prose.enumerated().flatMap { index, line in
      Self.quoted(in: line).map { Mention(path: $0, line: index + 1, isLink: false) }
        + Self.links(in: line).map { Mention(path: $0, line: index + 1, isLink: true) }
    }
  }

  /// The lines that have words, without the words in backticks, and their numbers.
  var words: [(number: Int, text: String)] {
    prose.enumerated().compactMap { index, line in
      guard !line.trimmed.isEmpty else { return nil }
      // A symbol in two backticks is code as well.
      let parts = line.replacing("``", with: "`").split(separator: "`", omittingEmptySubsequences: false)
      return (index + 1, parts.indices.filter { $0 % 2 == 0 }.map { String(parts[$0]) }.joined(separator: " x "))
    }
  }

  /// The line of a heading of the second level and the mentions below it; `nil` when there is no such heading.
  func section(_ title: String) -> (line: Int, mentions: [Mention])? {
    guard let start = prose.firstIndex(of: "## " + title) else { return nil }
    let end = prose[(start + 1)...].firstIndex { $0.hasPrefix("## ") } ?? prose.endIndex
    return (start + 1, mentions.filter { $0.line > start && $0.line <= end })
  }

  private static let rooms = [
    "Packages/", "Interop/", "Tests/", "Scripts/", "Sources/", ".github/", ".ci/",
  ]

  /// The words in backticks that are paths: words that begin with a room, and names of files.
  ///
  /// A placeholder is written with angle brackets, an asterisk or an ellipsis.
  private static func quoted(in line: String) -> [String] {
    let parts = line.split(separator: "`", omittingEmptySubsequences: false)
    return parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }.filter { word in
      guard !word.contains(where: { "<>*…$={}() ".contains($0) }) else { return false }
      return rooms.contains(where: word.hasPrefix)
        || [".swift", ".md"].contains { word.hasSuffix($0) && word.count > $0.count }
    }
  }

  private static func links(in line: String) -> [String] {
    line.ranges(of: "](").compactMap { range in
      let rest = line[range.upperBound...]
      guard let end = rest.firstIndex(of: ")") else { return nil }
      let target = rest[..<end].prefix { $0 != "#" }
      return target.isEmpty || target.contains(":") ? nil : String(target)
    }
  }
}

/// The files and folders of a tree, found by their paths and by the ends of those.
struct PathIndex {
  private let packages: Set<String>
  /// The whole paths that end with the words of a shorter one.
  private var paths: [String: [String]] = [:]
  private var all: Set<String> = []

  init(_ tree: Tree) {
    packages = Set(tree.files.keys.filter { $0.hasSuffix("/Package.swift") }.map { String($0.dropLast(14)) })
    for file in tree.files.keys {
      var path = Substring(file)
      while all.insert(String(path)).inserted, let slash = path.lastIndex(of: "/") { path = path[..<slash] }
    }
    for path in all {
      var end = path[...]
      while let slash = end.firstIndex(of: "/") {
        end = end[end.index(after: slash)...]
        paths[String(end), default: []].append(path)
      }
    }
  }

  /// Whether a text mentions a file or a folder that is there.
  ///
  /// A path in backticks begins at the root, at the folder of the text or, in short, anywhere below that folder; in a
  /// text that does not belong to a package, anywhere in the repository.
  func has(_ mention: Paper.Mention, of paper: Paper) -> Bool {
    let path = mention.path.hasSuffix("/") ? String(mention.path.dropLast()) : mention.path
    if let target = resolve(path, from: paper.folder), all.contains(target) { return true }
    if mention.isLink { return false }
    if all.contains(path) { return true }
    let isOfPackage = packages.contains(paper.folder)
    return paths[path, default: []].contains { !isOfPackage || $0.hasPrefix(paper.folder + "/") }
  }
}

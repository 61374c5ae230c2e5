/// The most files of a module that use each other in a cycle, and the most members of a type.
private let (longestCircle, mostMembers) = (7, 60)

/// Files that use each other can only be understood together: of each module few do.
///
/// A file uses another one if it names a type or an alias that only the other declares. The files of a cycle reach each
/// other, directly or over others of the cycle.
@Sendable func circlesStaySmall(_ house: House) -> [Violation] {
  shippedModules(house).flatMap { files -> [Violation] in
    circles(among: files).filter { $0.count > longestCircle }.map { circle in
      let names = circle.map { String($0.split(separator: "/").last ?? "") }.joined(separator: ", ")
      return Violation(
        circle[0], 1, "circle",
        "\(circle.count) files use each other, and \(longestCircle) are allowed: move what most of them use into a "
          + "file without uses of its own (\(names))")
    }
  }
}

/// No type of the house has so many members that a reader loses count, its extensions in the module included.
///
/// The public members of a client's public types do not count: the Firebase SDK has them.
@Sendable func typesStaySmall(_ house: House) -> [Violation] {
  shippedModules(house).flatMap { files -> [Violation] in
    let blocks = files.flatMap { file in file.outline.blocks.map { (path: file.path, block: $0) } }
    let types = Dictionary(grouping: blocks.filter { $0.block.kind != "typealias" }, by: \.block.name)
    return types.values.compactMap { parts in
      let isClient = files[0].isClient && parts.contains { $0.block.kind != "extension" && $0.block.isPublic }
      let count = parts.reduce(0) { $0 + $1.block.otherMembers + (isClient ? 0 : $1.block.publicMembers) }
      guard count > mostMembers, let first = parts.first(where: { $0.block.kind != "extension" }) ?? parts.first else {
        return nil
      }
      return Violation(
        first.path, first.block.line, "members",
        "split \(first.block.name): \(count) members are more than \(mostMembers)")
    }
  }
}

/// A file, as these rules look at it.
private struct ShapedFile {
  let path: String
  let outline: TypeOutline
  /// Capitalized names without a dot before them: a qualified name is of another module, or nested.
  let uses: Set<String>
  /// Whether the file belongs to a client, whose public names are the SDK's.
  let isClient: Bool
}

/// The files of packages of the house that are shipped, by module.
private func shippedModules(_ house: House) -> [[ShapedFile]] {
  let files = house.files.filter { $0.isSource && ($0.isHouse || $0.package.isRoot) }
  return Dictionary(grouping: files) { "\($0.package.folder) \($0.module ?? "")" }.values.map { files in
    files.sorted { $0.path < $1.path }.map { file in
      let role = ModuleRole(module: file.module ?? "", product: file.package.name)
      return ShapedFile(
        path: file.path, outline: TypeOutline(file.source), uses: file.source.typeNames,
        isClient: role == .client && file.package.room == .product)
    }
  }
}

/// The sets of files that use each other, each sorted.
private func circles(among files: [ShapedFile]) -> [[String]] {
  var owners: [String: Set<Int>] = [:]
  for (index, file) in files.enumerated() {
    for block in file.outline.blocks where block.kind != "extension" && !block.isPrivate {
      owners[block.name, default: []].insert(index)
    }
  }
  let only = owners.compactMapValues { $0.count == 1 ? $0.first : nil }
  let uses = files.map { file in Set(file.uses.compactMap { only[$0] }) }
  var users = [Set<Int>](repeating: [], count: files.count)
  for (file, others) in uses.enumerated() { for other in others { users[other].insert(file) } }
  var found: [[String]] = []
  var isTaken = [Bool](repeating: false, count: files.count)
  for file in files.indices where !isTaken[file] {
    let circle = reached(from: file, uses).intersection(reached(from: file, users))
    for member in circle { isTaken[member] = true }
    found.append(circle.map { files[$0].path }.sorted())
  }
  return found
}

private func reached(from start: Int, _ edges: [Set<Int>]) -> Set<Int> {
  var (seen, waiting) = (Set([start]), [start])
  while let next = waiting.popLast() {
    for other in edges[next] where seen.insert(other).inserted { waiting.append(other) }
  }
  return seen
}

extension SourceText {
  /// The words of the code that begin with a capital letter or `_` and follow no dot.
  fileprivate var typeNames: Set<String> {
    var names: Set<String> = []
    for line in code {
      let bytes = Array(line.utf8)
      var (start, end) = (0, 0)
      while start < bytes.count {
        end = start
        while end < bytes.count, bytes[end].isPartOfAName { end += 1 }
        if end > start, bytes[start].beginsATypeName, start == 0 || bytes[start - 1] != UInt8(ascii: ".") {
          names.insert(String(decoding: bytes[start..<end], as: UTF8.self))
        }
        start = end + 1
      }
    }
    return names
  }
}

extension UInt8 {
  fileprivate var isPartOfAName: Bool {
    self | 32 &- 97 < 26 || self &- 48 < 10 || self == UInt8(ascii: "_") || self > 127
  }

  fileprivate var beginsATypeName: Bool { self &- 65 < 26 || self == UInt8(ascii: "_") }
}

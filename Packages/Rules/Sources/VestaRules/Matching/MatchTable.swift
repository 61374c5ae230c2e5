import VestaBytes

/// The segments of the path that each segment of a match stands for.
struct MatchBinding: Sendable {
  /// The number of the match.
  let match: Int
  /// The numbers of segments that the globs took, first glob first.
  let globs: GlobLengths

  enum GlobLengths: Sendable {
    case none
    case one(Int)
    case many([Int])

    subscript(index: Int) -> Int {
      switch self {
      case .none: 0
      case .one(let length): length
      case .many(let lengths): lengths[index]
      }
    }
  }
}

/// The matches that apply to a path, in the order of writing; one alone costs no list.
struct MatchBindings {
  private var first: MatchBinding?
  private var rest: [MatchBinding] = []

  var count: Int { first == nil ? 0 : 1 + rest.count }

  subscript(index: Int) -> MatchBinding? {
    if index == 0 { return first }
    return index <= rest.count ? rest[index - 1] : nil
  }

  mutating func append(_ binding: MatchBinding) {
    if first == nil { first = binding } else { rest.append(binding) }
  }

  mutating func sort() {
    guard let first, !rest.isEmpty else { return }
    let sorted = ([first] + rest).sorted { $0.match < $1.match }
    (self.first, rest) = (sorted[0], Array(sorted.dropFirst()))
  }
}

/// Finds the matches that apply to a path.
///
/// Matches are found through their first segments, so that a thousand siblings cost about as much as one. The tree of
/// the segments lies in flat lists of plain numbers: a step down costs no reference count.
struct MatchTable: Sendable {
  struct Node: Sendable {
    /// The literal segments; of more than a few they are looked up instead.
    var literals: Range<Int32> = 0..<0
    var capture: Int32 = -1
    /// The matches that end here.
    var ends: Range<Int32> = 0..<0
    /// The matches that have a glob here.
    var globs: Range<Int32> = 0..<0

    /// The number of literals up to which comparing is faster than hashing.
    static let few = 4
  }

  /// A literal segment: its bytes among the bytes of all, and where it leads to.
  struct Literal: Sendable {
    let bytes: Range<Int>
    let next: Int32
  }

  private struct LookedUp: Sendable, Hashable {
    let node: Int32
    let text: UTF8String
  }

  let matches: [CompiledMatch]
  let nodes: [Node]
  let literals: [Literal]
  let bytes: [UInt8]
  let numbers: [Int32]
  private let lookedUp: [LookedUp: Int32]
  /// Whether a glob takes no segment at all, as in version 2.
  private let globMayBeEmpty: Bool

  init(_ matches: [CompiledMatch], version: Int) {
    self.matches = matches
    globMayBeEmpty = version >= 2
    var tree = MatchTree()
    for (index, match) in matches.enumerated() { tree.insert(Int32(index), match.segments) }
    var (nodes, literals, bytes, numbers) = ([Node](), [Literal](), [UInt8](), [Int32]())
    var lookedUp: [LookedUp: Int32] = [:]
    func range(_ list: [Int32]) -> Range<Int32> {
      numbers += list
      return Int32(numbers.count - list.count)..<Int32(numbers.count)
    }
    for (number, branch) in tree.branches.enumerated() {
      let first = Int32(literals.count)
      for (text, next) in branch.texts {
        let start = bytes.count
        bytes += Array(text.utf8)
        literals.append(Literal(bytes: start..<bytes.count, next: next))
        guard branch.texts.count > Node.few else { continue }
        lookedUp[LookedUp(node: Int32(number), text: UTF8String(text))] = next
      }
      nodes.append(
        Node(
          literals: first..<Int32(literals.count), capture: branch.capture ?? -1, ends: range(branch.ends),
          globs: range(branch.globs)))
    }
    (self.nodes, self.literals, self.bytes) = (nodes, literals, bytes)
    (self.numbers, self.lookedUp) = (numbers, lookedUp)
  }

  private func literal(below node: Int32, _ position: Int, _ path: MatchedPath) -> Int32? {
    let range = nodes[Int(node)].literals
    if range.count > Node.few {
      return path.name(at: position).flatMap { lookedUp[LookedUp(node: node, text: UTF8String($0))] }
    }
    for index in range where path.isEqual(bytes, literals[Int(index)].bytes, at: position) {
      return literals[Int(index)].next
    }
    return nil
  }

  /// The matches that apply to a path, in the order of writing.
  func bindings(of path: MatchedPath) -> MatchBindings {
    var found = MatchBindings()
    collect(0, 0, path, &found)
    found.sort()
    return found
  }

  private func collect(_ node: Int32, _ position: Int, _ path: MatchedPath, _ found: inout MatchBindings) {
    for index in nodes[Int(node)].globs {
      let match = Int(numbers[Int(index)])
      if let globs = globs(of: matches[match], from: position, path) {
        found.append(MatchBinding(match: match, globs: globs))
      }
    }
    guard position < path.count else {
      for index in nodes[Int(node)].ends {
        found.append(MatchBinding(match: Int(numbers[Int(index)]), globs: .none))
      }
      return
    }
    if let next = literal(below: node, position, path) { collect(next, position + 1, path, &found) }
    let capture = nodes[Int(node)].capture
    if capture >= 0, !path.isGap(at: position) { collect(capture, position + 1, path, &found) }
  }

  /// The lengths of the globs with which a match covers a path whose first segments are matched.
  private func globs(of match: CompiledMatch, from start: Int, _ path: MatchedPath) -> MatchBinding.GlobLengths? {
    let rest = match.segments[start...]
    let minimum = globMayBeEmpty ? 0 : 1
    // In version 1 a glob is the last segment of its path.
    if !globMayBeEmpty, rest.count > 1 { return nil }
    if match.globCount == 1 {
      let length = path.count - (match.segments.count - 1)
      guard length >= minimum else { return nil }
      for (offset, segment) in rest.dropFirst().enumerated() {
        guard path.matches(segment, at: start + length + offset) else { return nil }
      }
      return .one(length)
    }
    return severalGlobs(Array(rest), path, from: start)
  }

  /// Each glob takes as little as it can.
  ///
  /// The table of what cannot be reached keeps the search to segments times segments.
  private func severalGlobs(
    _ pattern: [MatchSegment], _ path: MatchedPath, from start: Int
  ) -> MatchBinding.GlobLengths? {
    let count = path.count - start
    var failed: Set<Int> = []
    var lengths: [Int] = []
    func search(_ at: Int, _ position: Int) -> Bool {
      if at == pattern.count { return position == count }
      let key = at * (count + 1) + position
      guard !failed.contains(key) else { return false }
      if pattern[at] == .glob {
        lengths.append(0)
        for length in 0...(count - position) {
          lengths[lengths.count - 1] = length
          let depth = lengths.count
          if search(at + 1, position + length) { return true }
          lengths.removeLast(lengths.count - depth)
        }
        lengths.removeLast()
      } else if position < count, path.matches(pattern[at], at: start + position), search(at + 1, position + 1) {
        return true
      }
      failed.insert(key)
      return false
    }
    return search(0, 0) ? .many(lengths) : nil
  }
}

/// The tree of the first segments of matches while it is built.
private struct MatchTree {
  struct Branch {
    /// In the order of writing.
    var texts: [(text: String, next: Int32)] = []
    var known: [UTF8String: Int32] = [:]
    var capture: Int32?
    var ends: [Int32] = []
    var globs: [Int32] = []
  }

  private(set) var branches = [Branch()]

  mutating func insert(_ match: Int32, _ segments: [MatchSegment]) {
    var branch = 0
    for segment in segments {
      switch segment {
      case .glob:
        branches[branch].globs.append(match)
        return
      case .capture: branch = captureBranch(of: branch)
      case .literal(let text): branch = literalBranch(text, of: branch)
      }
    }
    branches[branch].ends.append(match)
  }

  private mutating func captureBranch(of branch: Int) -> Int {
    if let known = branches[branch].capture { return Int(known) }
    let new = branches.count
    branches[branch].capture = Int32(new)
    branches.append(Branch())
    return new
  }

  private mutating func literalBranch(_ text: String, of branch: Int) -> Int {
    if let known = branches[branch].known[UTF8String(text)] { return Int(known) }
    let new = branches.count
    branches[branch].known[UTF8String(text)] = Int32(new)
    branches[branch].texts.append((text, Int32(new)))
    branches.append(Branch())
    return new
  }
}

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

/// Finds the matches that apply to a path.
///
/// Matches are found through their first segments, so that a thousand siblings cost about as much as one.
struct MatchTable: Sendable {
  private struct Node: Sendable {
    /// The literal segments in the order of writing; of more than a few they are looked up instead.
    var texts: [(text: String, next: Int)] = []
    var literals: [UTF8String: Int] = [:]
    var capture: Int?
    /// The matches that end here.
    var ends: [Int] = []
    /// The matches that have a glob here.
    var globs: [Int] = []

    func next(_ text: String) -> Int? {
      if texts.count > Node.few { return literals[UTF8String(text)] }
      for known in texts where UTF8Order.equal(known.text, text) { return known.next }
      return nil
    }

    /// The number of literals up to which comparing is faster than hashing.
    private static let few = 4
  }

  let matches: [CompiledMatch]
  private var nodes = [Node()]
  /// Whether a glob takes no segment at all, as in version 2.
  private let globMayBeEmpty: Bool

  init(_ matches: [CompiledMatch], version: Int) {
    self.matches = matches
    globMayBeEmpty = version >= 2
    for (index, match) in matches.enumerated() { insert(index, match.segments) }
  }

  private mutating func insert(_ index: Int, _ segments: [MatchSegment]) {
    var node = 0
    for segment in segments {
      switch segment {
      case .glob:
        nodes[node].globs.append(index)
        return
      case .capture:
        if nodes[node].capture == nil {
          nodes.append(Node())
          nodes[node].capture = nodes.count - 1
        }
        node = nodes[node].capture ?? node
      case .literal(let text):
        let key = UTF8String(text)
        if nodes[node].literals[key] == nil {
          nodes.append(Node())
          nodes[node].literals[key] = nodes.count - 1
          nodes[node].texts.append((text, nodes.count - 1))
        }
        node = nodes[node].literals[key] ?? node
      }
    }
    nodes[node].ends.append(index)
  }

  /// The matches that apply to a path, in the order of writing.
  func bindings(of path: [PathSegment]) -> [MatchBinding] {
    var found: [MatchBinding] = []
    collect(0, 0, path, &found)
    if found.count > 1 { found.sort { $0.match < $1.match } }
    return found
  }

  private func collect(_ node: Int, _ position: Int, _ path: [PathSegment], _ found: inout [MatchBinding]) {
    for match in nodes[node].globs {
      if let globs = globs(of: matches[match], from: position, path) {
        found.append(MatchBinding(match: match, globs: globs))
      }
    }
    guard position < path.count else {
      for match in nodes[node].ends { found.append(MatchBinding(match: match, globs: .none)) }
      return
    }
    if case .known(let text) = path[position], let next = nodes[node].next(text) {
      collect(next, position + 1, path, &found)
    }
    if !path[position].isGap, let next = nodes[node].capture { collect(next, position + 1, path, &found) }
  }

  /// The lengths of the globs with which a match covers a path whose first segments are matched.
  private func globs(of match: CompiledMatch, from start: Int, _ path: [PathSegment]) -> MatchBinding.GlobLengths? {
    let rest = match.segments[start...]
    let minimum = globMayBeEmpty ? 0 : 1
    // In version 1 a glob is the last segment of its path.
    if !globMayBeEmpty, rest.count > 1 { return nil }
    if match.globCount == 1 {
      let length = path.count - (match.segments.count - 1)
      guard length >= minimum else { return nil }
      for (offset, segment) in rest.dropFirst().enumerated() {
        guard segment.matches(path[start + length + offset]) else { return nil }
      }
      return .one(length)
    }
    return severalGlobs(Array(rest), Array(path[start...]))
  }

  /// Each glob takes as little as it can.
  ///
  /// The table of what cannot be reached keeps the search to segments times segments.
  private func severalGlobs(_ pattern: [MatchSegment], _ path: [PathSegment]) -> MatchBinding.GlobLengths? {
    var failed: Set<Int> = []
    var lengths: [Int] = []
    func search(_ at: Int, _ position: Int) -> Bool {
      if at == pattern.count { return position == path.count }
      let key = at * (path.count + 1) + position
      guard !failed.contains(key) else { return false }
      if pattern[at] == .glob {
        lengths.append(0)
        for length in 0...(path.count - position) {
          lengths[lengths.count - 1] = length
          let depth = lengths.count
          if search(at + 1, position + length) { return true }
          lengths.removeLast(lengths.count - depth)
        }
        lengths.removeLast()
      } else if position < path.count, pattern[at].matches(path[position]), search(at + 1, position + 1) {
        return true
      }
      failed.insert(key)
      return false
    }
    return search(0, 0) ? .many(lengths) : nil
  }
}

/// A segment of the path that a decision is about: of a query some are not known.
enum PathSegment: Sendable {
  case known(String)
  /// Any one segment.
  case any
  /// Any number of segments.
  case gap

  var isGap: Bool {
    if case .gap = self { return true }
    return false
  }
}

extension MatchSegment {
  /// Whether every path with this segment matches.
  func matches(_ segment: PathSegment) -> Bool {
    switch (self, segment) {
    case (.literal(let text), .known(let name)): UTF8Order.equal(text, name)
    case (.literal, _), (_, .gap): false
    default: true
    }
  }
}

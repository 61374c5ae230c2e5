public import VestaBytes

/// A pattern of names of objects, as the parameter `matchGlob` has it.
///
/// | pattern | matches |
/// |---|---|
/// | `*` | any characters without a slash, also none |
/// | `**` | any characters |
/// | `?` | one character that is no slash |
/// | `[ab]`, `[a-z]`, `[!a]` | one character of a set, or one that is not in it |
/// | `{a,b*}` | either of several patterns |
/// | `\*` | the character itself |
///
/// The time of a match grows with the product of the lengths of the pattern and the name.
public struct NamePattern: Sendable, Hashable {
  private indirect enum Part: Sendable, Hashable {
    case scalar(Unicode.Scalar)
    case one
    case many(acrossSlashes: Bool)
    case set([ClosedRange<Unicode.Scalar>], isInverted: Bool)
    case choice([[Part]])
  }

  private let parts: [Part]

  /// Reads a pattern.
  ///
  /// - Throws: `BytesError` with `.malformed` for a bracket or a brace that does not end, and for nested braces;
  ///   `.limitExceeded` for one of more than 1,024 bytes.
  public init(_ text: String) throws(BytesError) {
    guard text.utf8.count <= 1_024 else { throw BytesError(.limitExceeded, "The pattern has more than 1024 bytes.") }
    var rest = text.unicodeScalars[...]
    parts = try Self.parts(&rest, isChoice: false)
  }

  /// Whether a whole name matches.
  public func matches(_ name: String) -> Bool {
    let scalars = Array(name.unicodeScalars)
    return Self.ends(of: parts, in: scalars, from: [0]).contains(scalars.count)
  }

  // MARK: Reading

  private static func parts(_ rest: inout Substring.UnicodeScalarView, isChoice: Bool) throws(BytesError) -> [Part] {
    var parts: [Part] = []
    while let next = rest.first {
      if isChoice, next == "," || next == "}" { return parts }
      rest.removeFirst()
      switch next {
      case "?": parts.append(.one)
      case "*":
        let isDouble = rest.first == "*"
        if isDouble { rest = rest.drop { $0 == "*" } }
        parts.append(.many(acrossSlashes: isDouble))
      case "[": parts.append(try set(&rest))
      case "{" where isChoice: throw BytesError(.malformed, "The pattern has braces in braces.")
      case "{": parts.append(try choice(&rest))
      case "\\": parts.append(.scalar(rest.popFirst() ?? next))
      default: parts.append(.scalar(next))
      }
    }
    return parts
  }

  private static func choice(_ rest: inout Substring.UnicodeScalarView) throws(BytesError) -> Part {
    var choices: [[Part]] = []
    repeat { choices.append(try parts(&rest, isChoice: true)) } while rest.first == "," && rest.popFirst() != nil
    guard rest.popFirst() == "}" else { throw BytesError(.malformed, "The pattern has a brace that does not end.") }
    return .choice(choices)
  }

  private static func set(_ rest: inout Substring.UnicodeScalarView) throws(BytesError) -> Part {
    let isInverted = rest.first == "!" || rest.first == "^"
    if isInverted { rest.removeFirst() }
    var ranges: [ClosedRange<Unicode.Scalar>] = []
    while let low = rest.popFirst() {
      if low == "]", !ranges.isEmpty { return .set(ranges, isInverted: isInverted) }
      guard rest.first == "-", let high = rest.dropFirst().first, high != "]" else {
        ranges.append(low...low)
        continue
      }
      guard low <= high else { throw BytesError(.malformed, "The pattern has a range that ends before it begins.") }
      rest.removeFirst(2)
      ranges.append(low...high)
    }
    throw BytesError(.malformed, "The pattern has a bracket that does not end.")
  }

  // MARK: Matching

  /// The positions, in order, at which a match of the parts can end that begins at one of some positions.
  private static func ends(of parts: [Part], in name: [Unicode.Scalar], from starts: [Int]) -> [Int] {
    var positions = starts
    for part in parts {
      guard !positions.isEmpty else { break }
      positions = ends(of: part, in: name, from: positions)
    }
    return positions
  }

  private static func ends(of part: Part, in name: [Unicode.Scalar], from starts: [Int]) -> [Int] {
    switch part {
    case .scalar(let scalar): next(starts, name) { $0 == scalar }
    case .one: next(starts, name) { $0 != "/" }
    case .set(let ranges, let isInverted):
      next(starts, name) { scalar in
        scalar != "/" && ranges.contains { $0.contains(scalar) } != isInverted
      }
    case .many(let acrossSlashes): reachable(starts, name, acrossSlashes)
    case .choice(let choices):
      choices.reduce(into: Set()) { $0.formUnion(ends(of: $1, in: name, from: starts)) }.sorted()
    }
  }

  /// All positions from the starts on, each up to the next slash unless that counts as any character.
  private static func reachable(_ starts: [Int], _ name: [Unicode.Scalar], _ acrossSlashes: Bool) -> [Int] {
    var positions: [Int] = []
    for start in starts where start > positions.last ?? -1 {
      positions.append(start)
      var index = start
      while index < name.count, acrossSlashes || name[index] != "/" {
        index += 1
        positions.append(index)
      }
    }
    return positions
  }

  private static func next(
    _ starts: [Int], _ name: [Unicode.Scalar], where matches: (Unicode.Scalar) -> Bool
  ) -> [Int] {
    starts.compactMap { $0 < name.count && matches(name[$0]) ? $0 + 1 : nil }
  }
}

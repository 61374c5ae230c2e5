import VestaBytes

/// A pattern of paths, such as `rooms/{room}/messages/{message}`; pure.
///
/// | segment | matches | parameter |
/// |---|---|---|
/// | `rooms` | that segment | |
/// | `*`, `{room}`, `{room=*}` | one segment | `room` |
/// | `**`, `{path=**}` | any number of segments, none too | `path`, joined by slashes |
///
/// Segments are compared by their UTF-8 bytes. A pattern has at most one segment that matches several.
///
/// ```swift
/// let pattern = try EventPattern("rooms/{room}/{rest=**}")
/// pattern.match("rooms/a/messages/7")   // ["room": "a", "rest": "messages/7"]
/// ```
public struct EventPattern: Sendable, Hashable, CustomStringConvertible {
  enum Segment: Sendable, Hashable {
    case exact(UTF8String)
    case one(name: String?)
    case many(name: String?)
  }

  /// The pattern as it was written, without slashes at its ends.
  public let description: String

  let segments: [Segment]
  /// The position of the segment that matches several.
  private let wide: Int?

  /// Parses a pattern.
  ///
  /// - Parameter text: The pattern; a slash at either end is left out.
  /// - Throws: `EventPatternError` with the segment that is wrong.
  public init(_ text: String) throws(EventPatternError) {
    let parts = EventPattern.parts(of: text)
    guard !parts.isEmpty else { throw EventPatternError("The pattern is empty.") }
    var segments: [Segment] = []
    for part in parts { segments.append(try EventPattern.segment(part)) }
    let names = segments.compactMap(\.name)
    guard Set(names).count == names.count else {
      throw EventPatternError("The pattern \"\(text)\" has two parameters of the same name.")
    }
    let wides = segments.indices.filter { segments[$0].isWide }
    guard wides.count <= 1 else {
      throw EventPatternError("The pattern \"\(text)\" has more than one segment that matches several (**).")
    }
    self.segments = segments
    wide = wides.first
    description = parts.joined(separator: "/")
  }

  /// The number of segments; `nil` when the pattern matches paths of any length.
  public var length: Int? { wide == nil ? segments.count : nil }

  /// Whether no segment is a wildcard.
  public var isExact: Bool { segments.allSatisfy { if case .exact = $0 { true } else { false } } }

  /// The parameters of a path.
  ///
  /// - Parameter path: A path without slashes at its ends.
  /// - Returns: The parameters by name; `nil` when the path does not match.
  public func match(_ path: String) -> [String: String]? {
    let parts = EventPattern.parts(of: path)
    guard matches(parts) else { return nil }
    var parameters: [String: String] = [:]
    for (index, segment) in segments.enumerated() {
      switch segment {
      case .exact: break
      case .one(let name?): parameters[name] = String(parts[position(of: index, in: parts.count)])
      case .many(let name?):
        let end = parts.count - (segments.count - index - 1)
        parameters[name] = parts[index..<end].joined(separator: "/")
      case .one(nil), .many(nil): break
      }
    }
    return parameters
  }

  /// Whether a path matches.
  ///
  /// - Parameter parts: The segments of the path.
  public func matches(_ parts: [Substring]) -> Bool {
    guard parts.count == segments.count || (wide != nil && parts.count >= segments.count - 1) else { return false }
    for (index, segment) in segments.enumerated() {
      guard case .exact(let text) = segment else { continue }
      guard UTF8Order.equal(text.string, String(parts[position(of: index, in: parts.count)])) else { return false }
    }
    return true
  }

  /// Whether a path matches the beginning of the pattern or the pattern the beginning of the path: whether a change at
  /// the path can change something that matches.
  ///
  /// - Parameter parts: The segments of the path.
  public func touches(_ parts: [Substring]) -> Bool {
    for (segment, part) in zip(segments, parts) {
      switch segment {
      case .many: return true
      case .one: continue
      case .exact(let text): guard UTF8Order.equal(text.string, String(part)) else { return false }
      }
    }
    return true
  }

  /// The exact segment at a position; `nil` for a wildcard.
  public func exactSegment(at index: Int) -> String? {
    if case .exact(let text) = segments[index] { text.string } else { nil }
  }

  /// The segments of a path; empty ones are left out.
  public static func parts(of path: String) -> [Substring] {
    path.parts(at: "/", omittingEmpty: true)
  }

  private func position(of index: Int, in count: Int) -> Int {
    guard let wide, index > wide else { return index }
    return count - (segments.count - index)
  }

  private static func segment(_ part: Substring) throws(EventPatternError) -> Segment {
    if part == "*" { return .one(name: nil) }
    if part == "**" { return .many(name: nil) }
    guard part.contains("{") || part.contains("}") || part.contains("*") else {
      return .exact(UTF8String(String(part)))
    }
    guard part.first == "{", part.last == "}", part.utf8.count > 2 else {
      throw EventPatternError("The segment \"\(part)\" mixes text and wildcards. Use a parameter such as {id} alone.")
    }
    let body = part.dropFirst().dropLast().split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard let name = body.first, !name.isEmpty, name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) else {
      throw EventPatternError("The parameter \"\(part)\" needs a name of letters, digits and _.")
    }
    switch body.count == 2 ? body[1] : "*" {
    case "*": return .one(name: String(name))
    case "**": return .many(name: String(name))
    default: throw EventPatternError("The parameter \"\(part)\" can be {\(name)}, {\(name)=*} or {\(name)=**}.")
    }
  }
}

extension EventPattern.Segment {
  fileprivate var name: String? {
    switch self {
    case .exact: nil
    case .one(let name), .many(let name): name
    }
  }

  fileprivate var isWide: Bool { if case .many = self { true } else { false } }
}

/// The reason why a pattern is refused.
public struct EventPatternError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The mistake, and what to write instead.
  public let description: String

  init(_ description: String) { self.description = description }
}

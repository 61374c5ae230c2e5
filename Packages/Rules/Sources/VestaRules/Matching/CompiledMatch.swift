/// A segment of a match, with all paths around it.
enum MatchSegment: Sendable, Equatable {
  case literal(String)
  case capture
  case glob

  init(_ syntax: SegmentSyntax) {
    switch syntax {
    case .literal(let text): self = .literal(text)
    case .capture: self = .capture
    case .glob: self = .glob
    }
  }
}

/// A match with `allow` statements: its whole path, and the statements.
final class CompiledMatch: Sendable {
  let segments: [MatchSegment]
  let allows: [CompiledAllow]
  let globCount: Int
  /// For each capture its position among the segments.
  let capturePositions: [Int]
  /// The names of the captures.
  let captureNames: [String]

  init(segments: [MatchSegment], captureNames: [String], allows: [CompiledAllow]) {
    self.segments = segments
    self.captureNames = captureNames
    self.allows = allows
    globCount = segments.count { $0 == .glob }
    capturePositions = segments.indices.filter {
      switch segments[$0] {
      case .literal: false
      case .capture, .glob: true
      }
    }
  }
}

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

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

extension Parser {
  /// The slash and the first segment of a path that begins at the current token.
  func firstSegmentSpan() -> Span {
    var ahead = lexer
    ahead.seek(to: Int(token.span.end))
    let segment = ahead.pathSegment()
    return Span(Int(token.span.start), Int(segment.end))
  }

  /// Reads the path of a match: `/literal`, `/{name}`, `/{name=**}`, again and again.
  mutating func matchPath() throws(Failure) -> [SegmentSyntax] {
    var segments: [SegmentSyntax] = []
    var hasGlob = false
    while token.isSign(.slash) {
      let slash = token.span
      if segments.count == limits.pathSegments {
        issue("A path has at most \(limits.pathSegments) segments.", slash)
        throw Failure()
      }
      lexer.seek(to: Int(slash.end))
      let literal = lexer.pathSegment()
      if literal.start < literal.end {
        segments.append(.literal(source.text(literal)))
        restart(at: Int(literal.end))
        continue
      }
      restart(at: Int(slash.end))
      // The brace touches the slash: otherwise the path has ended, and this is the block.
      guard token.isSign(.leftBrace), token.span.start == slash.end else { throw unexpected() }
      advance()
      let name = try self.name()
      if skip(.assign) {
        try expect(.star)
        try expect(.star)
        if hasGlob {
          issue(
            "Invalid glob match expression. Only one glob match is permitted in a match declaration path.", slash)
        }
        hasGlob = true
        segments.append(.glob(name, at: slash))
      } else {
        segments.append(.capture(name))
      }
      try expect(.rightBrace)
    }
    return segments
  }

  /// Reads a path expression: `/segment`, `/$(expression)`, again and again.
  mutating func pathExpression() throws(Failure) -> SyntaxKind {
    var parts: [PathPart] = []
    while token.isSign(.slash) {
      let slash = token.span
      lexer.seek(to: Int(slash.end))
      if lexer.isAt("$(") {
        restart(at: Int(slash.end))
        advance()
        advance()
        let inner = try expression()
        guard token.isSign(.rightParen) else { throw unexpected() }
        parts.append(.expression(inner))
        let end = Int(token.span.end)
        restart(at: end)
        continue
      }
      let literal = lexer.pathSegment()
      guard literal.start < literal.end else {
        restart(at: Int(slash.end))
        throw unexpected()
      }
      parts.append(.literal(source.text(literal)))
      restart(at: Int(literal.end))
    }
    return .path(parts)
  }
}

extension Parser {
  /// Reads the path of a match: `/literal`, `/{name}`, `/{name=**}`, again and again.
  mutating func matchPath() throws(Failure) -> [SegmentSyntax] {
    var segments: [SegmentSyntax] = []
    while token.isSign(.slash) {
      let slash = token.span
      if segments.count == limits.pathSegments {
        issue("A path has at most \(limits.pathSegments) segments.", slash)
        throw Failure()
      }
      if let literal = literalSegment(after: slash) {
        segments.append(.literal(literal))
        continue
      }
      let capture = try capture(after: slash)
      if capture.isGlob, segments.contains(where: \.isGlob) {
        issue("Invalid glob match expression. Only one glob match is permitted in a match declaration path.", slash)
      }
      segments.append(capture)
      try expect(.rightBrace)
    }
    return segments
  }

  /// Reads `{name` or `{name=**`.
  private mutating func capture(after slash: Span) throws(Failure) -> SegmentSyntax {
    // The brace touches the slash: otherwise the path has ended, and this is the block.
    guard token.isSign(.leftBrace), token.span.start == slash.end else { throw unexpected() }
    advance()
    let name = try self.name()
    guard skip(.assign) else { return .capture(name) }
    try expect(.star)
    try expect(.star)
    return .glob(name, at: slash)
  }

  /// Reads a path expression: `/segment`, `/$(expression)`, again and again.
  mutating func pathExpression() throws(Failure) -> SyntaxKind {
    var parts: [PathPart] = []
    while token.isSign(.slash) {
      let slash = token.span
      lexer.seek(to: Int(slash.end))
      if lexer.isAt("$(") {
        parts.append(.expression(try embeddedExpression(after: slash)))
        continue
      }
      guard let literal = literalSegment(after: slash) else { throw unexpected() }
      parts.append(.literal(literal))
    }
    return .path(parts)
  }

  /// Reads the literal segment after a slash; nil where something else follows it.
  private mutating func literalSegment(after slash: Span) -> String? {
    lexer.seek(to: Int(slash.end))
    let literal = lexer.pathSegment()
    guard literal.start < literal.end else {
      restart(at: Int(slash.end))
      return nil
    }
    restart(at: Int(literal.end))
    return source.text(literal)
  }

  /// Reads `$(expression)`.
  private mutating func embeddedExpression(after slash: Span) throws(Failure) -> NodeID {
    restart(at: Int(slash.end))
    advance()
    advance()
    let inner = try expression()
    guard token.isSign(.rightParen) else { throw unexpected() }
    restart(at: Int(token.span.end))
    return inner
  }
}

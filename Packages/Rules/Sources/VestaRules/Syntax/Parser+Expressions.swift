extension Parser {
  /// An expression and the first token of its text.
  struct Parsed {
    var node: NodeID
    var first: Span
  }

  mutating func expression() throws(Failure) -> NodeID { try conditional().node }

  // MARK: Nodes

  mutating func add(_ kind: SyntaxKind, anchor: Span, first: Span) throws(Failure) -> NodeID {
    let node = tree.nodes.count
    tree.nodes.append(SyntaxNode(kind: kind, anchor: anchor, extent: Span(Int(first.start), previousEnd)))
    let depth = (tree.children(of: node).map { depths[$0] }.max() ?? 0) + 1
    depths.append(depth)
    if depth == limits.expressionDepth {
      issue("The expression is nested too deeply.", anchor)
      throw Failure()
    }
    return node
  }

  private mutating func nested<Result>(
    _ read: (inout Parser) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard nesting < limits.expressionDepth / 2 else {
      issue("The expression is nested too deeply.", token.span)
      throw Failure()
    }
    nesting += 1
    defer { nesting -= 1 }
    return try read(&self)
  }

  // MARK: Operators

  private mutating func conditional() throws(Failure) -> Parsed {
    try nested { parser throws(Failure) in try parser.readConditional() }
  }

  private mutating func readConditional() throws(Failure) -> Parsed {
    let condition = try chain(.or)
    guard skip(.question) else { return condition }
    let yes = try conditional()
    try expect(.colon)
    let no = try conditional()
    let node = try add(
      .conditional(condition.node, yes.node, no.node), anchor: condition.first, first: condition.first)
    return Parsed(node: node, first: condition.first)
  }

  /// Reads operands of `||` or of `&&` into one node.
  private mutating func chain(_ sign: Token.Sign) throws(Failure) -> Parsed {
    let first = sign == .or ? try chain(.and) : try binary(0)
    guard token.isSign(sign) else { return first }
    var operands = [first.node]
    while skip(sign) { operands.append(sign == .or ? try chain(.and).node : try binary(0).node) }
    let node = try add(sign == .or ? .any(operands) : .all(operands), anchor: first.first, first: first.first)
    return Parsed(node: node, first: first.first)
  }

  private mutating func binary(_ level: Int) throws(Failure) -> Parsed {
    if level == 5 { return try unary() }
    if level == 1 { return try membership() }
    var left = try binary(level + 1)
    while let found = token.binaryOperator(level) {
      let anchor = token.span
      advance()
      let right = try binary(level + 1)
      left.node = try add(.binary(found, left.node, right.node), anchor: anchor, first: left.first)
    }
    return left
  }

  private mutating func membership() throws(Failure) -> Parsed {
    var left = try binary(2)
    while true {
      let anchor = token.span
      if isWord("in") {
        advance()
        let right = try binary(2)
        left.node = try add(.binary(.contained, left.node, right.node), anchor: anchor, first: left.first)
      } else if isWord("is") {
        advance()
        let type = try name()
        // `is null` has a meaning here; the emulator refuses it.
        if type.name != "null", !RulesValue.typeNames.contains(type.name) {
          // At the next token, as production says it.
          issue(
            "An unsupported type identifier was used with the 'is' operator. Received \(type.name.prefix(40)). "
              + "Expected one of \(RulesValue.typeNames.joined(separator: ","))", token.span)
        }
        left.node = try add(.isType(left.node, type.name), anchor: anchor, first: left.first)
      } else {
        return left
      }
    }
  }

  private mutating func unary() throws(Failure) -> Parsed {
    let first = token.span
    if skip(.not) {
      let inner = try nested { parser throws(Failure) in try parser.unary() }
      return Parsed(node: try add(.not(inner.node), anchor: first, first: first), first: first)
    }
    if skip(.minus) {
      if token.kind == .integer, token.span.start == first.end {
        // The lowest integer has no positive counterpart, so that the sign is read with the digits.
        return try postfix(try integer(first.through(token.span), first: first))
      }
      let inner = try nested { parser throws(Failure) in try parser.unary() }
      return Parsed(node: try add(.negate(inner.node), anchor: first, first: first), first: first)
    }
    return try postfix(try primary())
  }

  // MARK: Members, indexes, calls

  private mutating func postfix(_ start: Parsed) throws(Failure) -> Parsed {
    var target = start
    while true {
      if skip(.dot) {
        let member = try name()
        let kind: SyntaxKind =
          token.isSign(.leftParen)
          ? .method(target.node, member.name, try arguments()) : .member(target.node, member.name)
        target.node = try add(kind, anchor: target.first, first: target.first)
        tree.nodes[target.node].name = member.span
      } else if skip(.leftBracket) {
        let from = try expression()
        let kind: SyntaxKind =
          skip(.colon) ? .slice(target.node, from, try expression()) : .index(target.node, from)
        try expect(.rightBracket)
        target.node = try add(kind, anchor: target.first, first: target.first)
      } else {
        return target
      }
    }
  }

  private mutating func arguments() throws(Failure) -> [NodeID] {
    try expect(.leftParen)
    var list: [NodeID] = []
    while !token.isSign(.rightParen) {
      list.append(try expression())
      guard skip(.comma) else { break }
      if token.isSign(.rightParen) { throw unexpected() }
    }
    try expect(.rightParen)
    return list
  }

  // MARK: Primaries

  private mutating func primary() throws(Failure) -> Parsed {
    let first = token.span
    switch token.kind {
    case .identifier: return try identifier(first)
    case .integer: return try integer(first, first: first)
    case .float, .string, .bytes:
      guard let value = source.value(of: token) else {
        throw token.kind == .float ? unexpected() : invalidEscape(first)
      }
      return try literal(value, first)
    case .sign(.leftParen):
      advance()
      let inner = try expression()
      try expect(.rightParen)
      return Parsed(node: inner, first: first)
    case .sign(.leftBracket): return try list(first)
    case .sign(.leftBrace): return try map(first)
    case .sign(.slash):
      let path = try pathExpression()
      return Parsed(node: try add(path, anchor: first, first: first), first: first)
    default: throw unexpected()
    }
  }

  private mutating func literal(_ value: RulesValue, _ first: Span) throws(Failure) -> Parsed {
    advance()
    return Parsed(node: try add(.literal(value), anchor: first, first: first), first: first)
  }

  private mutating func integer(_ span: Span, first: Span) throws(Failure) -> Parsed {
    guard let number = Int64(source.text(span)) else {
      issue("The integer \(source.text(span).prefix(40)) is out of range.", span)
      throw Failure()
    }
    return try literal(.int(number), first)
  }

  private mutating func identifier(_ first: Span) throws(Failure) -> Parsed {
    let text = source.text(first)
    switch text {
    case "true": return try literal(.bool(true), first)
    case "false": return try literal(.bool(false), first)
    case "null": return try literal(.null, first)
    case _ where Lexer.keywords.contains(text): throw unexpected()
    default: break
    }
    advance()
    let kind: SyntaxKind = token.isSign(.leftParen) ? .call(text, try arguments()) : .name(text)
    return Parsed(node: try add(kind, anchor: first, first: first), first: first)
  }

  private mutating func list(_ first: Span) throws(Failure) -> Parsed {
    advance()
    var items: [NodeID] = []
    while !token.isSign(.rightBracket) {
      items.append(try expression())
      guard skip(.comma) else { break }
    }
    try expect(.rightBracket)
    return Parsed(node: try add(.list(items), anchor: first, first: first), first: first)
  }

  private mutating func map(_ first: Span) throws(Failure) -> Parsed {
    advance()
    var pairs: [(key: NodeID, value: NodeID)] = []
    while !token.isSign(.rightBrace) {
      let key = try expression()
      try expect(.colon)
      pairs.append((key, try expression()))
      guard skip(.comma) else { break }
    }
    try expect(.rightBrace)
    return Parsed(node: try add(.map(pairs), anchor: first, first: first), first: first)
  }
}

extension Token {
  /// The operator that the token is if it is of a level: 0 equality, 2 order, 3 sums, 4 products.
  fileprivate func binaryOperator(_ level: Int) -> BinaryOperator? {
    guard case .sign(let sign) = kind else { return nil }
    switch (level, sign) {
    case (0, .equal): return .equal
    case (0, .notEqual): return .notEqual
    case (2, .less): return .less
    case (2, .lessOrEqual): return .lessOrEqual
    case (2, .greater): return .greater
    case (2, .greaterOrEqual): return .greaterOrEqual
    case (3, .plus): return .add
    case (3, .minus): return .subtract
    case (4, .star): return .multiply
    case (4, .slash): return .divide
    case (4, .percent): return .remainder
    default: return nil
    }
  }
}

extension Lexer {
  /// The words that cannot be names of values.
  fileprivate static let keywords: Set<String> = [
    "rules_version", "service", "match", "allow", "if", "function", "let", "return", "in", "is",
  ]
}

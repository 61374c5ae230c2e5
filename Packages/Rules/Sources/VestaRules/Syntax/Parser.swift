/// Reads a rules file of Firestore or Storage.
///
/// Every input results in a tree; its errors are in `issues`.
///
/// After an error the parser skips to the end of the statement and continues, so that one call finds all errors.
struct Parser {
  let source: SourceText
  let limits: RulesLimits
  var lexer: Lexer
  var token: Token
  var previousEnd = 0
  var tree = SyntaxTree()
  var issues: [RulesIssue] = []
  /// How many expressions the one being read is inside of.
  var nesting = 0
  var depths: [Int32] = []
  /// The first segment of the path of the last match.
  var lastMatchPath: Span?
  private var reportedEnd = false

  init(_ source: SourceText, limits: RulesLimits) {
    self.source = source
    self.limits = limits
    lexer = Lexer(source)
    token = lexer.next()
  }

  /// Ends the statement that is being read.
  struct Failure: Error {}

  static func parse(_ source: SourceText, limits: RulesLimits) -> (tree: SyntaxTree, issues: [RulesIssue]) {
    var parser = Parser(source, limits: limits)
    parser.file()
    if let open = parser.lexer.openComment { parser.issue("A comment does not end.", open) }
    return (parser.tree, parser.issues)
  }

  // MARK: Tokens

  mutating func advance() {
    previousEnd = Int(token.span.end)
    token = lexer.next()
  }

  /// Returns to the end of the previous token and reads on with the lexer.
  mutating func restart(at offset: Int) {
    lexer.seek(to: offset)
    previousEnd = offset
    token = lexer.next()
  }

  /// Whether the current token is a word, compared by its bytes.
  func isWord(_ word: StaticString) -> Bool {
    guard token.kind == .identifier, Int(token.span.end - token.span.start) == word.utf8CodeUnitCount else {
      return false
    }
    return word.withUTF8Buffer { source.bytes[Int(token.span.start)..<Int(token.span.end)].elementsEqual($0) }
  }

  mutating func skip(_ sign: Token.Sign) -> Bool {
    guard token.isSign(sign) else { return false }
    advance()
    return true
  }

  mutating func expect(_ sign: Token.Sign) throws(Failure) {
    guard skip(sign) else { throw unexpected() }
  }

  /// Reads a semicolon; one that is missing in front of the next statement of a function is reported, and nothing else.
  private mutating func expectSemicolon() throws(Failure) {
    guard isWord("let") || isWord("return") else { return try expect(.semicolon) }
    issue("missing ';' at '\(source.text(token.span))'", token.span)
  }

  mutating func name() throws(Failure) -> NamedSpan {
    guard token.kind == .identifier else { throw unexpected() }
    let name = NamedSpan(name: source.text(token.span), span: token.span)
    advance()
    return name
  }

  // MARK: Issues

  mutating func issue(_ message: String, _ span: Span) {
    issues.append(RulesIssue(.error, message, at: source.position(span)))
  }

  /// Reports the current token; at the end of the file, as production does, also that a match is open.
  mutating func unexpected() -> Failure {
    guard token.kind != .end else {
      reportEnd()
      return Failure()
    }
    let text = token.kind == .unknown ? String(source.text(token.span).prefix(1)) : source.text(token.span)
    issue("Unexpected '\(text)'.", token.span)
    return Failure()
  }

  private mutating func reportEnd() {
    guard !reportedEnd else { return }
    reportedEnd = true
    if let lastMatchPath { issue("Missing 'match' keyword before path.", lastMatchPath) }
    issue("Unexpected '<EOF>'.", token.span)
    if lastMatchPath != nil {
      issue("mismatched input '<EOF>' expecting {'{', '/', PATH_SEGMENT}", token.span)
    }
  }

  /// Skips to the end of a statement: behind the next semicolon, in front of the brace that closes the block, or
  /// behind a block that began in between.
  mutating func skipStatement() {
    var depth = 0
    while token.kind != .end {
      if token.isSign(.leftBrace) {
        depth += 1
      } else if token.isSign(.rightBrace) {
        if depth == 0 { return }
        depth -= 1
        if depth == 0 {
          advance()
          return
        }
      } else if token.isSign(.semicolon), depth == 0 {
        advance()
        return
      }
      advance()
    }
  }

  // MARK: The file

  mutating func file() {
    while token.kind != .end {
      do throws(Failure) {
        if isWord("rules_version") {
          try version()
        } else if isWord("service") {
          try service()
        } else if isWord("function") {
          try function(in: 0)
        } else if isWord("import") {
          importStatement()
        } else {
          throw unexpected()
        }
      } catch {
        skipStatement()
        if token.isSign(.rightBrace) { advance() }
      }
    }
    tree.scopes[0].extent = Span(0, source.bytes.count)
  }

  /// Refuses an import, which the language does not have.
  private mutating func importStatement() {
    advance()
    _ = unexpected()
    while token.kind != .end, !skip(.semicolon) { advance() }
  }

  private mutating func version() throws(Failure) {
    advance()
    try expect(.assign)
    guard token.kind == .string else { throw unexpected() }
    let span = token.span
    let value = source.stringValue(of: token)
    advance()
    _ = skip(.semicolon)
    if tree.version != nil || tree.scopes.count > 1 {
      issue("Unexpected 'rules_version'.", span)
    } else if value == "1" || value == "2" || value == "2+modules" {
      tree.version = value
    } else {
      tree.version = "2"
      issue("Invalid rules version '\(value ?? "")'.", span)
    }
  }

  private mutating func service() throws(Failure) {
    let start = token.span
    advance()
    var serviceName = try name().name
    while skip(.dot) { serviceName += "." + (try name().name) }
    let scope = tree.scopes.count
    tree.scopes.append(ScopeSyntax(kind: .service(serviceName), parent: 0))
    try expect(.leftBrace)
    members(of: scope)
    if !skip(.rightBrace) { _ = unexpected() }
    tree.scopes[scope].extent = Span(Int(start.start), previousEnd)
  }

  // MARK: Scopes

  /// Reads the members of a service or a match, up to the brace that closes it or the end of the file.
  private mutating func members(of scope: Int) {
    while token.kind != .end, !token.isSign(.rightBrace) {
      do throws(Failure) {
        if isWord("function") {
          try function(in: scope)
        } else if isWord("match") {
          try match(in: scope)
        } else if isWord("allow"), case .match = tree.scopes[scope].kind {
          try allow(in: scope)
        } else if token.isSign(.slash) {
          issue("Missing 'match' keyword before path.", lexer.firstSegment(after: token))
          try match(in: scope, keyword: false)
        } else {
          throw unexpected()
        }
      } catch {
        skipStatement()
      }
    }
  }

  private mutating func match(in parent: Int, keyword: Bool = true) throws(Failure) {
    let start = token.span
    if keyword { advance() }
    guard token.isSign(.slash) else { throw unexpected() }
    let scope = tree.scopes.count
    let path = Span(Int(token.span.start), Int(token.span.end))
    lastMatchPath = lexer.firstSegment(after: token)
    let segments = try matchPath()
    let depth = tree.matchDepth(of: parent) + 1
    if depth > limits.matchDepth { issue("Matches are nested deeper than \(limits.matchDepth) levels.", path) }
    var syntax = ScopeSyntax(kind: .match, parent: parent)
    syntax.path = segments
    syntax.pathSpan = Span(Int(path.start), previousEnd)
    tree.scopes.append(syntax)
    tree.scopes[parent].matches.append(scope)
    try expect(.leftBrace)
    if depth > limits.matchDepth + 1 { throw Failure() }
    members(of: scope)
    if !skip(.rightBrace) { _ = unexpected() }
    tree.scopes[scope].extent = Span(Int(start.start), previousEnd)
  }

  private mutating func allow(in scope: Int) throws(Failure) {
    let start = token.span
    advance()
    let methods = try methods()
    let condition = skip(.colon) ? try condition() : nil
    // Deployed rules of well-known apps have no semicolon here.
    _ = skip(.semicolon)
    tree.scopes[scope].allows.append(
      AllowSyntax(methods: methods, condition: condition, extent: Span(Int(start.start), previousEnd)))
  }

  private mutating func methods() throws(Failure) -> [RulesMethod] {
    var methods: [RulesMethod] = []
    repeat {
      guard token.kind == .identifier, let named = RulesMethod.named(source.text(token.span)) else {
        throw unexpected()
      }
      methods += named.filter { !methods.contains($0) }
      advance()
    } while skip(.comma)
    return methods
  }

  private mutating func condition() throws(Failure) -> NodeID {
    guard isWord("if") else { throw unexpected() }
    let keyword = token.span
    advance()
    if token.isSign(.semicolon) {
      issue("Missing conditional expression after 'if'.", keyword)
      throw Failure()
    }
    return try expression()
  }

  private mutating func function(in scope: Int) throws(Failure) {
    let start = token.span
    advance()
    let functionName = try name()
    try expect(.leftParen)
    let parameters = token.isSign(.rightParen) ? [] : try parameters(of: functionName)
    try expect(.rightParen)
    try expect(.leftBrace)
    let lets = try variables(of: functionName)
    let result = try returnStatement()
    try expect(.rightBrace)
    tree.scopes[scope].functions.append(tree.functions.count)
    tree.functions.append(
      FunctionSyntax(
        name: functionName, parameters: parameters, lets: lets, result: result, scope: scope,
        extent: Span(Int(start.start), previousEnd)))
  }

  private mutating func parameters(of function: NamedSpan) throws(Failure) -> [NamedSpan] {
    var parameters: [NamedSpan] = []
    repeat {
      parameters.append(try name())
      if parameters.count > limits.parameters {
        issue("A function has at most \(limits.parameters) parameters.", function.span)
        throw Failure()
      }
    } while skip(.comma)
    return parameters
  }

  private mutating func returnStatement() throws(Failure) -> NodeID {
    guard isWord("return") else { throw unexpected() }
    advance()
    let result = try expression()
    _ = skip(.semicolon)
    return result
  }

  private mutating func variables(of function: NamedSpan) throws(Failure) -> [LetSyntax] {
    var lets: [LetSyntax] = []
    while isWord("let") {
      advance()
      let name = try name()
      try expect(.assign)
      lets.append(LetSyntax(name: name, value: try expression()))
      try expectSemicolon()
      if lets.count > limits.lets {
        issue("A function has at most \(limits.lets) variables.", function.span)
        throw Failure()
      }
    }
    return lets
  }
}

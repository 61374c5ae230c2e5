import VestaBytes

/// Reads an expression of the Realtime Database's rules, and checks its types on the way.
struct DatabaseParser {
  /// The end of reading, after its issue was noted.
  struct Failure: Error {}

  private let bytes: [UInt8]
  private let tuning: RulesTuning
  private var index = 0
  private var tokenStart = 0
  private(set) var issues: [(message: String, at: Int)] = []
  private var nesting = 0
  private var depths: [Int] = []
  private(set) var expression = DatabaseExpression()
  /// The places of the nodes in the text.
  private var extents: [Span] = []
  /// The blanks that were skipped last: an expression ends before them.
  private var blanks = (start: 0, end: 0)
  private var checker: DatabaseTypes

  init(_ bytes: [UInt8], kind: DatabaseRuleKind, captures: [String], tuning: RulesTuning) {
    self.bytes = bytes
    self.tuning = tuning
    checker = DatabaseTypes(kind: kind, captures: captures)
  }

  /// A parsed operand: its node, its type and where it begins.
  struct Operand {
    let node: NodeID
    let type: DatabaseType
    let at: Int
  }

  static func parse(
    _ bytes: [UInt8], kind: DatabaseRuleKind, captures: [String], tuning: RulesTuning
  ) -> (expression: DatabaseExpression, extents: [Span], issues: [(message: String, at: Int)]) {
    var parser = DatabaseParser(bytes, kind: kind, captures: captures, tuning: tuning)
    do throws(Failure) {
      let whole = try parser.conditional()
      parser.skipBlanks()
      guard parser.index == bytes.count else { throw parser.unexpected() }
      if !whole.type.isBoolean {
        parser.note(
          whole.type == .array ? DatabaseTypes.unexpectedArray : "Expression must evaluate to a boolean.", whole.at)
      }
      parser.expression.root = whole.node
    } catch {}
    return (parser.expression, parser.extents, parser.issues)
  }

  // MARK: Characters

  private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

  private mutating func skipBlanks() {
    let start = index
    while let next = byte, DatabaseParser.isBlank(next) { index += 1 }
    if index > start { blanks = (start, index) }
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }

  private mutating func skip(_ sign: StaticString) -> Bool {
    skipBlanks()
    tokenStart = index
    guard sign.withUTF8Buffer({ bytes[index...].starts(with: $0) }) else { return false }
    index += sign.utf8CodeUnitCount
    return true
  }

  private mutating func note(_ message: String, _ at: Int) { issues.append((message, at)) }

  private mutating func unexpected() -> Failure {
    skipBlanks()
    if byte == UInt8(ascii: "="), index + 1 >= bytes.count || bytes[index + 1] != UInt8(ascii: "=") {
      note("Rule expressions may not contain assignments.", index)
    } else {
      note("Parse error.", index)
    }
    return Failure()
  }

  private mutating func nested<Result>(
    _ read: (inout DatabaseParser) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard nesting < tuning.databaseNesting else {
      note("The expression is nested too deeply.", index)
      throw Failure()
    }
    nesting += 1
    defer { nesting -= 1 }
    return try read(&self)
  }

  private mutating func add(_ node: DatabaseSyntax, from start: Int) throws(Failure) -> NodeID {
    // Evaluation recurses as deep as the operands are nested.
    let depth = (node.children.map { depths[$0] }.max() ?? 0) + 1
    guard depth < tuning.databaseDepth else {
      note("The expression is nested too deeply.", index)
      throw Failure()
    }
    depths.append(depth)
    expression.nodes.append(node)
    extents.append(Span(start, index == blanks.end ? blanks.start : index))
    return expression.nodes.count - 1
  }

  /// Adds a node whose type was checked; a message of the check is noted.
  private mutating func add(
    _ node: DatabaseSyntax, _ checked: (type: DatabaseType, message: String?), _ at: Int
  ) throws(Failure) -> Operand {
    if let message = checked.message { note(message, at) }
    return Operand(node: try add(node, from: at), type: checked.message == nil ? checked.type : .error, at: at)
  }

  // MARK: Operators

  private mutating func conditional() throws(Failure) -> Operand {
    try nested { parser throws(Failure) in try parser.readConditional() }
  }

  private mutating func readConditional() throws(Failure) -> Operand {
    let condition = try logical(isAny: true)
    guard skip("?") else { return condition }
    let yes = try conditional()
    guard skip(":") else { throw unexpected() }
    let no = try conditional()
    return try add(
      .conditional(condition.node, yes.node, no.node),
      DatabaseTypes.conditional(condition.type, yes.type, no.type), condition.at)
  }

  /// Reads operands of `||` or of `&&` into one node.
  private mutating func logical(isAny: Bool) throws(Failure) -> Operand {
    let sign: StaticString = isAny ? "||" : "&&"
    let first = isAny ? try logical(isAny: false) : try binary(0)
    var (operands, type) = ([first.node], first.type)
    while skip(sign) {
      let right = isAny ? try logical(isAny: false) : try binary(0)
      let checked = DatabaseTypes.logical("\(sign)", type, right.type)
      if let message = checked.message { note(message, first.at) }
      type = checked.type
      operands.append(right.node)
    }
    guard operands.count > 1 else { return first }
    return Operand(node: try add(isAny ? .any(operands) : .all(operands), from: first.at), type: type, at: first.at)
  }

  private mutating func operatorOf(level: Int) -> DatabaseOperator? {
    switch level {
    case 0: return skip("===") || skip("==") ? .equal : skip("!==") || skip("!=") ? .notEqual : nil
    case 1:
      return skip("<=") ? .lessOrEqual : skip(">=") ? .greaterOrEqual : skip("<") ? .less : skip(">") ? .greater : nil
    case 2: return skip("+") ? .add : skip("-") ? .subtract : nil
    default: return skip("*") ? .multiply : skip("/") ? .divide : skip("%") ? .remainder : nil
    }
  }

  private mutating func binary(_ level: Int) throws(Failure) -> Operand {
    if level == 4 { return try unary() }
    var left = try binary(level + 1)
    while let found = operatorOf(level: level) {
      let right = try binary(level + 1)
      left = try add(
        .binary(found, left.node, right.node), DatabaseTypes.binary(found, left.type, right.type), left.at)
    }
    return left
  }

  private mutating func unary() throws(Failure) -> Operand {
    skipBlanks()
    let start = index
    if byte == UInt8(ascii: "!"), index + 1 >= bytes.count || bytes[index + 1] != UInt8(ascii: "=") {
      index += 1
      let inner = try nested { parser throws(Failure) in try parser.unary() }
      return try add(.not(inner.node), DatabaseTypes.not(inner.type), start)
    }
    if skip("-") {
      let inner = try nested { parser throws(Failure) in try parser.unary() }
      return try add(.negate(inner.node), DatabaseTypes.negate(inner.type), start)
    }
    return try postfix(try primary())
  }

  // MARK: Members and calls

  private mutating func postfix(_ start: Operand) throws(Failure) -> Operand {
    var target = start
    while true {
      if skip(".") {
        skipBlanks()
        target = try member(target, try name())
      } else if skip("[") {
        target = try index(target)
      } else if skip("(") {
        target = try call(target)
      } else {
        return target
      }
    }
  }

  private mutating func index(_ target: Operand) throws(Failure) -> Operand {
    let key = try conditional()
    guard skip("]") else { throw unexpected() }
    if case .string(let name) = expression.nodes[key.node] { return try member(target, name) }
    return try add(.index(target.node, key.node), DatabaseTypes.index(target.type), target.at)
  }

  private mutating func name() throws(Failure) -> String {
    let start = index
    while let next = byte, Lexer.isNamePart(next) || next == UInt8(ascii: "$") { index += 1 }
    guard index > start, !Lexer.isDigit(bytes[start]) else { throw unexpected() }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  private mutating func member(_ target: Operand, _ name: String) throws(Failure) -> Operand {
    try add(.member(target.node, name), DatabaseTypes.member(target.type, name), target.at)
  }

  private mutating func call(_ target: Operand) throws(Failure) -> Operand {
    let (arguments, elements) = try arguments(of: target)
    guard case .method(let method) = target.type, case .member(let object, _) = expression.nodes[target.node] else {
      let message = target.type == .error ? nil : "Type error: Function call on target that is not a function."
      return try add(.null, (.error, message), target.at)
    }
    return try add(
      .call(object, method, arguments.map(\.node)),
      DatabaseTypes.call(method, arguments.map(\.type), elements: elements), target.at)
  }

  /// The arguments of a call, and the types of the elements of an array among them.
  private mutating func arguments(of target: Operand) throws(Failure) -> ([Operand], elements: [DatabaseType]?) {
    var arguments: [Operand] = []
    var elements: [DatabaseType]?
    if skip(")") { return (arguments, elements) }
    repeat {
      skipBlanks()
      // An array is allowed as the argument of one method alone, so that it is no error here yet.
      if target.type == .method(.hasChildren), let (array, types) = try arrayArgument() {
        arguments.append(array)
        elements = types
      } else {
        arguments.append(try conditional())
      }
    } while skip(",")
    guard skip(")") else { throw unexpected() }
    return (arguments, elements)
  }

  // MARK: Primaries

  private mutating func primary() throws(Failure) -> Operand {
    skipBlanks()
    let start = index
    guard let first = byte else { throw unexpected() }
    switch first {
    case UInt8(ascii: "("):
      index += 1
      let inner = try conditional()
      guard skip(")") else { throw unexpected() }
      return Operand(node: inner.node, type: inner.type, at: start)
    case UInt8(ascii: "'"), UInt8(ascii: "\""):
      return Operand(node: try add(.string(try string(first)), from: start), type: .string, at: start)
    case UInt8(ascii: "/"): return try pattern(start)
    case UInt8(ascii: "["):
      let array = try self.array().array
      note(DatabaseTypes.unexpectedArray, start)
      return Operand(node: array.node, type: .error, at: start)
    case _ where Lexer.isDigit(first) || first == UInt8(ascii: "."): return try number(start)
    default: return try variable(start)
    }
  }

  /// An array, also in parentheses, that is a whole argument; nil, and nothing is read, where there is none.
  private mutating func arrayArgument() throws(Failure) -> (array: Operand, types: [DatabaseType])? {
    var ahead = index
    var parentheses = 0
    while ahead < bytes.count, bytes[ahead] == UInt8(ascii: "(") || DatabaseParser.isBlank(bytes[ahead]) {
      if bytes[ahead] == UInt8(ascii: "(") { parentheses += 1 }
      ahead += 1
    }
    guard ahead < bytes.count, bytes[ahead] == UInt8(ascii: "[") else { return nil }
    index = ahead
    let array = try self.array()
    for _ in 0..<parentheses { guard skip(")") else { throw unexpected() } }
    return array
  }

  private mutating func array() throws(Failure) -> (array: Operand, types: [DatabaseType]) {
    skipBlanks()
    let start = index
    index += 1
    var elements: [Operand] = []
    if !skip("]") {
      repeat { elements.append(try conditional()) } while skip(",")
      guard skip("]") else { throw unexpected() }
    }
    return (
      Operand(node: try add(.array(elements.map(\.node)), from: start), type: .array, at: start), elements.map(\.type)
    )
  }

  private mutating func number(_ start: Int) throws(Failure) -> Operand {
    while let next = byte, Lexer.isDigit(next) || next == UInt8(ascii: ".") { index += 1 }
    if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
      index += 1
      if byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") { index += 1 }
      while let next = byte, Lexer.isDigit(next) { index += 1 }
    }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    guard let number = Double(text.hasPrefix(".") ? "0" + text : text.hasSuffix(".") ? text + "0" : text) else {
      index = start
      throw unexpected()
    }
    return Operand(node: try add(.number(number), from: start), type: .number, at: start)
  }

  private mutating func variable(_ start: Int) throws(Failure) -> Operand {
    guard let first = byte, Lexer.isNameStart(first) || first == UInt8(ascii: "$") else { throw unexpected() }
    let name = try name()
    skipBlanks()
    let checked = checker.variable(name)
    if name == "var" { throw unexpected() }
    return try add(checked.node, (checked.type, checked.message), start)
  }

  private mutating func string(_ quote: UInt8) throws(Failure) -> String {
    let start = index
    index += 1
    var text: [UInt8] = []
    while let next = byte {
      index += 1
      if next == quote { return String(decoding: text, as: UTF8.self) }
      guard next == UInt8(ascii: "\\") else {
        text.append(next)
        continue
      }
      guard let kind = byte else { break }
      index += 1
      text += try escaped(kind)
    }
    index = start
    throw unexpected()
  }

  /// The bytes for which an escape sequence stands, after its letter was read.
  private mutating func escaped(_ kind: UInt8) throws(Failure) -> [UInt8] {
    guard kind == UInt8(ascii: "u") else { return [TextEscape.control(kind) ?? kind] }
    guard let character = TextEscape.unicode(bytes[...], at: &index) else { throw unexpected() }
    return character
  }

  private mutating func pattern(_ start: Int) throws(Failure) -> Operand {
    index += 1
    skipPattern()
    guard index < bytes.count else {
      index = start
      throw unexpected()
    }
    let text = String(decoding: bytes[(start + 1)..<index], as: UTF8.self)
    index += 1
    let flagsStart = index
    while let next = byte, Lexer.isNamePart(next) { index += 1 }
    let flags = String(decoding: bytes[flagsStart..<index], as: UTF8.self)
    switch DatabasePatternCheck.pattern(text, flags: flags) {
    case .success(let pattern): return Operand(node: try add(.pattern(pattern), from: start), type: .regex, at: start)
    case .failure(let failure): return try add(.null, (.error, failure.description), start)
    }
  }

  /// Moves to the slash that ends a pattern, or to the end.
  private mutating func skipPattern() {
    var isInClass = false
    while let next = byte, next != UInt8(ascii: "/") || isInClass {
      if next == UInt8(ascii: "[") { isInClass = true }
      if next == UInt8(ascii: "]") { isInClass = false }
      index += next == UInt8(ascii: "\\") ? 2 : 1
    }
  }
}

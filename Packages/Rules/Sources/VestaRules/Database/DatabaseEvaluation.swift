import VestaBytes
import VestaPatterns

/// Evaluates expressions of the Realtime Database's rules.
///
/// An error ends its expression; nothing makes up for it.
struct DatabaseEvaluation {
  enum Value {
    case scalar(DatabaseScalar)
    case snapshot(isAfter: Bool, [String])
    /// A node with children, as a value.
    case object
    /// `auth`, and what is below it.
    case claims(RulesValue)
    case query
  }

  let expression: DatabaseExpression
  let context: DatabaseContext
  /// Where the rule is.
  let path: [String]
  let captures: [String]
  /// Where the outcomes of expressions are noted.
  private let recorder: DatabaseTraceRecorder?
  /// The bytes that strings may still be made of, so that they do not grow with every step.
  private var room: Int
  /// The bytes of texts that may still be searched, so that a long value is not searched over and over.
  private var searched: Int

  init(
    _ expression: DatabaseExpression, _ context: DatabaseContext, path: [String], captures: [String],
    _ tuning: RulesTuning, recorder: DatabaseTraceRecorder?
  ) {
    (room, searched) = (tuning.databaseRoom, tuning.databaseSearch)
    self.expression = expression
    self.context = context
    self.path = path
    self.captures = captures
    self.recorder = recorder
  }

  typealias Failure = DatabaseRulesFailure

  mutating func holds() throws(Failure) -> Bool { try bool(expression.root, "Expression must evaluate to a boolean.") }

  private mutating func bool(_ node: NodeID, _ message: @autoclosure () -> String) throws(Failure) -> Bool {
    guard case .scalar(.bool(let bool)) = try value(node) else { throw Failure(message()) }
    return bool
  }

  private mutating func value(_ node: NodeID) throws(Failure) -> Value {
    guard let recorder else { return try evaluate(node) }
    let record = recorder.began(node)
    do throws(Failure) {
      let value = try evaluate(node)
      recorder.ended(record, .value(value.text(path: path)))
      return value
    } catch {
      recorder.ended(record, .failure(error))
      throw error
    }
  }

  private mutating func evaluate(_ node: NodeID) throws(Failure) -> Value {
    switch expression.nodes[node] {
    case .null: return .scalar(.null)
    case .bool(let bool): return .scalar(.bool(bool))
    case .number(let number): return .scalar(.number(number))
    case .string(let string): return .scalar(.string(string))
    case .auth: return DatabaseEvaluation.claims(context.auth)
    case .now: return .scalar(.number(context.now))
    case .query: return .query
    case .data: return .snapshot(isAfter: false, path)
    case .newData: return .snapshot(isAfter: true, path)
    case .root: return .snapshot(isAfter: false, [])
    case .capture(let number): return .scalar(.string(captures[number]))
    case .not(let inner): return .scalar(.bool(!(try bool(inner, "! only operates on booleans."))))
    case .negate(let inner): return .scalar(.number(-(try number(inner, "-", "left"))))
    case .binary(let found, let left, let right): return .scalar(try binary(found, left, right))
    case .all(let operands): return .scalar(.bool(try chain(operands, "&&", until: false)))
    case .any(let operands): return .scalar(.bool(try chain(operands, "||", until: true)))
    case .conditional(let condition, let yes, let no):
      return try value(try bool(condition, "condition of ? must be boolean.") ? yes : no)
    case .member(let target, let name): return try member(try value(target), name)
    case .index(let target, let key): return try index(target, key)
    case .call(let target, let method, let arguments): return try call(node, target, method, arguments)
    case .array, .pattern: throw Failure(DatabaseTypes.unexpectedArray)
    }
  }

  // MARK: Operators

  private mutating func chain(_ operands: [NodeID], _ sign: String, until decisive: Bool) throws(Failure) -> Bool {
    let missed = context.missed
    for (index, operand) in operands.enumerated() {
      do throws(Failure) {
        let holds = try bool(operand, "\(index == 0 ? "Left" : "Right") operand of \(sign) must be boolean.")
        if holds == decisive, context.missed == missed { return decisive }
      } catch {
        // The data of later operands is read together with the data that this one has missed.
        if context.missed == missed { throw error }
      }
    }
    return !decisive
  }

  private mutating func number(_ node: NodeID, _ sign: String, _ side: String) throws(Failure) -> Double {
    guard case .scalar(.number(let number)) = try value(node) else {
      throw Failure("Invalid \(sign) expression: \(side) operand is not a number.")
    }
    return number
  }

  private mutating func binary(
    _ found: DatabaseOperator, _ left: NodeID, _ right: NodeID
  ) throws(Failure) -> DatabaseScalar {
    switch found {
    case .equal, .notEqual:
      let isEqual = DatabaseEvaluation.equal(try value(left), try value(right))
      return .bool(isEqual == (found == .equal))
    case .less, .lessOrEqual, .greater, .greaterOrEqual: return .bool(try order(found, left, right))
    case .add: return try sum(left, right)
    default:
      let sign = found.rawValue
      let (l, r) = (try number(left, sign, "left"), try number(right, sign, "right"))
      switch found {
      case .subtract: return .number(l - r)
      case .multiply: return .number(l * r)
      case .divide: return .number(r == 0 ? .nan : l / r)
      default: return .number(r == 0 ? .nan : l.truncatingRemainder(dividingBy: r))
      }
    }
  }

  private static func equal(_ left: Value, _ right: Value) -> Bool {
    guard case .scalar(let l) = left, case .scalar(let r) = right else { return false }
    if case .string(let first) = l, case .string(let second) = r { return UTF8Order.equal(first, second) }
    return l == r
  }

  private mutating func order(_ found: DatabaseOperator, _ left: NodeID, _ right: NodeID) throws(Failure) -> Bool {
    let compared: Arithmetic.Order?
    switch (try value(left), try value(right)) {
    case (.scalar(.number(let l)), .scalar(.number(let r))): compared = Arithmetic.order(.float(l), .float(r))
    case (.scalar(.string(let l)), .scalar(.string(let r))): compared = Arithmetic.order(.string(l), .string(r))
    case (.scalar(.number), let other), (.scalar(.string), let other):
      _ = other
      throw Failure("Invalid \(found.rawValue) expression: right operand must be a number or string.")
    default: throw Failure("Invalid \(found.rawValue) expression: left operand must be a number or string.")
    }
    switch (found, compared) {
    case (.less, .before?), (.lessOrEqual, .before?), (.lessOrEqual, .same?): return true
    case (.greater, .after?), (.greaterOrEqual, .after?), (.greaterOrEqual, .same?): return true
    default: return false
    }
  }

  private mutating func sum(_ left: NodeID, _ right: NodeID) throws(Failure) -> DatabaseScalar {
    switch (try value(left), try value(right)) {
    case (.scalar(.number(let l)), .scalar(.number(let r))): return .number(l + r)
    case (.scalar(.string(let l)), .scalar(.string(let r))): return .string(try bounded(l + r))
    case (.scalar(.string(let l)), .scalar(.number(let r))):
      return .string(try bounded(l + JavaScriptNumbers.text(r)))
    case (.scalar(.number(let l)), .scalar(.string(let r))):
      return .string(try bounded(JavaScriptNumbers.text(l) + r))
    case (.scalar(.number), _), (.scalar(.string), _):
      throw Failure("Invalid + expression: right operand is not a number or string.")
    default: throw Failure("Invalid + expression: left operand is not a number or string.")
    }
  }

  private mutating func bounded(_ text: String) throws(Failure) -> String {
    room -= text.utf8.count
    guard room >= 0 else { throw Failure("maximum size of values has been reached") }
    return text
  }

  // MARK: Members

  static func claims(_ value: RulesValue) -> Value {
    switch value {
    case .null: .scalar(.null)
    case .bool(let bool): .scalar(.bool(bool))
    case .int(let number): .scalar(.number(Double(number)))
    case .float(let number): .scalar(.number(number))
    case .string(let text): .scalar(.string(text))
    default: .claims(value)
    }
  }

  private func member(_ target: Value, _ name: String) throws(Failure) -> Value {
    switch target {
    case .claims(.map(let map)): return map[name].map(DatabaseEvaluation.claims) ?? .scalar(.null)
    case .claims(.list(let list)):
      if let index = Int(name), list.indices.contains(index) { return DatabaseEvaluation.claims(list[index]) }
      return .scalar(name == "length" ? .number(Double(list.count)) : .null)
    case .scalar(.string(let text)) where name == "length": return .scalar(.number(Double(text.utf16.count)))
    case .query: return .scalar(context.query.value(of: name))
    // Every member of null is null, but `length` is one of strings.
    case .scalar, .object, .claims, .snapshot:
      if name == "length" { throw Failure("No such method/property 'length'.") }
      return .scalar(.null)
    }
  }

  private mutating func index(_ target: NodeID, _ key: NodeID) throws(Failure) -> Value {
    let object = try value(target)
    switch try value(key) {
    case .scalar(.string(let name)): return try member(object, name)
    case .scalar(.number(let number)): return try member(object, JavaScriptNumbers.text(number))
    default: throw Failure("Invalid property access.")
    }
  }

  // MARK: Calls

  private mutating func call(
    _ node: NodeID, _ target: NodeID, _ method: DatabaseMethod, _ arguments: [NodeID]
  ) throws(Failure) -> Value {
    if recorder == nil, let look = expression.looks[node] { return try value(of: look, method, arguments) }
    switch try value(target) {
    case .snapshot(let isAfter, let path): return try snapshot(isAfter, path, method, arguments)
    case .scalar(.string(let text)): return .scalar(try string(text, method, arguments))
    default: throw Failure("No such method/property '\(method.rawValue)'.")
    }
  }

  /// The result of a call that was taken apart.
  private mutating func value(
    of look: DatabaseLook, _ method: DatabaseMethod, _ arguments: [NodeID]
  ) throws(Failure) -> Value {
    var path: [String] = []
    // One more for the argument of `hasChild`.
    path.reserveCapacity((look.start == .root ? 0 : self.path.count) + look.steps.count + 1)
    if look.start != .root { path += self.path }
    for step in look.steps {
      switch step {
      case .name(let name): path.append(name)
      case .child(let node): append(try text(node, "child() expects a string argument."), to: &path)
      case .parent: guard path.popLast() != nil else { throw Failure("No such method/property 'parent'.") }
      }
    }
    let isAfter = look.start == .newData
    if let names = look.names { return .scalar(.bool(context.allExist(names, below: path, isAfter: isAfter))) }
    return try snapshot(isAfter, path, method, arguments)
  }

  /// Appends the names that the argument of `child` is.
  private func append(_ name: String, to path: inout [String]) {
    if DatabaseLook.isName(name) { path.append(name) } else { path += RulesPath(name).segments }
  }

  private mutating func text(_ node: NodeID, _ message: @autoclosure () -> String) throws(Failure) -> String {
    guard case .scalar(.string(let text)) = try value(node) else { throw Failure(message()) }
    return text
  }

  private mutating func snapshot(
    _ isAfter: Bool, _ path: consuming [String], _ method: DatabaseMethod, _ arguments: [NodeID]
  ) throws(Failure) -> Value {
    switch method {
    case .child, .hasChild:
      let name = try text(arguments[0], "\(method.rawValue)() expects a string argument.")
      append(name, to: &path)
      if method == .child { return .snapshot(isAfter: isAfter, path) }
      return .scalar(.bool(context.node(path, isAfter: isAfter).exists))
    case .parent:
      guard path.popLast() != nil else { throw Failure("No such method/property 'parent'.") }
      return .snapshot(isAfter: isAfter, path)
    case .exists: return .scalar(.bool(context.node(path, isAfter: isAfter).exists))
    case .getPriority: return .scalar(context.node(path, isAfter: isAfter).priority)
    case .hasChildren: return .scalar(.bool(try hasChildren(isAfter, path, arguments)))
    default: return DatabaseEvaluation.content(of: context.node(path, isAfter: isAfter), method)
    }
  }

  /// The result of `val()`, `isNumber()`, `isString()` and `isBoolean()`.
  private static func content(of node: DatabaseRulesNode, _ method: DatabaseMethod) -> Value {
    guard case .leaf(let value, _) = node else {
      if method == .val { return node.exists ? .object : .scalar(.null) }
      return .scalar(.bool(false))
    }
    switch (method, value) {
    case (.val, _): return .scalar(value)
    case (.isNumber, .number), (.isString, .string), (.isBoolean, .bool): return .scalar(.bool(true))
    default: return .scalar(.bool(false))
    }
  }

  private mutating func hasChildren(
    _ isAfter: Bool, _ path: [String], _ arguments: [NodeID]
  ) throws(Failure) -> Bool {
    guard let list = arguments.first else {
      if case .parent = context.node(path, isAfter: isAfter) { return true }
      return false
    }
    guard case .array(let elements) = expression.nodes[list] else {
      throw Failure("hasChildren() expects an array of child names.")
    }
    // All names are evaluated before a child is looked for: one that is no string is an error, whatever is there.
    var names: [String] = []
    names.reserveCapacity(elements.count)
    for element in elements { names.append(try text(element, "hasChildren() expects an array of strings.")) }
    var child = path
    return names.allSatisfy { name in
      child.removeLast(child.count - path.count)
      append(name, to: &child)
      return context.node(child, isAfter: isAfter).exists
    }
  }

  private mutating func string(
    _ text: String, _ method: DatabaseMethod, _ arguments: [NodeID]
  ) throws(Failure) -> DatabaseScalar {
    var message: String { "\(method.rawValue)() expects a string argument." }
    searched -= text.utf8.count
    guard searched >= 0 else { throw Failure("maximum size of values has been reached") }
    switch method {
    case .contains: return .bool(BytesSearch.contains(text, try self.text(arguments[0], message)))
    case .beginsWith: return .bool(text.utf8.starts(with: try self.text(arguments[0], message).utf8))
    case .endsWith:
      return .bool(text.utf8.reversed().starts(with: try self.text(arguments[0], message).utf8.reversed()))
    case .toLowerCase: return .string(try bounded(text.lowercased()))
    case .toUpperCase: return .string(try bounded(text.uppercased()))
    case .replace: return .string(try replace(text, arguments))
    case .matches:
      guard case .pattern(let pattern) = expression.nodes[arguments[0]] else {
        throw Failure("matches() expects a regular expression literal argument.")
      }
      // A unit is about 16 bytes; an expression without a table takes many for each character.
      searched -= 16 * pattern.cost(ofTextSize: text.utf8.count)
      guard searched >= 0 else { throw Failure("maximum size of values has been reached") }
      return .bool(pattern.matchesWhole(text))
    default: throw Failure("No such method/property '\(method.rawValue)'.")
    }
  }

  private mutating func replace(_ text: String, _ arguments: [NodeID]) throws(Failure) -> String {
    let old = try self.text(arguments[0], "Argument 1 of replace() must be a string.")
    let new = try self.text(arguments[1], "Argument 2 of replace() must be a string.")
    guard let replaced = BytesSearch.replace(text, old, new, limit: room) else {
      throw Failure("maximum size of values has been reached")
    }
    return try bounded(replaced)
  }
}

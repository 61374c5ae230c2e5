/// The types of expressions at upload, and the messages for operands that an operator does not take.
struct DatabaseTypes {
  typealias Checked = (type: DatabaseType, message: String?)

  /// The message for an array anywhere but in the argument of `hasChildren`.
  static let unexpectedArray = "Unexpected array literal."

  let kind: DatabaseRuleKind
  let captures: [String]

  func variable(_ name: String) -> (node: DatabaseSyntax, type: DatabaseType, message: String?) {
    switch name {
    case "true": (.bool(true), .boolean, nil)
    case "false": (.bool(false), .boolean, nil)
    case "null": (.null, .null, nil)
    case "auth": (.auth, .auth, nil)
    case "now": (.now, .number, nil)
    case "query": (.query, .query, nil)
    case "data": (.data, .snapshot, nil)
    case "root": (.root, .snapshot, nil)
    case "newData":
      kind == .read
        ? (.newData, .error, "newData is invalid in .read expressions.") : (.newData, .snapshot, nil)
    default:
      if let number = captures.lastIndex(of: name) {
        (.capture(number), .string, nil)
      } else {
        (.null, .error, "Unknown variable '\(name)'.")
      }
    }
  }

  // MARK: Operators

  static func not(_ type: DatabaseType) -> Checked {
    (.boolean, type.isBoolean ? nil : "! only operates on booleans.")
  }

  static func negate(_ type: DatabaseType) -> Checked {
    (.number, type.isArithmetic ? nil : "Invalid - expression: left operand is not a number.")
  }

  static func logical(_ sign: String, _ left: DatabaseType, _ right: DatabaseType) -> Checked {
    if !left.isBoolean { return (.error, "Left operand of \(sign) must be boolean.") }
    if !right.isBoolean { return (.error, "Right operand of \(sign) must be boolean.") }
    return (left == .error || right == .error ? .error : .boolean, nil)
  }

  static func conditional(_ condition: DatabaseType, _ yes: DatabaseType, _ no: DatabaseType) -> Checked {
    if !condition.isBoolean { return (.error, "condition of ? must be boolean.") }
    if condition == .error || yes == .error || no == .error { return (.error, nil) }
    // All methods without a call are of one type.
    if case .method = yes, case .method = no { return (yes, nil) }
    return (yes == no ? yes : .mixed, nil)
  }

  static func binary(_ found: DatabaseOperator, _ left: DatabaseType, _ right: DatabaseType) -> Checked {
    let sign = found.rawValue
    func check(
      _ accepts: (DatabaseType) -> Bool, _ leftEnd: String, _ rightEnd: String, _ type: DatabaseType
    ) -> Checked {
      if !accepts(left) { return (.error, "Invalid \(sign) expression: left operand \(leftEnd)") }
      if !accepts(right) { return (.error, "Invalid \(sign) expression: right operand \(rightEnd)") }
      return (left == .error || right == .error ? .error : type, nil)
    }
    switch found {
    case .equal:
      return check(
        \.isEquatable, "is not a number, boolean, string, null.", "is not a number, boolean, string, or null.", .boolean
      )
    case .notEqual:
      let end = "is not a number, boolean, string, or null."
      return check(\.isEquatable, end, end, .boolean)
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      return check(\.isOrdered, "must be a number or string.", "must be a number or string.", .boolean)
    case .add:
      let type: DatabaseType =
        left == .string || right == .string ? .string : left == .number && right == .number ? .number : .value
      return check(\.isOrdered, "is not a number or string.", "is not a number or string.", type)
    default: return check(\.isArithmetic, "is not a number.", "is not a number.", .number)
    }
  }

  // MARK: Members

  private static let flags: Set<String> = ["orderByKey", "orderByValue", "orderByPriority"]
  private static let parameters: Set<String> = [
    "orderByChild", "startAt", "endAt", "equalTo", "limitToFirst", "limitToLast",
  ]

  static func member(_ target: DatabaseType, _ name: String) -> Checked {
    let method = DatabaseMethod(rawValue: name)
    let missing: Checked = (.error, "No such method/property '\(name)'.")
    switch target {
    case .error: return (.error, nil)
    case .snapshot: return method.map { $0.isOfSnapshots ? (.method($0), nil) : missing } ?? missing
    case .string, .value:
      if name == "length" { return (.number, nil) }
      return method.map { $0.isOfSnapshots ? missing : (.method($0), nil) } ?? missing
    case .auth: return method.map { $0.isOfSnapshots ? (.auth, nil) : (.method($0), nil) } ?? (.auth, nil)
    case .query:
      return flags.contains(name) ? (.boolean, nil) : parameters.contains(name) ? (.queryValue, nil) : missing
    case .array: return (.error, DatabaseTypes.unexpectedArray)
    default: return (.error, "Invalid property access: target is not an object.")
    }
  }

  /// The type of an index that is no literal.
  static func index(_ target: DatabaseType) -> Checked {
    switch target {
    case .auth: (.auth, nil)
    case .error: (.error, nil)
    case .array: (.error, DatabaseTypes.unexpectedArray)
    default: (.error, "Invalid property access.")
    }
  }

  // MARK: Calls

  static func call(_ method: DatabaseMethod, _ arguments: [DatabaseType], elements: [DatabaseType]?) -> Checked {
    let name = method.rawValue
    switch method {
    case .val, .parent, .exists, .getPriority, .isNumber, .isString, .isBoolean, .toLowerCase, .toUpperCase:
      return (result(of: method), arguments.isEmpty ? nil : "\(name)() expects no arguments.")
    case .child, .hasChild, .contains, .beginsWith, .endsWith:
      guard arguments.count == 1 else { return (.error, "\(name)() expects 1 argument.") }
      guard arguments[0] != .error else { return (.error, nil) }
      return (result(of: method), arguments[0].isText ? nil : "\(name)() expects a string argument.")
    case .hasChildren: return hasChildren(arguments, elements)
    case .replace: return replace(arguments)
    case .matches: return matches(arguments)
    }
  }

  private static func replace(_ arguments: [DatabaseType]) -> Checked {
    guard arguments.count == 2 else { return (.error, "replace() expects two arguments.") }
    for (index, argument) in arguments.enumerated() where !argument.isText {
      return (.error, "Argument \(index + 1) of replace() must be a string.")
    }
    return (arguments.contains(.error) ? .error : .string, nil)
  }

  private static func matches(_ arguments: [DatabaseType]) -> Checked {
    guard arguments.count == 1 else { return (.error, "matches() expects 1 regular expression literal argument.") }
    guard arguments[0] != .error else { return (.error, nil) }
    return (.boolean, arguments[0] == .regex ? nil : "matches() expects a regular expression literal argument.")
  }

  private static func hasChildren(_ arguments: [DatabaseType], _ elements: [DatabaseType]?) -> Checked {
    guard let first = arguments.first else { return (.boolean, nil) }
    guard arguments.count == 1 else {
      return (.error, "hasChildren() expects only a single argument (containing an array of child names).")
    }
    if first == .error { return (.error, nil) }
    guard first == .array, let elements else {
      return (.error, "hasChildren() expects an array of child names.")
    }
    if elements.contains(.error) { return (.error, nil) }
    return (.boolean, elements.allSatisfy(\.isText) ? nil : "hasChildren() expects an array of strings.")
  }

  private static func result(of method: DatabaseMethod) -> DatabaseType {
    switch method {
    case .val, .getPriority: .value
    case .child, .parent: .snapshot
    case .replace, .toLowerCase, .toUpperCase: .string
    default: .boolean
    }
  }
}

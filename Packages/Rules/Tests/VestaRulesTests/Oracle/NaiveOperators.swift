/// The operators of values, by the tables of the description.
enum NaiveOperators {
  typealias Value = NaiveValue

  static func negated(_ value: Value) throws(NaiveError) -> Value {
    switch value {
    case .int(.min): throw .unknown
    case .int(let number): return .int(-number)
    case .float(let number): return .float(-number)
    default: throw .unknown
    }
  }

  /// The pairs of types that an operator takes, in the order of the messages.
  private static func overloads(_ sign: String) -> [String] {
    let pairs: [(String, String)] =
      switch sign {
      case "+":
        [
          ("int", "int"), ("float", "float"), ("string", "string"), ("duration", "duration"),
          ("duration", "timestamp"), ("timestamp", "duration"),
        ]
      case "-":
        [
          ("int", "int"), ("float", "float"), ("duration", "duration"), ("timestamp", "duration"),
          ("timestamp", "timestamp"),
        ]
      case "*", "/", "%": [("int", "int"), ("float", "float")]
      default:
        [
          ("string", "string"), ("bytes", "bytes"), ("int", "int"), ("float", "float"), ("duration", "duration"),
          ("timestamp", "timestamp"), ("constraint", "any"), ("any", "constraint"),
        ]
      }
    return pairs.map { "\($0.0) \(sign) \($0.1)" }
  }

  private static func unsupported(_ sign: String, _ left: Value, _ right: Value) -> NaiveError {
    .message(
      "Unsupported operation error. Received: \(left.typeName) \(sign) \(right.typeName). "
        + "Expected: \(overloads(sign).joined(separator: ", ")).")
  }

  static func apply(_ sign: String, _ left: Value, _ right: Value) throws(NaiveError) -> Value {
    switch sign {
    case "==": return .bool(NaiveEquality.equal(left, right))
    case "!=": return .bool(!NaiveEquality.equal(left, right))
    case "<", "<=", ">", ">=":
      switch NaiveOrder.compare(left, right) {
      case .notComparable: throw unsupported(sign, left, right)
      case .unordered: return .bool(false)
      case .order(let order):
        let holds =
          switch sign {
          case "<": order < 0
          case "<=": order <= 0
          case ">": order > 0
          default: order >= 0
          }
        return .bool(holds)
      }
    default: return try arithmetic(sign, left, right)
    }
  }

  private static func arithmetic(_ sign: String, _ left: Value, _ right: Value) throws(NaiveError) -> Value {
    switch (left, right) {
    case (.int(let l), .int(let r)): return try integers(sign, Int128(l), Int128(r))
    case (.float(let l), .float(let r)): return try floats(sign, l, r)
    case (.int(let l), .float(let r)): return try floats(sign, Double(l), r)
    case (.float(let l), .int(let r)): return try floats(sign, l, Double(r))
    case (.string(let l), .string(let r)) where sign == "+": return .string(l + r)
    case (.duration(let l), .duration(let r)) where sign == "+": return .duration(l + r)
    case (.duration(let l), .timestamp(let r)) where sign == "+": return .timestamp(l + r)
    case (.timestamp(let l), .duration(let r)) where sign == "+": return .timestamp(l + r)
    case (.duration(let l), .duration(let r)) where sign == "-": return .duration(l - r)
    case (.timestamp(let l), .duration(let r)) where sign == "-": return .timestamp(l - r)
    case (.timestamp(let l), .timestamp(let r)) where sign == "-": return .duration(l - r)
    default: throw unsupported(sign, left, right)
    }
  }

  private static func integers(_ sign: String, _ left: Int128, _ right: Int128) throws(NaiveError) -> Value {
    if "/%".contains(sign), right == 0 { throw .message("Divide by zero error.") }
    let result =
      switch sign {
      case "+": left + right
      case "-": left - right
      case "*": left * right
      case "/": left / right
      default: left % right
      }
    guard let number = Int64(exactly: result) else { throw .unknown }
    return .int(number)
  }

  private static func floats(_ sign: String, _ left: Double, _ right: Double) throws(NaiveError) -> Value {
    if "/%".contains(sign), right == 0 { throw .message("Divide by zero error.") }
    switch sign {
    case "+": return .float(left + right)
    case "-": return .float(left - right)
    case "*": return .float(left * right)
    case "/": return .float(left / right)
    default: return .float(left.truncatingRemainder(dividingBy: right))
    }
  }

  static func contained(_ value: Value, _ collection: Value) throws(NaiveError) -> Value {
    switch (value, collection) {
    case (_, .list(let list)): return .bool(NaiveEquality.has(list, value, .byValue))
    case (_, .set(let set)): return .bool(NaiveEquality.has(set, value, .byValueAtAnyDepth))
    case (.string(let name), .map(let map)): return .bool(map[name] != nil)
    default: throw .unknown
    }
  }

  /// The segments of a text, which slashes separate.
  static func segments(_ text: NaiveText) -> [NaiveText] { text.split(separator: 0x2F).map(NaiveText.init) }

  static func element(_ target: Value, _ key: Value) throws(NaiveError) -> Value {
    func at<Item>(_ items: [Item], _ index: Int64) throws(NaiveError) -> Item {
      guard index >= 0, index < items.count else {
        throw .message("Index out of bound error. Index: [\(index)] , size: [\(items.count)].")
      }
      return items[Int(index)]
    }
    switch (target, key) {
    case (.null, _): throw .message("Null value error.")
    case (.map(let map), .string(let name)):
      if let value = map[name] { return value }
      throw .message("Property \(String(decoding: name, as: UTF16.self)) is undefined on object.")
    case (.list(let list), .int(let index)): return try at(list, index)
    case (.path(let path), .int(let index)): return .string(try at(path, index))
    case (.string(let text), .int(let index)): return .string(NaiveOperators.whole([try at(text, index)]))
    case (.path, .string(let name)):
      throw .message("Property \(String(decoding: name, as: UTF16.self)) is undefined on object.")
    default: throw .unknown
    }
  }

  static func slice(_ target: Value, _ from: Value, _ to: Value) throws(NaiveError) -> Value {
    func part<Item>(_ items: [Item]) throws(NaiveError) -> [Item] {
      guard case .int(let from) = from, case .int(let to) = to else { throw .unknown }
      guard from >= 0, from <= items.count, to >= from else { throw .unknown }
      guard to <= items.count else {
        throw .message("Index out of bound error. Index: [\(to - 1)] , size: [\(items.count)].")
      }
      return Array(items[Int(from)..<Int(to)])
    }
    switch target {
    case .null: throw .message("Null value error.")
    case .list(let list): return .list(try part(list))
    case .path(let path): return .path(try part(path))
    case .string(let text): return .string(whole(try part(text)))
    default: throw .unknown
    }
  }

  /// A text in which half of a pair is U+FFFD.
  static func whole(_ text: NaiveText) -> NaiveText { NaiveText(String(decoding: text, as: UTF16.self).utf16) }
}

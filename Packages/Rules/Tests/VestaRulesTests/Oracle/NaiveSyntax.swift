/// An expression as the oracle has it.
indirect enum NaiveExpression {
  case literal(NaiveValue)
  case name(String)
  case list([NaiveExpression])
  case map([(NaiveExpression, NaiveExpression)])
  case path([NaiveSegment])
  case not(NaiveExpression)
  case negate(NaiveExpression)
  case binary(String, NaiveExpression, NaiveExpression)
  case isType(NaiveExpression, String)
  case conditional(NaiveExpression, NaiveExpression, NaiveExpression)
  case member(NaiveExpression, String)
  case index(NaiveExpression, NaiveExpression)
  case slice(NaiveExpression, NaiveExpression, NaiveExpression)
  case call(String, [NaiveExpression])
  case method(NaiveExpression, String, [NaiveExpression])
  /// A method with a pattern, whose text is written as a literal.
  case matching(NaiveExpression, String, NaivePattern, [NaiveExpression])
}

/// A segment of a path in an expression.
enum NaiveSegment {
  case literal(String)
  case expression(NaiveExpression)
}

/// Writes expressions with as few parentheses as the order of operators allows.
enum NaiveWriter {
  /// How strongly an expression holds together, from `?:` up to operands.
  private static func level(_ expression: NaiveExpression) -> Int {
    switch expression {
    case .conditional: 0
    case .binary(let sign, _, _): level(of: sign)
    case .isType: 4
    case .not, .negate: 8
    case .literal(.int(let number)): number < 0 ? 8 : 9
    case .literal(.float(let number)): number.sign == .minus ? 8 : 9
    // The dots and slashes behind a path would belong to it.
    case .path: -1
    default: 9
    }
  }

  private static func level(of sign: String) -> Int {
    switch sign {
    case "||": 1
    case "&&": 2
    case "==", "!=": 3
    case "in": 4
    case "<", "<=", ">", ">=": 5
    case "+", "-": 6
    default: 7
    }
  }

  static func text(_ expression: NaiveExpression) -> String {
    switch expression {
    case .literal(let value): return literal(value)
    case .name(let name): return name
    case .list(let items): return "[\(items.map(text).joined(separator: ", "))]"
    case .map(let pairs): return "{\(pairs.map { "\(key($0.0)): \(text($0.1))" }.joined(separator: ", "))}"
    case .path(let segments): return segments.map(segment).joined()
    case .not(let inner): return "!" + operand(inner, 8)
    case .negate(let inner):
      let text = operand(inner, 8)
      // A sign in front of digits is a part of the literal.
      return text.first?.isNumber ?? false ? "-(\(text))" : "-" + text
    case .binary(let sign, let left, let right): return binary(sign, left, right)
    case .isType(let inner, let type): return "\(operand(inner, 4)) is \(type)"
    case .conditional(let a, let b, let c): return "\(operand(a, 1)) ? \(operand(b, 0)) : \(operand(c, 0))"
    case .member(let target, let name): return "\(operand(target, 9)).\(name)"
    case .index(let target, let index): return "\(operand(target, 9))[\(text(index))]"
    case .slice(let target, let from, let to): return "\(operand(target, 9))[\(operand(from, 1)):\(text(to))]"
    case .call(let name, let arguments): return "\(name)(\(arguments.map(text).joined(separator: ", ")))"
    case .method(let target, let name, let arguments):
      return "\(operand(target, 9)).\(name)(\(arguments.map(text).joined(separator: ", ")))"
    case .matching(let target, let name, let pattern, let rest):
      let arguments = [string(NaiveText(pattern.text.utf16))] + rest.map(text)
      return "\(operand(target, 9)).\(name)(\(arguments.joined(separator: ", ")))"
    }
  }

  /// A key of a map: a colon right behind a path would belong to its last segment.
  private static func key(_ expression: NaiveExpression) -> String {
    if case .path = expression { "(\(text(expression)))" } else { text(expression) }
  }

  private static func operand(_ expression: NaiveExpression, _ least: Int) -> String {
    level(expression) >= least ? text(expression) : "(\(text(expression)))"
  }

  /// Operators of one level belong together from the left.
  private static func binary(_ sign: String, _ left: NaiveExpression, _ right: NaiveExpression) -> String {
    "\(operand(left, level(of: sign))) \(sign) \(operand(right, level(of: sign) + 1))"
  }

  private static func segment(_ segment: NaiveSegment) -> String {
    switch segment {
    case .literal(let text): "/\(text)"
    case .expression(let inner): "/$(\(text(inner)))"
    }
  }

  // MARK: Literals

  private static func literal(_ value: NaiveValue) -> String {
    switch value {
    case .null: "null"
    case .bool(let bool): bool ? "true" : "false"
    case .int(let number): "\(number)"
    case .float(let number): "\(number)"
    case .string(let text): string(text)
    case .bytes(let bytes): "b'" + bytes.map { "\\x" + hexadecimal(Int($0), 2) }.joined() + "'"
    default: "no_such_literal"
    }
  }

  private static func hexadecimal(_ number: Int, _ count: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: count - digits.count) + digits
  }

  /// A literal; which of the forms of an escape it uses depends on the character.
  private static func string(_ text: NaiveText) -> String {
    "'"
      + text.map { unit in
        switch unit {
        case 0x27: return "\\'"
        case 0x5C: return "\\\\"
        case 0x0A: return "\\n"
        case 0x09: return "\\t"
        case 0x20..<0x7F: return String(UnicodeScalar(UInt8(unit)))
        case 0..<0x20: return "\\0" + (unit < 8 ? "0" : "") + String(unit, radix: 8)
        case 0..<0x100: return "\\x" + hexadecimal(Int(unit), 2)
        default: return "\\u" + hexadecimal(Int(unit), 4)
        }
      }.joined() + "'"
  }
}

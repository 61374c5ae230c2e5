import VestaBytes

extension DatabaseRulesTrace: CustomStringConvertible {
  /// The trace as indented lines: the rules that were asked, what each expression was, and what was not needed.
  public var description: String {
    var lines = [decision.isAllowed ? "allowed" : "denied"]
    let rules = rules
    if rules.isEmpty { lines.append("  no rule applies to the path") }
    for rule in rules {
      let outcome = rule.condition.map { "  →  \($0.outcome.text)" } ?? ""
      lines.append("  \(rule.rule) of /\(rule.path.joined(separator: "/"))\(outcome)")
      guard let condition = rule.condition else { continue }
      let captures = rule.captures.map { ", \($0.name) = '\($0.value)'" }.joined()
      lines.append("    line \(condition.position.line)\(captures)")
      DatabaseRulesTrace.append(condition, 2, &lines)
    }
    return lines.joined(separator: "\n")
  }

  private static func append(_ expression: Expression, _ depth: Int, _ lines: inout [String]) {
    let text = expression.source.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let cut = text.utf8.count > 120 ? text.prefix(120) + "…" : text[...]
    lines.append(String(repeating: "  ", count: depth) + "\(cut)  →  \(expression.outcome.text)")
    // Constants explain themselves.
    for part in expression.parts where !part.isLiteral { append(part, depth + 1, &lines) }
  }

  /// The trace as JSON.
  public var json: String {
    var object = JSONObject()
    object["allowed"] = .bool(decision.isAllowed)
    object["rules"] = .array(
      rules.map { rule in
        var object = JSONObject()
        object["rule"] = .string(rule.rule)
        object["path"] = .string("/" + rule.path.joined(separator: "/"))
        var captures = JSONObject()
        for capture in rule.captures { captures[capture.name] = .string(capture.value) }
        object["captures"] = .object(captures)
        if let condition = rule.condition { object["condition"] = condition.json(depth: 0) }
        return .object(object)
      })
    return (try? JSONValue.object(object).json()).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }
}

extension DatabaseRulesTrace.Expression.Outcome {
  /// The outcome in words.
  var text: String {
    switch self {
    case .value(let text): text
    case .failure(let failure): "error: \(failure)"
    case .notEvaluated: "not evaluated"
    }
  }
}

extension DatabaseRulesTrace.Expression {
  fileprivate var isLiteral: Bool { parts.isEmpty && outcome == .value(source) }

  fileprivate func json(depth: Int) -> JSONValue {
    var object = JSONObject()
    object["source"] = .string(source)
    object["line"] = .integer(Int64(position.line))
    object["column"] = .integer(Int64(position.column))
    switch outcome {
    case .value(let text): object["value"] = .string(text)
    case .failure(let failure): object["error"] = .string(failure.description)
    case .notEvaluated: object["notEvaluated"] = .bool(true)
    }
    // A reader of JSON has a bound on nesting.
    if !parts.isEmpty, depth < 100 { object["parts"] = .array(parts.map { $0.json(depth: depth + 1) }) }
    return .object(object)
  }
}

extension DatabaseEvaluation.Value {
  /// The value as it would be written in a rule, or in words; cut where it is long.
  ///
  /// - Parameter path: Where the rule is.
  func text(path: [String]) -> String {
    switch self {
    case .scalar(.null): return "null"
    case .scalar(.bool(let bool)): return String(bool)
    case .scalar(.number(let number)): return JavaScriptNumbers.text(number)
    case .scalar(.string(let text)): return RulesValue.string(text).description
    case .snapshot(let isAfter, let place):
      return "\(isAfter ? "the new data" : "the data") at /\(place.joined(separator: "/"))"
    case .object: return "an object"
    case .claims(let value): return value.description
    case .query: return "the query"
    }
  }
}

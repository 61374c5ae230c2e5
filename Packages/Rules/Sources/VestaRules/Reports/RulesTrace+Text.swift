import VestaBytes

extension RulesTrace: CustomStringConvertible {
  /// The trace as indented lines: what was asked, what each expression was, and what was not needed.
  public var description: String {
    var lines = ["\(decision.method.rawValue) is \(decision.isAllowed ? "allowed" : "denied")"]
    if statements.isEmpty { lines.append("  no allow statement names the method for this path") }
    for statement in statements {
      let captures = statement.captures.map { "\($0.name) = \($0.value)" }.joined(separator: ", ")
      lines.append("  allow at line \(statement.position.line)\(captures.isEmpty ? "" : ", \(captures)")")
      if let condition = statement.condition {
        RulesTrace.append(condition, 2, &lines)
      } else {
        lines.append("    always")
      }
    }
    for filter in provingFilters { lines.append("  a filter would prove a part of it: \(filter)") }
    for lookup in lookups { lines.append("  looked up: \(lookup.function.rawValue)(\(lookup.path.string))") }
    for value in debugged { lines.append("  debug: \(value)") }
    lines.append("  \(expressionCount) expressions")
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
    object["method"] = .string(decision.method.rawValue)
    object["allowed"] = .bool(decision.isAllowed)
    object["expressions"] = .integer(Int64(expressionCount))
    object["statements"] = .array(
      statements.map { statement in
        var object = JSONObject()
        object["line"] = .integer(Int64(statement.position.line))
        var captures = JSONObject()
        for capture in statement.captures { captures[capture.name] = .string(capture.value) }
        object["captures"] = .object(captures)
        if let condition = statement.condition { object["condition"] = condition.json(depth: 0) }
        return .object(object)
      })
    object["filters"] = .array(provingFilters.map { .string($0) })
    object["lookups"] = .array(lookups.map { .string("\($0.function.rawValue)(\($0.path.string))") })
    object["debug"] = .array(debugged.map { .string($0.description) })
    return (try? JSONValue.object(object).json()).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }
}

extension RulesTrace.Expression.Outcome {
  /// The outcome in words.
  var text: String {
    switch self {
    case .value(let value): value.description
    case .failure(let failure): "error: \(failure)"
    case .unknown: "not fixed by the query"
    case .notEvaluated: "not evaluated"
    }
  }
}

extension RulesTrace.Expression {
  fileprivate var isLiteral: Bool {
    guard parts.isEmpty, case .value(let value) = outcome else { return false }
    return source == value.description
  }

  fileprivate func json(depth: Int) -> JSONValue {
    var object = JSONObject()
    object["source"] = .string(source)
    object["line"] = .integer(Int64(position.line))
    object["column"] = .integer(Int64(position.column))
    switch outcome {
    case .value(let value): object["value"] = .string(value.description)
    case .failure(let failure): object["error"] = .string(failure.description)
    case .unknown: object["unknown"] = .bool(true)
    case .notEvaluated: object["notEvaluated"] = .bool(true)
    }
    // A reader of JSON has a bound on nesting.
    if !parts.isEmpty, depth < 100 { object["parts"] = .array(parts.map { $0.json(depth: depth + 1) }) }
    return .object(object)
  }
}

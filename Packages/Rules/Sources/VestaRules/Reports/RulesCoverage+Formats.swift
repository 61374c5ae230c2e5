import VestaBytes

extension RulesCoverage {
  // MARK: JSON

  /// The report in the form of the emulator's `ruleCoverage`.
  public func json(fileName: String = "firestore.rules") -> String {
    var file = JSONObject()
    file["name"] = .string(fileName)
    file["content"] = .string(String(decoding: ruleset.source.bytes, as: UTF8.self))
    var rules = JSONObject()
    rules["files"] = .array([.object(file)])
    var report = JSONObject()
    report["rules"] = .object(rules)
    report["report"] = .array(roots.map { entry($0, depth: 0) })
    return (try? JSONValue.object(report).json()).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  private func entry(_ node: NodeID, depth: Int) -> JSONValue {
    var object = JSONObject()
    object["sourcePosition"] = position(ruleset.source.position(ruleset.program.spans[node].extent))
    let values = outcomes(of: node)
    if !values.isEmpty { object["values"] = .array(values.map(value)) }
    // Expressions are nested less deeply than readers of JSON accept.
    let children = depth < 150 ? children(of: node) : []
    if !children.isEmpty { object["children"] = .array(children.map { entry($0, depth: depth + 1) }) }
    return .object(object)
  }

  private func position(_ position: RulesPosition) -> JSONValue {
    var object = JSONObject()
    object["line"] = .integer(Int64(position.line))
    object["column"] = .integer(Int64(position.column))
    object["currentOffset"] = .integer(Int64(position.startOffset))
    object["endOffset"] = .integer(Int64(position.endOffset))
    return .object(object)
  }

  private func value(_ counted: (outcome: Outcome, count: Int)) -> JSONValue {
    var value = JSONObject()
    let outcome = counted.outcome
    if outcome.isFailure {
      var undefined = JSONObject()
      undefined["causeMessage"] = .string(outcome.text)
      if let cause = outcome.position { undefined["sourcePosition"] = position(cause) }
      value["undefined"] = .object(undefined)
    } else if outcome.text == "true" || outcome.text == "false" {
      value["boolValue"] = .bool(outcome.text == "true")
    } else if outcome.text == "null" {
      value["nullValue"] = .null
    } else if let number = Int64(outcome.text) {
      value["intValue"] = .integer(number)
    } else {
      value["stringValue"] = .string(outcome.text)
    }
    var object = JSONObject()
    object["value"] = .object(value)
    object["count"] = .integer(Int64(counted.count))
    return .object(object)
  }

  // MARK: LCOV

  /// The report in the form of LCOV: how often each line was evaluated, and how often each condition was true or not.
  public func lcov(fileName: String = "firestore.rules") -> String {
    var lines: [Int: Int] = [:]
    for node in ruleset.tree.nodes.indices where !isLiteral(node) {
      let count = outcomes(of: node).reduce(0) { $0 + $1.count }
      lines[ruleset.source.position(ruleset.program.spans[node].extent).line, default: 0] += 0
      lines[ruleset.source.position(ruleset.program.spans[node].extent).line] = max(
        count, lines[ruleset.source.position(ruleset.program.spans[node].extent).line] ?? 0)
    }
    var text = ["TN:", "SF:\(fileName)"]
    for root in roots {
      let line = ruleset.source.position(ruleset.program.spans[root].extent).line
      let counted = outcomes(of: root)
      let yes = counted.filter { $0.outcome.text == "true" && !$0.outcome.isFailure }.reduce(0) { $0 + $1.count }
      let all = counted.reduce(0) { $0 + $1.count }
      text.append("BRDA:\(line),\(root),0,\(all == 0 ? "-" : String(yes))")
      text.append("BRDA:\(line),\(root),1,\(all == 0 ? "-" : String(all - yes))")
    }
    text += lines.sorted { $0.key < $1.key }.map { "DA:\($0.key),\($0.value)" }
    text += ["LF:\(lines.count)", "LH:\(lines.values.count { $0 > 0 })", "end_of_record", ""]
    return text.joined(separator: "\n")
  }

  // MARK: HTML

  /// The report as a page: the source, each line coloured by whether it was evaluated, with the outcomes of its
  /// conditions.
  public func html(title: String = "Rules coverage") -> String {
    var notes: [Int: [String]] = [:]
    var seen: [Int: Bool] = [:]
    for node in ruleset.tree.nodes.indices where !isLiteral(node) {
      let line = ruleset.source.position(ruleset.program.spans[node].extent).line
      seen[line] = (seen[line] ?? false) || !outcomes(of: node).isEmpty
    }
    for root in roots {
      let line = ruleset.source.position(ruleset.program.spans[root].extent).line
      notes[line, default: []] += outcomes(of: root).map { "\($0.outcome.text): \($0.count)" }
    }
    let source = String(decoding: ruleset.source.bytes, as: UTF8.self)
    let rows = source.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map { index, text in
      let kind = seen[index + 1].map { $0 ? "yes" : "no" } ?? "none"
      let note = (notes[index + 1] ?? []).joined(separator: "; ")
      return "<tr class=\"\(kind)\"><td>\(index + 1)</td><td><pre>\(RulesCoverage.escaped(String(text)))</pre></td>"
        + "<td>\(RulesCoverage.escaped(note))</td></tr>"
    }
    return """
      <!DOCTYPE html>
      <html><head><meta charset="utf-8"><title>\(RulesCoverage.escaped(title))</title>
      <style>pre{margin:0} td{padding:0 8px;vertical-align:top} .yes{background:#e6ffed} .no{background:#ffeef0}</style>
      </head><body><h1>\(RulesCoverage.escaped(title))</h1><table>
      \(rows.joined(separator: "\n"))
      </table></body></html>
      """
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;")
  }
}

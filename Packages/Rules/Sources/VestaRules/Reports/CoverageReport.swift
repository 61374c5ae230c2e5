import VestaBytes

/// The outcomes of all expressions of a rules file, in the forms that tools read.
struct CoverageReport {
  /// An expression with its outcomes.
  struct Entry {
    /// The number of the expression.
    let number: Int
    let position: RulesPosition
    let outcomes: [(outcome: RulesCoverage.Outcome, count: Int)]
    /// The expressions below it, literals left out.
    let children: [Entry]

    /// How often the expression was evaluated.
    var count: Int { outcomes.reduce(0) { $0 + $1.count } }
    /// How often it was true.
    var trueCount: Int {
      outcomes.reduce(0) { $0 + ($1.outcome.text == "true" && !$1.outcome.isFailure ? $1.count : 0) }
    }

    /// Calls back with the expression and all below it.
    func forEach(_ body: (Entry) -> Void) {
      body(self)
      for child in children { child.forEach(body) }
    }
  }

  /// The text of the file.
  let content: [UInt8]
  /// The expressions that stand for themselves.
  let entries: [Entry]

  // MARK: JSON

  /// The report in the form of the emulator's `ruleCoverage`.
  func json(fileName: String) -> String {
    var file = JSONObject()
    file["name"] = .string(fileName)
    file["content"] = .string(String(decoding: content, as: UTF8.self))
    var rules = JSONObject()
    rules["files"] = .array([.object(file)])
    var report = JSONObject()
    report["rules"] = .object(rules)
    report["report"] = .array(entries.map { entry($0, depth: 0) })
    return (try? JSONValue.object(report).json()).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  private func entry(_ entry: Entry, depth: Int) -> JSONValue {
    var object = JSONObject()
    object["sourcePosition"] = position(entry.position)
    if !entry.outcomes.isEmpty { object["values"] = .array(entry.outcomes.map(value)) }
    // Expressions are nested less deeply than readers of JSON accept.
    if depth < 150, !entry.children.isEmpty {
      object["children"] = .array(entry.children.map { self.entry($0, depth: depth + 1) })
    }
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

  private func value(_ counted: (outcome: RulesCoverage.Outcome, count: Int)) -> JSONValue {
    let (member, content) = typed(counted.outcome)
    var value = JSONObject()
    value[member] = content
    var object = JSONObject()
    object["value"] = .object(value)
    object["count"] = .integer(Int64(counted.count))
    return .object(object)
  }

  /// The outcome of an expression, and the name of the member that has values of its type.
  private func typed(_ outcome: RulesCoverage.Outcome) -> (member: String, value: JSONValue) {
    if outcome.isFailure {
      var undefined = JSONObject()
      undefined["causeMessage"] = .string(outcome.text)
      if let cause = outcome.position { undefined["sourcePosition"] = position(cause) }
      return ("undefined", .object(undefined))
    }
    switch outcome.text {
    case "true", "false": return ("boolValue", .bool(outcome.text == "true"))
    case "null": return ("nullValue", .null)
    default: break
    }
    if let number = Int64(outcome.text) { return ("intValue", .integer(number)) }
    return ("stringValue", .string(outcome.text))
  }

  // MARK: LCOV

  /// The report in the form of LCOV: how often each line was evaluated, and how often each condition was true or not.
  func lcov(fileName: String) -> String {
    var lines: [Int: Int] = [:]
    for entry in entries {
      entry.forEach { lines[$0.position.line] = max($0.count, lines[$0.position.line] ?? 0) }
    }
    var text = ["TN:", "SF:\(fileName)"]
    for entry in entries {
      let (line, all, yes) = (entry.position.line, entry.count, entry.trueCount)
      text.append("BRDA:\(line),\(entry.number),0,\(all == 0 ? "-" : String(yes))")
      text.append("BRDA:\(line),\(entry.number),1,\(all == 0 ? "-" : String(all - yes))")
    }
    text += lines.sorted { $0.key < $1.key }.map { "DA:\($0.key),\($0.value)" }
    text += ["LF:\(lines.count)", "LH:\(lines.values.count { $0 > 0 })", "end_of_record", ""]
    return text.joined(separator: "\n")
  }

  // MARK: HTML

  /// The report as a page: the source, each line coloured by whether it was evaluated, with the outcomes of its
  /// conditions.
  func html(title: String) -> String {
    var notes: [Int: [String]] = [:]
    var seen: [Int: Bool] = [:]
    for entry in entries {
      entry.forEach { seen[$0.position.line] = (seen[$0.position.line] ?? false) || !$0.outcomes.isEmpty }
      notes[entry.position.line, default: []] += entry.outcomes.map { "\($0.outcome.text): \($0.count)" }
    }
    let source = String(decoding: content, as: UTF8.self)
    let rows = source.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map { index, text in
      let kind = seen[index + 1].map { $0 ? "yes" : "no" } ?? "none"
      let note = (notes[index + 1] ?? []).joined(separator: "; ")
      return "<tr class=\"\(kind)\"><td>\(index + 1)</td><td><pre>\(CoverageReport.escaped(String(text)))</pre></td>"
        + "<td>\(CoverageReport.escaped(note))</td></tr>"
    }
    return CoverageReport.page(title: CoverageReport.escaped(title), rows)
  }

  private static func page(title: String, _ rows: [String]) -> String {
    """
    <!DOCTYPE html>
    <html><head><meta charset="utf-8"><title>\(title)</title>
    <style>pre{margin:0} td{padding:0 8px;vertical-align:top} .yes{background:#e6ffed} .no{background:#ffeef0}</style>
    </head><body><h1>\(title)</h1><table>
    \(rows.joined(separator: "\n"))
    </table></body></html>
    """
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;")
  }
}

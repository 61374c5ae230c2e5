import VestaBytes

/// Reads the tree of rules and checks it, as the check at upload does.
struct DatabaseCompiler {
  private let source: SourceText
  private let tuning: RulesTuning
  private(set) var issues: [RulesIssue] = []
  /// The rules by their numbers, in the order of writing.
  private(set) var rules: [DatabaseExpression] = []

  init(_ source: SourceText, _ tuning: RulesTuning) { (self.source, self.tuning) = (source, tuning) }

  private mutating func note(_ message: String, _ at: Int) {
    let end = min(at + 1, source.bytes.count)
    issues.append(RulesIssue(.error, message, at: source.position(Span(min(at, end), end))))
  }

  /// Reports the issues of an expression, at the places of its characters in the source.
  private mutating func note(_ issues: [(message: String, at: Int)], _ place: (Int) -> Int) {
    // An array at a wrong place is reported before anything else.
    let arrays = issues.filter { $0.message == DatabaseTypes.unexpectedArray }
    for issue in arrays.isEmpty ? issues : arrays { note(issue.message, place(issue.at)) }
  }

  mutating func compile() -> DatabaseRuleset.Node {
    guard let rules = rootMembers() else {
      return DatabaseRuleset.Node(rules: DatabaseRuleset.Rules(), indexes: [], children: [:], wildcard: nil)
    }
    return node(rules, captures: [])
  }

  /// The members of the only member of the document, `rules`.
  private mutating func rootMembers() -> [PlacedJSON.Member]? {
    let document: PlacedJSON
    do throws(PlacedJSON.Failure) {
      document = try PlacedJSON(text: source.bytes)
    } catch {
      note("Parse error.", error.at)
      return nil
    }
    let members = if case .object(let members, _) = document { members } else { [PlacedJSON.Member]() }
    guard members.count == 1, members[0].name == "rules" else {
      note("Expected 'rules' property.", members.first { $0.name != "rules" }?.at ?? document.at)
      return nil
    }
    guard case .object(let rules, _) = members[0].value else {
      note("Expected '{'.", members[0].value.at)
      return nil
    }
    return rules
  }

  private mutating func node(_ members: [PlacedJSON.Member], captures: [String]) -> DatabaseRuleset.Node {
    var rules = DatabaseRuleset.Rules()
    var indexes: [String] = []
    var children: [UTF8String: DatabaseRuleset.Node] = [:]
    var wildcard: (name: String, node: DatabaseRuleset.Node)?
    for member in members {
      if let kind = DatabaseRuleKind(rawValue: member.name) {
        rules[kind] = rule(member.value, kind, captures)
      } else if member.name == ".indexOn" {
        indexes = self.indexes(member.value)
      } else if let child = child(member, captures) {
        if !member.name.hasPrefix("$") {
          children[UTF8String(member.name)] = child
        } else if let wildcard {
          note("Cannot have multiple default rules ('\(wildcard.name)' and '\(member.name)').", member.at)
        } else {
          wildcard = (member.name, child)
        }
      }
    }
    return DatabaseRuleset.Node(rules: rules, indexes: indexes, children: children, wildcard: wildcard?.node)
  }

  private mutating func child(_ member: PlacedJSON.Member, _ captures: [String]) -> DatabaseRuleset.Node? {
    guard case .object(let members, _) = member.value else {
      note("Expected '{'.", member.value.at)
      return nil
    }
    let isCapture = member.name.hasPrefix("$")
    let name = isCapture ? String(member.name.dropFirst()) : member.name
    guard !name.utf8.contains(where: { ".#$/[]".utf8.contains($0) }), !name.isEmpty else {
      note("String can't contain \".\", \"#\", \"$\", \"/\", \"[\", or \"]\"", member.at)
      return nil
    }
    if isCapture, captures.contains(member.name) {
      note("The capture '\(member.name)' is used twice on one path.", member.at)
      return nil
    }
    return node(members, captures: isCapture ? captures + [member.name] : captures)
  }

  private mutating func rule(
    _ value: PlacedJSON, _ kind: DatabaseRuleKind, _ captures: [String]
  ) -> DatabaseExpression? {
    switch value {
    case .bool(let bool, let at):
      let text = Array(String(bool).utf8)
      let origin = DatabaseRuleOrigin(
        kind: kind, captures: captures, text: text, extents: [Span(0, text.count)], places: [Span(at, at + text.count)])
      return numbered(DatabaseExpression(nodes: [.bool(bool)], origin: origin))
    case .string(let text, let places, let at):
      let parsed = DatabaseParser.parse(text, kind: kind, captures: captures, tuning: tuning)
      note(parsed.issues) { $0 < places.count ? Int(places[$0]) : at }
      guard parsed.issues.isEmpty else { return nil }
      var expression = parsed.expression
      expression.origin = DatabaseRuleOrigin(
        kind: kind, captures: captures, text: text, extents: parsed.extents,
        places: parsed.extents.map { Span(Int(places[Int($0.start)]), Int(places[Int($0.end) - 1]) + 1) })
      return numbered(expression)
    default:
      note("Invalid rule expression.  Expected 'true', 'false', or an expression string.", value.at)
      return nil
    }
  }

  private mutating func numbered(_ expression: DatabaseExpression) -> DatabaseExpression {
    var expression = expression
    expression.number = rules.count
    expression.looks = DatabaseLook.looks(of: expression.nodes)
    rules.append(expression)
    return expression
  }

  private mutating func indexes(_ value: PlacedJSON) -> [String] {
    switch value {
    case .string(let bytes, _, _): return [String(decoding: bytes, as: UTF8.self)]
    case .array(let elements, _):
      let names = elements.compactMap { element -> String? in
        guard case .string(let bytes, _, _) = element else { return nil }
        return String(decoding: bytes, as: UTF8.self)
      }
      if names.count == elements.count { return names }
    default: break
    }
    note("Invalid indexOn expression. Must be either a string or an array of strings", value.at)
    return []
  }
}

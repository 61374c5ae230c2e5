import VestaBytes
import VestaRules

/// A batch of the rules of the Realtime Database.
struct DatabaseBatch {
  let batch: Batch
  private let now = 1_780_000_000_000.0

  init(_ batch: Batch) { self.batch = batch }

  func result(of testCase: Case) -> CaseResult? {
    switch testCase.kind {
    case "compile": return compile(testCase)
    case "expression": return expression(testCase)
    case "program": return program(testCase)
    case "read", "set", "update":
      guard case .success(let rules) = compiled(batch.rules) else {
        return CaseResult(expected: testCase.expect, got: "the rules are refused")
      }
      let tree = DatabaseTree(json: testCase.json["data"] ?? batch.data, now: now)
      return CaseResult(expected: testCase.expect, got: step(testCase.json, rules, tree).isAllowed ? "allow" : "deny")
    default: return nil
    }
  }

  private func compiled(_ rules: JSONValue) -> Result<DatabaseRuleset, RulesetError> {
    let text = (try? rules.json()).map { String(decoding: $0, as: UTF8.self) } ?? ""
    return Result { () throws(RulesetError) in try DatabaseRuleset(text) }
  }

  private func compile(_ testCase: Case) -> CaseResult {
    let rules = testCase.json["rules"] ?? batch.rules
    switch compiled(rules) {
    case .success: return CaseResult(expected: testCase.expect, got: "accept")
    case .failure(let error):
      var result = CaseResult(expected: testCase.expect, got: "reject")
      if let message = testCase.json["error"]?.members?["message"]?.text {
        result.compare(message: message, error.issues.first?.message ?? "")
      }
      if result.verdictFailure != nil { result.verdictFailure? += ": \(error)" }
      return result
    }
  }

  private func expression(_ testCase: Case) -> CaseResult {
    var rules = JSONValue.object(JSONObject())
    var path: [String] = []
    var object = JSONObject()
    object[".read"] = testCase.json["rule"]
    rules = .object(object)
    for capture in (testCase.json["captures"]?.members?.members ?? []).sorted(by: { $0.name > $1.name }) {
      var outer = JSONObject()
      outer[capture.name] = rules
      rules = .object(outer)
      path.insert(capture.value.text ?? "", at: 0)
    }
    var document = JSONObject()
    document["rules"] = rules
    guard case .success(let ruleset) = compiled(.object(document)) else {
      return CaseResult(expected: testCase.expect, got: "reject")
    }
    let decision = ruleset.decideRead(
      path, auth: RulesValue(plain: testCase.json["auth"] ?? .null), query: query(testCase.json), now: now,
      data: DatabaseTree(json: testCase.json["data"] ?? .null, now: now))
    let got = decision.isAllowed ? "true" : decision.steps.last?.failure == nil ? "false" : "error"
    return CaseResult(expected: testCase.expect, got: got)
  }

  private func program(_ testCase: Case) -> CaseResult {
    guard case .success(let rules) = compiled(batch.rules) else {
      return CaseResult(expected: "rules", got: "the rules are refused")
    }
    var tree = DatabaseTree(json: testCase.json["data"] ?? .null, now: now)
    for (index, step) in (testCase.json["steps"]?.elements ?? []).compactMap(\.members).enumerated() {
      var step = step
      if step["kind"]?.text == "push" {
        step["kind"] = .string("set")
        step["path"] = .string((step["path"]?.text ?? "") + "/-Push\(index)")
      }
      let outcome = self.step(step, rules, tree)
      let isAdmin = step["auth"]?.members?["admin"] == .bool(true)
      if outcome.isAllowed || isAdmin { tree = outcome.tree }
      guard let expected = step["expect"]?.text else { continue }
      let got = outcome.isAllowed || isAdmin ? "allow" : "deny"
      if got != expected { return CaseResult(expected: "\(expected) in step \(index)", got: got) }
    }
    return CaseResult(expected: "", got: "")
  }

  /// Judges one operation, and the tree after it.
  private func step(
    _ json: JSONObject, _ rules: DatabaseRuleset, _ tree: DatabaseTree
  ) -> (isAllowed: Bool, tree: DatabaseTree) {
    let path = RulesPath(json["path"]?.text ?? "").segments
    let auth = RulesValue(plain: json["auth"] ?? .null)
    if json["kind"]?.text == "read" {
      let decision = rules.decideRead(path, auth: auth, query: query(json), now: now, data: tree)
      return (decision.isAllowed, tree)
    }
    var after = tree
    var paths: [[String]] = []
    if json["kind"]?.text == "update" {
      for member in json["value"]?.members?.members ?? [] {
        let place = path + RulesPath(member.name).segments
        paths.append(place)
        after = after.setting(DatabaseTree(json: member.value, now: now), at: place)
      }
    } else {
      paths = [path]
      after = after.setting(DatabaseTree(json: json["value"] ?? .null, now: now), at: path)
    }
    let decision = rules.decideWrite(paths, auth: auth, now: now, before: tree, after: after)
    return (decision.isAllowed, after)
  }

  private func query(_ json: JSONObject) -> DatabaseRulesQuery {
    guard let given = json["query"]?.members else { return DatabaseRulesQuery() }
    var query = DatabaseRulesQuery()
    if let child = given["orderByChild"]?.text { query.order = .child(child) }
    if given["orderByKey"] == .bool(true) { query.order = .key }
    if given["orderByValue"] == .bool(true) { query.order = .value }
    if given["orderByPriority"] == .bool(true) { query.order = .priority }
    query.startAt = DatabaseScalar(json: given["startAt"] ?? .null)
    query.endAt = DatabaseScalar(json: given["endAt"] ?? .null)
    query.equalTo = DatabaseScalar(json: given["equalTo"] ?? .null)
    query.limitToFirst = given["limitToFirst"]?.whole
    query.limitToLast = given["limitToLast"]?.whole
    return query
  }
}

extension DatabaseScalar {
  init(json: JSONValue) {
    switch json {
    case .bool(let bool): self = .bool(bool)
    case .integer(let number): self = .number(Double(number))
    case .number(let number): self = .number(number)
    case .string(let text): self = .string(text)
    default: self = .null
    }
  }
}

extension DatabaseTree {
  /// A tree from JSON as exports have it: `.value` with `.priority`; `{".sv": "timestamp"}` is the time.
  init(json: JSONValue, now: Double) {
    switch json {
    case .null: self = .missing
    case .object(let object):
      let priority = DatabaseScalar(json: object[".priority"] ?? .null)
      if object[".sv"] != nil {
        self = .leaf(.number(now))
      } else if let value = object[".value"] {
        self = value == .null ? .missing : .leaf(DatabaseScalar(json: value), priority: priority)
      } else {
        self.init(object.members.filter { !$0.name.hasPrefix(".") }.map { ($0.name, $0.value) }, priority, now)
      }
    case .array(let elements):
      self.init(elements.enumerated().map { (String($0.offset), $0.element) }, .null, now)
    default: self = .leaf(DatabaseScalar(json: json))
    }
  }

  private init(_ members: [(String, JSONValue)], _ priority: DatabaseScalar, _ now: Double) {
    var children: [String: DatabaseTree] = [:]
    for (name, value) in members {
      let child = DatabaseTree(json: value, now: now)
      if child != .missing { children[name] = child }
    }
    self = children.isEmpty ? .missing : .parent(children, priority: priority)
  }
}

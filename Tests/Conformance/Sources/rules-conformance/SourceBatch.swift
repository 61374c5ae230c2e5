import VestaBytes
import VestaRules

/// A batch of the language of Firestore and Storage.
struct SourceBatch {
  let batch: Batch
  let service: RulesService
  private let compiled: Result<Ruleset, RulesetError>
  private let time = RulesValue.timestamp(RulesTimestamp(seconds: 1_780_000_000))

  init(_ batch: Batch, _ service: RulesService) {
    self.batch = batch
    self.service = service
    let source = batch.rules.text ?? ""
    compiled = Result { () throws(RulesetError) in try Ruleset(source, for: service) }
  }

  func result(of testCase: Case) -> CaseResult? {
    if testCase.kind == "compile" { return compile(testCase) }
    guard ["evaluate", "get", "commit", "query", "upload"].contains(testCase.kind) else { return nil }
    let ruleset: Ruleset
    switch compiled {
    case .success(let found): ruleset = found
    case .failure(let error): return CaseResult(expected: testCase.expect, got: "the ruleset is refused: \(error)")
    }
    let decision = decide(testCase, ruleset)
    var result = CaseResult(expected: testCase.expect, got: decision.isAllowed ? "allow" : "deny")
    compareError(testCase, decision, &result)
    return result
  }

  // MARK: Compiling

  private func compile(_ testCase: Case) -> CaseResult {
    let issues: [RulesIssue]
    let got: String
    switch compiled {
    case .success(let ruleset): (got, issues) = ("accept", ruleset.warnings)
    case .failure(let error): (got, issues) = ("reject", error.issues)
    }
    var result = CaseResult(expected: testCase.expect, got: got)
    guard let recorded = testCase.json["issues"]?.elements else { return result }
    let expected = recorded.compactMap(\.members).map { issue in
      SourceBatch.line(
        issue["severity"]?.text ?? "", issue["description"]?.text ?? "",
        ["line", "column", "startOffset", "endOffset"].map { issue[$0]?.whole })
    }
    let actual = issues.enumerated().map { index, issue in
      let known = index < recorded.count ? recorded[index].members : nil
      let position = issue.position
      let numbers = [position?.line, position?.column, position?.startOffset, position?.endOffset]
      let names = ["line", "column", "startOffset", "endOffset"]
      return SourceBatch.line(
        issue.severity.rawValue, issue.message,
        zip(names, numbers).map { name, number in known?[name] == nil ? nil : number })
    }
    result.compare(message: expected.joined(separator: "\n"), actual.joined(separator: "\n"))
    return result
  }

  private static func line(_ severity: String, _ text: String, _ numbers: [Int?]) -> String {
    "\(severity) \(numbers.map { $0.map(String.init) ?? "-" }.joined(separator: ":")) \(text)"
  }

  // MARK: Decisions

  private func decide(_ testCase: Case, _ ruleset: Ruleset) -> RulesDecision {
    let json = testCase.json
    let auth = json["auth"].map { RulesValue(request: $0) } ?? .null
    switch testCase.kind {
    case "evaluate": return evaluate(json, ruleset)
    case "query": return query(json, auth, ruleset)
    case "upload": return upload(json, auth, ruleset)
    case "commit": return commit(json, auth, ruleset)
    default:
      let path = Documents.path(json["path"]?.text ?? "")
      let documents = self.documents(json)
      return ruleset.decide(
        RulesRequest(.get, path, auth: auth, time: time, existing: existing(path, documents)), documents: documents)
    }
  }

  private func documents(_ json: JSONObject) -> Documents {
    Documents([batch.documents] + (json["documents"]?.members.map { [$0] } ?? []))
  }

  private func existing(_ path: RulesPath, _ documents: Documents) -> RulesValue {
    documents.before[path].map { .map(Documents.resource(path, $0)) } ?? .null
  }

  private func evaluate(_ json: JSONObject, _ ruleset: Ruleset) -> RulesDecision {
    let given = json["request"]?.members ?? JSONObject()
    let request = RulesRequest(
      RulesMethod(rawValue: given["method"]?.text ?? "") ?? .get, RulesPath(given["path"]?.text ?? ""),
      auth: given["auth"].map { RulesValue(request: $0) }, resource: given["resource"].map { RulesValue(request: $0) },
      query: given["query"].map { RulesValue(request: $0) }, time: given["time"].map { RulesValue(request: $0) },
      existing: json["resource"].map { RulesValue(request: $0) })
    // Answers that a case gives are not counted.
    var budget = RulesBudget(accesses: .max, limits: ruleset.limits)
    let mocks = Mocks(json["mocks"]?.elements ?? [], service: service)
    return ruleset.decide(request, documents: mocks, budget: &budget)
  }

  private func upload(_ json: JSONObject, _ auth: RulesValue, _ ruleset: Ruleset) -> RulesDecision {
    let path = RulesPath(json["path"]?.text ?? "")
    let resource: RulesMap = [
      "bucket": .string(path.segments.dropFirst().first ?? ""),
      "name": .string(path.segments.dropFirst(3).joined(separator: "/")), "size": .int(Int64(json["size"]?.whole ?? 0)),
      "contentType": .string("application/octet-stream"), "metadata": .map([:]),
    ]
    return ruleset.decide(
      RulesRequest(.create, path, auth: auth, resource: .map(resource), time: time), documents: documents(json))
  }

  private func commit(_ json: JSONObject, _ auth: RulesValue, _ ruleset: Ruleset) -> RulesDecision {
    var documents = self.documents(json)
    let writes = json["writes"]?.elements?.compactMap(\.members) ?? []
    var requests: [RulesRequest] = []
    for write in writes {
      let path = Documents.path(write["set"]?.text ?? write["delete"]?.text ?? "")
      let existing = self.existing(path, documents)
      if case .map(let data)? = write["fields"].map({ RulesValue(plain: $0, time: time) }) {
        documents.after[path] = data
        requests.append(
          RulesRequest(
            documents.before[path] == nil ? .create : .update, path, auth: auth,
            resource: .map(Documents.resource(path, data)), time: time, existing: existing))
      } else {
        documents.after[path] = nil
        requests.append(RulesRequest(.delete, path, auth: auth, time: time, existing: existing))
      }
    }
    var budget = RulesBudget.commit(limits: ruleset.limits)
    var last = RulesDecision.nothing
    for request in requests {
      budget.beginWrite(request.path)
      last = ruleset.decide(request, documents: documents, budget: &budget)
      guard last.isAllowed else { return last }
    }
    return last
  }

  private func query(_ json: JSONObject, _ auth: RulesValue, _ ruleset: Ruleset) -> RulesDecision {
    let given = json["query"]?.members ?? JSONObject()
    let query = RulesQuery(
      given["collection"]?.text ?? "", below: Documents.path(given["parent"]?.text ?? ""),
      isGroup: given["allDescendants"] == .bool(true), filter: given["filter"]?.members.flatMap(filter),
      order: (given["orderBy"]?.elements ?? []).compactMap(\.elements).map { pair in
        (pair.first?.text ?? "", pair.last?.text == "desc")
      },
      limit: given["limit"]?.whole.map(Int64.init), offset: Int64(given["offset"]?.whole ?? 0))
    return ruleset.decide(query, auth: auth, time: time, documents: documents(json))
  }

  private func filter(_ json: JSONObject) -> RulesQuery.Filter? {
    let name = json["op"]?.text ?? ""
    if let filters = json["filters"]?.elements?.compactMap(\.members).compactMap(filter) {
      return name == "OR" ? .any(filters) : .all(filters)
    }
    guard let comparison = RulesQuery.Comparison(rawValue: name) else { return nil }
    let field = (json["field"]?.text ?? "").split(separator: ".").map(String.init)
    return .field(field, comparison, RulesValue(plain: json["value"] ?? .null))
  }

  // MARK: Messages

  private func compareError(_ testCase: Case, _ decision: RulesDecision, _ result: inout CaseResult) {
    let failures = decision.statements.filter { $0.failure != nil }
    guard let recorded = testCase.json["error"]?.members else {
      if batch.errorsRecorded, testCase.expect == "deny" {
        result.compare(message: "no error", failures.first?.failure?.description ?? "no error")
      }
      return
    }
    let expected = [
      recorded["message"]?.text ?? recorded["messageContains"]?.text ?? "",
      "\(recorded["line"]?.whole.map(String.init) ?? "-"):\(recorded["column"]?.whole.map(String.init) ?? "-")",
      "\(recorded["startOffset"]?.whole.map(String.init) ?? "-"):\(recorded["endOffset"]?.whole.map(String.init) ?? "-")",
    ].joined(separator: " @ ")
    let actual = failures.map { statement in
      let message = statement.failure?.description ?? ""
      let position = statement.failurePosition
      let contained = recorded["messageContains"]?.text.flatMap { message.contains($0) ? $0 : nil }
      func number(_ name: String, _ value: Int?) -> String {
        recorded[name] == nil ? "-" : value.map(String.init) ?? "?"
      }
      return [
        contained ?? message, "\(number("line", position?.line)):\(number("column", position?.column))",
        "\(number("startOffset", position?.startOffset)):\(number("endOffset", position?.endOffset))",
      ].joined(separator: " @ ")
    }
    result.compare(message: expected, actual.contains(expected) ? expected : actual.joined(separator: "; "))
  }
}

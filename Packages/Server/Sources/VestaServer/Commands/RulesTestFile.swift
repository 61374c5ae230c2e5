import VestaBytes
import VestaRules
import VestaRulesTesting

/// A file of cases for rules of Firestore, which `vesta rules test` checks.
///
/// ```json
/// {
///   "rules": "firestore.rules",
///   "documents": {"notes/n1": {"owner": "ada"}},
///   "cases": [
///     {"allows": "get", "path": "notes/n1", "as": {"uid": "ada"}},
///     {"denies": "set", "path": "notes/n1", "to": {"owner": "eve"}, "as": {"uid": "eve", "claims": {"admin": false}}},
///     {"denies": "delete", "path": "notes/n1"}
///   ]
/// }
/// ```
///
/// Calls are `get`, `set` and `update` with the fields in `to`, and `delete`; a case without `as` has no user.
/// Numbers without a fraction are integers.
struct RulesTestFile {
  private enum Call: String {
    case get, set, update, delete
  }

  private struct Case {
    let allows: Bool
    let call: Call
    let path: String
    let fields: RulesValue
    let user: RulesUser

    var title: String { "\(allows ? "allows" : "denies") \(call.rawValue) \(path)" }
  }

  /// The path of the rules as the file has it; `nil` for the rules of `firebase.json`.
  let rules: String?
  private let documents: [String: RulesValue]
  private let cases: [Case]

  /// Reads a file.
  ///
  /// - Throws: ``ServerError`` with the number of a case that is wrong.
  init(_ bytes: [UInt8]) throws(ServerError) {
    guard let object = try? JSONObject(json: bytes), let list = object["cases"]?.array else {
      throw ServerError("It is no JSON object with cases.")
    }
    rules = object["rules"]?.string
    documents = Dictionary(
      (object["documents"]?.object?.members ?? []).map { ($0.name, RulesValue(ofTest: $0.value)) },
      uniquingKeysWith: { $1 })
    var cases: [Case] = []
    for (index, element) in list.enumerated() {
      guard let object = element.object, let one = Self.read(object) else {
        throw ServerError(
          "Case \(index + 1) needs \"allows\" or \"denies\" with get, set, update or delete, and a path.")
      }
      cases.append(one)
    }
    self.cases = cases
  }

  private static func read(_ object: JSONObject) -> Case? {
    let (allows, denies) = (object["allows"]?.string, object["denies"]?.string)
    guard (allows == nil) != (denies == nil), let call = (allows ?? denies).flatMap(Call.init),
      let path = object["path"]?.string, path.parts(at: "/", omittingEmpty: true).count.isMultiple(of: 2), !path.isEmpty
    else { return nil }
    var user = RulesUser.nobody
    if let claims = object["as"]?.object {
      guard let id = claims["uid"]?.string else { return nil }
      let more = claims["claims"].map { RulesValue(ofTest: $0) }
      if case .map(let map)? = more { user = .user(id, claims: map) } else { user = .user(id) }
    }
    return Case(
      allows: allows != nil, call: call, path: path,
      fields: object["to"].map { RulesValue(ofTest: $0) } ?? .map(.empty),
      user: user)
  }

  /// Checks all cases.
  ///
  /// - Parameter source: The text of the rules.
  /// - Returns: A line for each case, and the trace of each that does not hold; the status is 1 where there is one.
  /// - Throws: `RulesetError` for rules that do not compile.
  func check(_ source: String) throws(RulesetError) -> (result: CommandResult, coverage: RulesCoverage) {
    var tester = try RulesTester(firestore: source)
    tester.documents = documents
    var (lines, failed) = ([String](), 0)
    for one in cases {
      do throws(RulesTestFailure) {
        try Self.check(one, tester)
        lines.append("passed: \(one.title)")
      } catch {
        failed += 1
        lines += ["FAILED: \(one.title)", error.description]
      }
    }
    lines.append("\(cases.count - failed) passed, \(failed) failed")
    return (CommandResult(lines.joined(separator: "\n"), status: failed == 0 ? 0 : 1), tester.coverage)
  }

  private static func check(_ one: Case, _ tester: RulesTester) throws(RulesTestFailure) {
    switch (one.call, one.allows) {
    case (.get, true): try tester.allows(get: one.path, as: one.user)
    case (.get, false): try tester.denies(get: one.path, as: one.user)
    case (.set, true): try tester.allows(set: one.path, to: one.fields, as: one.user)
    case (.set, false): try tester.denies(set: one.path, to: one.fields, as: one.user)
    case (.update, true): try tester.allows(update: one.path, with: one.fields, as: one.user)
    case (.update, false): try tester.denies(update: one.path, with: one.fields, as: one.user)
    case (.delete, true): try tester.allows(delete: one.path, as: one.user)
    case (.delete, false): try tester.denies(delete: one.path, as: one.user)
    }
  }
}

extension RulesValue {
  /// The value of JSON in a file of cases.
  fileprivate init(ofTest json: JSONValue) {
    self =
      switch json {
      case .null: .null
      case .bool(let bool): .bool(bool)
      case .integer(let number): .int(number)
      case .number(let number): .float(number)
      case .string(let text): .string(text)
      case .array(let list): .list(list.map(RulesValue.init(ofTest:)))
      case .object(let object):
        .map(RulesMap(object.members.map { RulesMap.Member($0.name, RulesValue(ofTest: $0.value)) }))
      }
  }
}

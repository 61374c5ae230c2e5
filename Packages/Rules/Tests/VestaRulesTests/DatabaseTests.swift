import Testing
import VestaTesting

@testable import VestaRules

@Suite struct DatabaseTests {
  private let ada: RulesValue = .map([
    "uid": .string("ada"), "token": .map(["level": .int(3), "roles": .map(["admin": .bool(true)])]),
  ])

  private func data() -> DatabaseTree {
    .parent([
      "users": .parent([
        "ada": .parent(["age": .leaf(.number(36), priority: .number(2)), "name": .leaf(.string("Ada"))])
      ]),
      "open": .leaf(.bool(true)),
    ])
  }

  private func outcome(_ rule: String, query: DatabaseRulesQuery = DatabaseRulesQuery()) throws -> Verdict {
    var object = "{\"rules\": {\"users\": {\"$id\": {\".read\": \""
    for byte in rule.unicodeScalars { object += byte == "\"" || byte == "\\" ? "\\\(byte)" : String(byte) }
    object += "\"}}}}"
    let decision = try DatabaseRuleset(object).decideRead(
      ["users", "ada"], auth: ada, query: query, now: 5, data: data())
    if decision.isAllowed { return .yes }
    return decision.steps.last?.failure.map { .error($0.description) } ?? .no
  }

  @Test(arguments: [
    "$id === auth.uid && auth.token.roles.admin === true", "data.child('age').val() + 1 == 37 && data.hasChild('name')",
    "data.hasChildren() && data.hasChildren(['age', 'name']) && data.hasChildren([])", "now == 5",
    "data.child('name').val().contains('d') && data.child('name').val().length == 3",
    "data.parent().parent().child('open').val()== true",
    "data.parent().child($id).child('name').exists() && data.child('age').parent().hasChild('name')",
    "root.child('users').child('/' + $id + '//name/').val() == 'Ada' && data.child('').child('age').exists()",
    "!data.hasChildren(['age', 'nothing']) && data.parent().hasChildren([$id, 'ada/age'])",
    "root.child('users/ada/age').isNumber() && !data.child('name').isBoolean()", "data.child('age').getPriority() == 2",
    "data.child('name').val().matches(/^a/i) && !'xay'.matches(/^a$/)",
    "auth.nothing == null && auth.nothing.deep == null",
    "'a' + 1 == 'a1' && 'a' + 1.5 == 'a1.5' && 'a' + 1/0 == 'aNaN'", "7 % -4 == 3 && -7 % 4 == -3 && 1 + 2 * 3 == 7",
    "'banana'.replace('a', 'b') == 'bbnbnb' && 'a'.replace('', 'x') == 'a'", "data.val() != null && data.val() != 'x'",
    "(true ? 1 : 'a') == 1", "'A'.toLowerCase() == 'a' && 'abc'.endsWith('bc') && 'abc'.beginsWith('ab')",
    "\"\\u0041\" == 'A'", "'\\uD83D\\uDE00' == '😀' && '\\n\\q' == '\n' + 'q'",
    "'a/b'.matches(/[/]b/)", "auth['uid'] == 'ada' && auth[$id] == null && data['exists']() == true",
  ])
  func `a rule is true`(rule: String) throws { #expect(try outcome(rule) == .yes) }

  @Test(arguments: [
    "auth.token.level && true", "true || data.child(auth.none).exists()", "data.child(auth.none).exists() || true",
    "auth.none.contains('a') || true", "auth.none > 1 || true", "root.parent() == null || true",
    "root.parent().child('a').exists() || true", "data.parent().parent().parent().child(auth.none).exists() || true",
  ])
  func `an error is not made up for, and a type that is wrong is refused`(rule: String) throws {
    if rule.hasPrefix("true ||") {
      #expect(try outcome(rule) == .yes)
      return
    }
    do {
      let got = try outcome(rule)
      #expect(got != .yes && got != .no, "\(rule): \(got)")
    } catch {
      #expect(error is RulesetError)
    }
  }

  @Test func `comments are read, and errors are placed in the document`() {
    let source = """
      { // rules
        "rules": { /* all */
          "a": { ".read": "auth.uid ==
             foo" }
        }
      }
      """
    do throws(RulesetError) {
      _ = try DatabaseRuleset(source)
      Issue.record("the name foo was accepted")
    } catch {
      #expect(error.issues.map(\.description) == ["ERROR 4:8: Unknown variable 'foo'."])
    }
  }

  @Test func `of several wrong members the first one is named`() {
    let error = #expect(throws: RulesetError.self) { try DatabaseRuleset("{\"rules\": {},\n\"a\": 1,\n\"b\": 2}") }
    #expect(error?.issues.map(\.description) == ["ERROR 2:1: Expected 'rules' property."])
  }

  @Test(arguments: [
    ("[]", "Expected 'rules' property."), ("{\"rule\": {}}", "Expected 'rules' property."), ("{", "Parse error."),
    ("{\"rules\": 1}", "Expected '{'."), ("{\"rules\": {\".read\": \"data.hasChildren((\"}}", "Parse error."),
    (
      "{\"rules\": {\"a\": {\".indexOn\": 1}}}",
      "Invalid indexOn expression. Must be either a string or an array of strings"
    ),
    ("{\"rules\": {\".read\": \"var a = 1\"}}", "Parse error."),
    ("{\"rules\": {\".read\": \"auth = null\"}}", "Rule expressions may not contain assignments."),
    ("{\"rules\": {\".read\": \"'a'.matches(/a/g)\"}}", "regular expressions do not support flags other than i"),
  ])
  func `a document that is no rules is refused`(source: String, message: String) {
    do throws(RulesetError) {
      _ = try DatabaseRuleset(source)
      Issue.record("\(source) was accepted")
    } catch {
      #expect(error.issues.first?.message == message)
    }
  }

  @Test func `writes need a grant from above, and validation everywhere`() throws {
    let rules = try DatabaseRuleset(
      """
      {"rules": {"rooms": {"$room": {".write": "auth != null", ".validate": "newData.hasChildren(['name'])",
        "name": {".validate": "newData.isString() && newData.val().length < 5"}, "$other": {".validate": "$other === 'topic'"},
        ".indexOn": ["name", "topic"]}}}}
      """)
    #expect(rules.indexes(at: ["rooms", "x"]) == ["name", "topic"])
    let room = DatabaseTree.parent(["name": .leaf(.string("home")), "topic": .leaf(.string("tea"))])
    let before = DatabaseTree.missing.setting(room, at: ["rooms", "a"])
    func decide(_ paths: [([String], DatabaseTree)], _ auth: RulesValue) -> Bool {
      let after = paths.reduce(before) { $0.setting($1.1, at: $1.0) }
      return rules.decideWrite(paths.map(\.0), auth: auth, before: before, after: after).isAllowed
    }
    #expect(decide([(["rooms", "b"], room)], ada))
    #expect(!decide([(["rooms", "b"], room)], .null))
    #expect(!decide([(["rooms"], .parent(["b": room]))], ada))
    #expect(!decide([(["rooms", "a", "extra"], .leaf(.number(1)))], ada))
    #expect(decide([(["rooms", "a", "topic"], .leaf(.number(1)))], ada))
    // A delete is asked of the ancestors that remain, and of nothing below.
    #expect(!decide([(["rooms", "a", "name"], .missing)], ada))
    #expect(decide([(["rooms", "a"], .missing)], ada))
    // Paths of one update are judged by the result of all of them.
    #expect(
      decide([(["rooms", "c", "name"], .leaf(.string("new"))), (["rooms", "c", "topic"], .leaf(.bool(true)))], ada))
    #expect(!decide([(["rooms", "c", "topic"], .leaf(.bool(true)))], ada))
  }

  @Test func `escapes in the JSON of rules are the characters that they stand for`() throws {
    func isAllowed(_ rules: String, _ path: String, _ uid: String) throws -> Bool {
      try DatabaseRuleset("{\"rules\": \(rules)}").decideRead(
        [path], auth: ["uid": .string(uid)], data: DatabaseTree.leaf(.number(1))
      ).isAllowed
    }
    let rules = #"{"\u0061\u00E9\u00ff": {".read": "auth.uid === '\uD83D\ude00\u20AC\/'"}}"#
    #expect(try isAllowed(rules, "aéÿ", "😀€/"))
    #expect(try !isAllowed(rules, "aéÿ", "😀/"))
    #expect(try !isAllowed(rules, "a", "😀€/"))
    // Half of a pair is no character.
    #expect(try isAllowed(#"{"a": {".read": "auth.uid === '\uD83Dx'"}}"#, "a", "\u{FFFD}x"))
    for escape in [#"\u"#, #"\u00"#, #"\u00g0"#, #"\u+041"#, #"\u-041"#, #"\x41"#, #"\uD83D\u+E00"#] {
      #expect(throws: RulesetError.self) { try isAllowed("{\"a\(escape)\": {\".read\": true}}", "a", "") }
    }
    // In an expression too, whose own escapes are escaped in JSON.
    #expect(try isAllowed(#"{"a": {".read": "'\\u0041' == 'A'"}}"#, "a", ""))
    for escape in [#"\\u"#, #"\\u00"#, #"\\u00g0"#, #"\\u+041"#, #"\\u-041"#, #"\\uD83D\\u+E00"#] {
      #expect(throws: RulesetError.self) { try isAllowed(#"{"a": {".read": "'\#(escape)' == 'A'"}}"#, "a", "") }
    }
  }

  @Test(arguments: 0..<4) func `random rules are read or refused, and each read is answered`(seed: UInt64) {
    tryRules(4_000, seed)
  }

  /// Compiles random rules, and asks the rulesets that compile.
  func tryRules(_ count: Int, _ seed: UInt64) {
    let words = [
      "auth", ".uid", "data", "root", "newData", ".val()", ".child('a')", ".parent()", "'a'", "1", "(", ")", "[", "]",
      "&&",
      "||", "!", "==", "<", "+", "-", "/", "/a/", "?", ":", "$id", "now", "query", ".length", ".replace('a', 'aa')",
      "null",
      "true", "=", "%", ".matches(/a*/)", ",", "'", "\\", "é", ".exists()",
    ]
    var random = SplitMix(seed: seed)
    for _ in 0..<count {
      let rule = (0..<random.below(12)).map { _ in random.pick(words) }.joined(separator: random.pick(["", " "]))
      guard let rules = try? DatabaseRuleset("{\"rules\": {\"$id\": {\".read\": \"\(rule)\"}}}") else { continue }
      _ = rules.decideRead(["users"], auth: ada, data: data())
    }
  }

  @Test func `keys are compared by their bytes`() throws {
    let rules = try DatabaseRuleset("{\"rules\": {\"\u{E9}\": {\".read\": true}}}")
    #expect(rules.allowsRead(["\u{E9}"], data: DatabaseTree.missing))
    #expect(!rules.allowsRead(["e\u{301}"], data: DatabaseTree.missing))
  }

  @Test func `chains and nests of any length end`() throws {
    let deep = String(repeating: "(", count: 20_000) + "1" + String(repeating: ")", count: 20_000)
    for rule in [
      deep + " == 1", String(repeating: "!", count: 20_000) + "true",
      "1" + String(repeating: "+1", count: 20_000) + " > 0",
    ] {
      #expect(throws: RulesetError.self) { try DatabaseRuleset("{\"rules\": {\".read\": \"\(rule)\"}}") }
    }
    #expect(throws: RulesetError.self) { try DatabaseRuleset(String(repeating: "{\"a\":", count: 50_000)) }
    let chain = (0..<5_000).map { _ in "true" }.joined(separator: "&&")
    #expect(try DatabaseRuleset("{\"rules\": {\".read\": \"\(chain)\"}}").allowsRead([], data: DatabaseTree.missing))
    let growing = "'aaaaaaaaaa'" + String(repeating: ".replace('a', 'aaaaaaaaaa')", count: 50)
    let rules = try DatabaseRuleset("{\"rules\": {\".read\": \"\(growing) != ''\"}}")
    #expect(
      rules.decideRead([], data: DatabaseTree.missing).steps.last?.failure?.description
        == "maximum size of values has been reached")
  }

  /// A tree of which a node is known when it has been read.
  private final class PartlyRead: DatabaseRulesData {
    let tree: DatabaseTree
    var known: Set<[String]> = []
    var missed: Set<[String]> = []
    var missedCount: Int { missed.count }

    init(_ tree: DatabaseTree) { self.tree = tree }

    func node(at path: [String]) -> DatabaseRulesNode {
      if known.contains(path) { return tree.node(at: path) }
      missed.insert(path)
      return .missing
    }

    func childNames(at path: [String]) -> [String] { tree.childNames(at: path) }
  }

  @Test func `all that a decision has to read is known after few attempts`() throws {
    let rules = try DatabaseRuleset(
      #"{"rules": {"items": {"$i": {".write": "auth.uid === 'ada' && root.child('open').val() === true && root.child('until').val() > now", ".validate": "root.child('kinds').child(newData.child('kind').val()).exists()"}}}}"#
    )
    let numbers = 0..<1_000
    let kinds = DatabaseTree.parent(Dictionary(uniqueKeysWithValues: numbers.map { ("k\($0)", .leaf(.bool(true))) }))
    let before = DatabaseTree.parent(["open": true, "until": 5, "kinds": kinds])
    let items = Dictionary(
      uniqueKeysWithValues: numbers.map { ("i\($0)", DatabaseTree.parent(["kind": .leaf(.string("k\($0)"))])) })
    func decide(_ after: DatabaseTree) -> (isAllowed: Bool, attempts: Int) {
      let (old, new) = (PartlyRead(before), PartlyRead(after))
      for attempt in 1... {
        let decision = rules.decideWrite(
          numbers.map { ["items", "i\($0)"] }, auth: ["uid": "ada"], now: 1, before: old, after: new)
        if old.missed.isEmpty, new.missed.isEmpty { return (decision.isAllowed, attempt) }
        for data in [old, new] { (data.known, data.missed) = (data.known.union(data.missed), []) }
      }
      return (false, 0)
    }
    let all = decide(before.setting(.parent(items), at: ["items"]))
    #expect(all.isAllowed)
    #expect(all.attempts <= 5)
    let wrong = decide(before.setting(.parent(items), at: ["items"]).setting("none", at: ["items", "i999", "kind"]))
    #expect(!wrong.isAllowed)
    #expect(wrong.attempts <= 5)
  }

  /// As many nodes missed before as after are nodes missed: the operand that follows is looked at in the same attempt.
  @Test(arguments: [
    "newData.child('a').val() != data.child('a').val() && root.child('b').val() == 1",
    "!(newData.child('a').val() == data.child('a').val() || root.child('b').val() == 2)",
  ]) func `what both states miss is read together with what the next operand looks at`(rule: String) throws {
    let rules = try DatabaseRuleset("{\"rules\": {\"x\": {\".write\": \"\(rule)\"}}}")
    let before = DatabaseTree.parent(["x": .parent(["a": 1]), "b": 1])
    let old = PartlyRead(before)
    let new = PartlyRead(before.setting(2, at: ["x", "a"]))
    var attempts = 0
    repeat {
      for data in [old, new] { (data.known, data.missed) = (data.known.union(data.missed), []) }
      attempts += 1
      let decision = rules.decideWrite([["x", "a"]], before: old, after: new)
      #expect(decision.isAllowed || !old.missed.isEmpty || !new.missed.isEmpty)
    } while !(old.missed.isEmpty && new.missed.isEmpty)
    // One to miss all nodes, and one with all of them.
    #expect(attempts == 2)
  }

  @Test func `the only child of a node can be deleted though the node would not be valid without it`() throws {
    let rules = try DatabaseRuleset(
      #"{"rules": {"path": {".write": true, ".validate": "newData.hasChildren(['a'])", "a": {".validate": "newData.isNumber()"}, "$other": {".validate": false}}}}"#
    )
    let before = DatabaseTree.parent(["path": .parent(["a": 1])])
    let after = before.setting(.missing, at: ["path", "a"])
    #expect(after == .missing)
    let decision = rules.decideWrite([["path", "a"]], before: before, after: after)
    #expect(decision.isAllowed, "\(decision.steps)")
    #expect(rules.decideWrite([["path", "a"]], before: DatabaseTree.missing, after: before).isAllowed)
  }

  @Test(arguments: [
    (0.0, "0"), (-0.0, "0"), (1, "1"), (-1.5, "-1.5"), (100, "100"), (123.456, "123.456"),
    (1e20, "100000000000000000000"),
    (1e21, "1e+21"), (1.5e300, "1.5e+300"), (1e16, "10000000000000000"), (9_007_199_254_740_992, "9007199254740992"),
    (0.1, "0.1"), (0.000001, "0.000001"), (0.0000015, "0.0000015"), (1e-7, "1e-7"), (1.25e-7, "1.25e-7"),
    (.leastNonzeroMagnitude, "5e-324"),
    (.nan, "NaN"), (.infinity, "Infinity"), (-.infinity, "-Infinity"),
  ]) func `a number is appended to a string as JavaScript writes it`(number: Double, text: String) {
    #expect(JavaScriptNumbers.text(number) == text)
  }

  @Test func `a long value is not searched without end`() throws {
    func allows(_ count: Int, size: Int) throws -> Bool {
      let search = Array(repeating: "!data.val().beginsWith('b')", count: count).joined(separator: " && ")
      let text = String(repeating: "a", count: size)
      return try DatabaseRuleset("{\"rules\": {\".read\": \"\(search)\"}}").allowsRead(
        [], data: DatabaseTree.leaf(.string(text)))
    }
    #expect(try allows(100, size: 10_000))
    #expect(try !allows(30, size: 5_000_000))
  }

  @Test func `an expression without a table searches fewer bytes`() throws {
    func allows(_ expression: String, times: Int) throws -> Bool {
      var limits = RulesLimits()
      limits.tuning.databaseSearch = 100_000
      let search = Array(repeating: "!data.val().matches(/\(expression)/)", count: times).joined(separator: " && ")
      let text = DatabaseTree.leaf(.string(String(repeating: "a", count: 2_048)))
      return try DatabaseRuleset("{\"rules\": {\".read\": \"\(search)\"}}", limits: limits).allowsRead([], data: text)
    }
    #expect(try allows("ab", times: 20))
    // It has more states than a table.
    #expect(try allows("a(a|b){12}c", times: 2))
    #expect(try !allows("a(a|b){12}c", times: 5))
  }

  @Test(arguments: [
    (#"{"rules": {".read": -1.5e+3}}"#, "Invalid rule expression.  Expected 'true', 'false', or an expression string."),
    (#"{"rules": {".read": 1e-3}}"#, "Invalid rule expression.  Expected 'true', 'false', or an expression string."),
    (#"{"rules": {".read": nan}}"#, "Parse error."), (#"{"rules": {".read": .5}}"#, "Parse error."),
    (#"{"rules": {".read": "\u+041"}}"#, "Parse error."),
  ]) func `a value that is no rule is told from one that is no JSON`(source: String, message: String) {
    let error = #expect(throws: RulesetError.self) { try DatabaseRuleset(source) }
    #expect(error?.issues.map(\.message).contains { $0.contains(message) } == true, "\(String(describing: error))")
  }

  @Test func `parts of texts are found and replaced as by looking at every place`() {
    /// Replaces places from the left that do not overlap, one character after another.
    func replaced(_ text: [UInt8], _ part: [UInt8], _ new: [UInt8]) -> [UInt8] {
      var (result, index): ([UInt8], Int) = ([], 0)
      while index < text.count {
        if text[index...].starts(with: part) {
          result += new
          index += part.count
        } else {
          result.append(text[index])
          index += 1
        }
      }
      return result
    }
    var random = SplitMix(seed: 11)
    for _ in 0..<3_000 {
      func letters(_ count: Int) -> [UInt8] { (0..<count).map { _ in random.pick(Array("ab".utf8)) } }
      let (text, part) = (letters(random.below(24)), letters(1 + random.below(7)))
      let (whole, piece) = (String(decoding: text, as: UTF8.self), String(decoding: part, as: UTF8.self))
      let expected = replaced(text, part, Array("-".utf8))
      #expect(BytesSearch.contains(whole, piece) == expected.contains(UInt8(ascii: "-")), "\(piece) in \(whole)")
      #expect(
        BytesSearch.replace(whole, piece, "-", limit: 100).map { Array($0.utf8) } == expected, "\(piece) in \(whole)")
    }
  }
}

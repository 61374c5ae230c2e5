import Testing

@testable import VestaRules

/// The facts about the rules of the Realtime Database at run time, a case for each sentence.
@Suite struct DatabaseFactsTests {
  private let data: DatabaseTree = .parent([
    "n": .leaf(.number(5), priority: .number(3)), "s": "text", "no": false, "map": .parent(["length": 2, "a": 1]),
    "emoji": "a😀",
  ])

  private func outcome(
    _ rule: String, auth: RulesValue = .null, query: DatabaseRulesQuery = DatabaseRulesQuery()
  ) throws -> Verdict {
    let escaped = rule.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    let rules = try DatabaseRuleset("{\"rules\": {\".read\": \"\(escaped)\"}}")
    let decision = rules.decideRead([], auth: auth, query: query, now: 1_000, data: data)
    if decision.isAllowed { return .yes }
    return decision.steps.last?.failure.map { .error($0.description) } ?? .no
  }

  @Test(arguments: [
    "auth == null && auth.uid == null && auth.token.email.domain == null", "data.child('n').val() === 5",
    "!(data.child('n').val() == '5') && !(1 == true) && !(null == false) && 0 == -0",
    "1 / 0 != 1 / 0 && !(1 / 0 < 1) && !(1 / 0 >= 1) && 'a' + 1 / 0 == 'aNaN' && 1 % 0 != 1 % 0",
    "-7 % 2 == -1 && 7 % -2 == 1 && 5.5 % 2 == 1.5", "'x' + 1 == 'x1' && 1.5 + 'x' == '1.5x' && 1 + 2 + 'x' == '3x'",
    "'a/a/g'.replace('/a/g', 'z') == 'az' && 'a.a'.replace('.', '') == 'aa'",
    "data.hasChildren([]) && data.child('s').hasChildren([]) && data.child('gone').hasChildren([])",
    "data.hasChildren() && !data.child('s').hasChildren() && !data.child('gone').hasChildren()",
    "data.hasChildren(['n', 'map/a']) && !data.hasChildren(['n', 'gone'])",
    "!data.child('./n').exists() && !data.child('map/../n').exists() && data.child('map/a').exists()",
    "data.child('emoji').val().length == 3 && data.child('map').val() != null && data.child('gone').val() == null",
    "data.child('/n/').exists() && data.hasChild('map/a') && !data.hasChild('map/b')",
    "data.child('n').getPriority() == 3 && data.child('s').getPriority() == null",
    "data.child('n').isNumber() && data.child('s').isString() && data.child('no').isBoolean() && !data.isString()",
    "now == 1000 && root.child('n').val() == data.child('n').val() && data.child('map').parent().child('n').exists()",
    "'a' < 'b' && 'Z' < 'a' && 2 > 1 && !('a' < 'a')", "1 + 2 * 3 == 7 && 10 - 4 - 3 == 3 && 8 / 4 / 2 == 1",
    "false && true || true", "true || false && false", "1 < 2 == true", "false ? true : true ? true : false",
    "true || true ? true : false", "!false == true", "-2 * -3 == 6", "'TeXt'.toLowerCase() == 'text'",
    "'text'.toUpperCase() == 'TEXT' && 'text'.beginsWith('te') && 'text'.endsWith('xt') && 'text'.contains('ex')",
    "'foobar'.matches(/oba/) && !'foobar'.matches(/^oba/) && 'FOO'.matches(/foo/i) && 'a\\\\b'.matches(/\\\\/)",
    "'a1 '.matches(/^\\w\\d\\s$/) && !'a1'.matches(/\\W|\\D{2}/) && 'ab'.matches(/^[a-c]{2}$/)",
    "'a\\nb'.matches(/b$/) && 'a\\nb'.matches(/^a/) && !'a\\nb'.matches(/a.b/) && 'xaby'.matches(/ab|c/)",
    "(true ? 1 : 'a') == 1 && (false ? 1 : 'a') == 'a'", "1e-3 == 0.001 && 2e+3 == 2000 && 5E2 == 500",
  ])
  func `a rule holds`(rule: String) throws { #expect(try outcome(rule) == .yes) }

  @Test(arguments: [
    "data.child('n').val().length == 1", "data.child('n').val().contains('5')", "data.child('gone').val().length == 0",
    "data.child('map').val().length == 2", "auth.x.contains('a')", "'a'.contains(auth.x)",
    "data.child(auth.x).exists()",
    "data.hasChild(auth.x)", "data.hasChildren([auth.x])", "root.parent().exists()",
    "'a' + data.child('gone').val() == 'a'",
    "'a' + data.child('no').val() == 'afalse'", "1 + data.child('gone').val() == 1", "-data.child('gone').val() == 0",
    "data.child('gone').val() < 1", "data.child('n').val() < 'a'", "data.child('no').val() < 1",
    "data.child('n').val() - 'a'.length * data.child('s').val() == 1", "'a'.contains(data.child('n').val())",
    "'abc'.replace(data.child('n').val(), 'a') == 'a'", "query.limitToFirst <= 2", "query.limitToLast + 1 > 0",
  ])
  func `an error is not made up for by what follows, nor reached behind what decides`(rule: String) throws {
    for text in [rule, "(\(rule)) || true", "!((\(rule)) && false)", "(\(rule)) ? true : true"] {
      if case .error = try outcome(text) {} else { Issue.record("\(text) has a value") }
    }
    #expect(try outcome("true || (\(rule))") == .yes)
    #expect(try outcome("!(false && (\(rule)))") == .yes)
  }

  @Test func `claims have their types`() throws {
    let auth: RulesValue = [
      "uid": "ada", "provider": "custom",
      "token": ["admin": true, "level": 3, "roles": ["editor": ["since": 2024]], "tags": ["a", "b"], "ratio": 0.5],
    ]
    for rule in [
      "auth.uid == 'ada' && auth.provider == 'custom' && auth.token.admin == true && auth.token.level > 2",
      "auth.token.roles.editor.since == 2024 && auth.token.roles.viewer == null && auth.token.roles.viewer.since == null",
      "auth['token']['ratio'] == 0.5 && auth.token.admin != 'true' && auth.token.level != '3'", "auth != null",
      "auth.token.tags[0] == 'a' && auth.token.tags[5] == null",
    ] {
      #expect(try outcome(rule, auth: auth) == .yes, "\(rule)")
    }
    #expect(throws: RulesetError.self) { try outcome("auth.token.admin", auth: auth) }
  }

  @Test func `a query has its parameters, and a plain read none`() throws {
    let plain = "!query.orderByKey && !query.orderByValue && !query.orderByPriority && query.orderByChild == null"
    let nothing = ["startAt", "endAt", "equalTo", "limitToFirst", "limitToLast"].map { "query.\($0) == null" }
    #expect(try outcome(([plain] + nothing).joined(separator: " && ")) == .yes)
    var query = DatabaseRulesQuery(.child("a/b"))
    (query.limitToFirst, query.equalTo) = (10, .string("x"))
    let asked = "query.orderByChild == 'a/b' && query.limitToFirst <= 10 && query.equalTo == 'x' && !query.orderByKey"
    #expect(try outcome(asked, query: query) == .yes)
    #expect(try outcome("query.orderByKey", query: DatabaseRulesQuery(.key)) == .yes)
    #expect(try outcome("query.orderByValue", query: DatabaseRulesQuery(.value)) == .yes)
    #expect(try outcome("query.orderByPriority", query: DatabaseRulesQuery(.priority)) == .yes)
  }

  // MARK: Writes

  private func decide(
    _ rules: String, _ before: DatabaseTree, _ writes: [(path: String, value: DatabaseTree)]
  ) throws -> Bool {
    let paths = writes.map { RulesPath($0.path).segments }
    let after = zip(paths, writes).reduce(before) { $0.setting($1.1.value, at: $1.0) }
    return try DatabaseRuleset("{\"rules\": \(rules)}").decideWrite(paths, before: before, after: after).isAllowed
  }

  @Test(arguments: [
    #"{"a": {"x": {".read": false, ".write": false, ".validate": false}, "$o": {".read": true, ".write": true}}}"#,
    #"{"a": {"$o": {".read": true, ".write": true}, "x": {".read": false, ".write": false, ".validate": false}}}"#,
  ]) func `a literal child shuts its sibling with a name out, in any order`(rules: String) throws {
    #expect(try !decide(rules, .missing, [("a/x", 1)]))
    #expect(try decide(rules, .missing, [("a/y", 1)]))
    let compiled = try DatabaseRuleset("{\"rules\": \(rules)}")
    #expect(!compiled.allowsRead(["a", "x"], data: DatabaseTree.missing))
    #expect(compiled.allowsRead(["a", "y"], data: DatabaseTree.missing))
    let validated = #"{"a": {".write": true, "$o": {".validate": "newData.isString()"}, "x": {}}}"#
    #expect(try decide(validated, .missing, [("a/x", 1)]))
    #expect(try !decide(validated, .missing, [("a/y", 1)]))
  }

  @Test func `validation is asked at ancestors, at the target, and of all that is written`() throws {
    let rules = """
      {".write": true, "a": {".validate": "newData.hasChildren(['id'])", "id": {".validate": "newData.isString()"},
        "list": {"$i": {".validate": "newData.isNumber()"}}, "next": {".validate": "root.child('gate').exists()"}}}
      """
    let before: DatabaseTree = .parent(["a": .parent(["id": "x", "next": 1, "list": .parent(["0": 1])])])
    // A sibling that is not valid, which the write does not carry, is not asked.
    #expect(try decide(rules, before, [("a/list/1", 2)]))
    #expect(try !decide(rules, before, [("a/list/1", "b")]))
    // A value that does not change is asked like others.
    #expect(try !decide(rules, before, [("a", .parent(["id": "x", "next": 1]))]))
    #expect(try !decide(rules, before, [("a/next", 1)]))
    // An ancestor that stays is asked about the deletion of a child, and a deleted one is not.
    #expect(try !decide(rules, before, [("a/id", .missing)]))
    #expect(try decide(rules, before, [("a/next", .missing)]))
    #expect(try decide(rules, before, [("a", .missing)]))
    #expect(try decide(rules, .parent(["a": .parent(["id": "x"])]), [("a/id", .missing)]))
    // All paths of an update are judged by the result of all of them.
    #expect(try decide(rules, .missing, [("a/id", "x"), ("a/list/0", 1)]))
    #expect(try !decide(rules, .missing, [("a/id", 1), ("a/list/0", 1)]))
    #expect(try !decide(rules, .missing, [("a/list/0", 1)]))
    #expect(try decide(rules, .missing, [("a", .parent(["id": "x", "next": 1])), ("gate", 1)]) == false)
  }

  @Test func `a rule sees the new data of its own path`() throws {
    let own = #"{"a": {".write": "newData.child('b').val() == 1 && !data.exists()"}}"#
    #expect(try decide(own, .missing, [("a/b", 1)]))
    #expect(try !decide(own, .missing, [("a/b", 2)]))
    #expect(try !decide(#"{"a": {".write": "newData.val() == 1"}}"#, .missing, [("a/b", 1)]))
    #expect(
      try decide(
        #"{"a": {"b": {".write": "newData.parent().child('c').exists()"}}}"#,
        .missing, [("a/b", 1)]) == false)
    #expect(
      try decide(
        #"{"a": {"$k": {".write": "newData.parent().child('c').exists()"}}}"#,
        .missing, [("a/b", 1), ("a/c", 2)]))
  }

  @Test func `a rule below that denies takes no grant from above back, and grants nothing above`() throws {
    let rules =
      #"{"a": {".read": true, ".write": true, "b": {".read": false, ".write": false, "c": {".read": true, ".write": true}}}, "z": {"y": {".read": true, ".write": true}}}"#
    #expect(try decide(rules, .missing, [("a/b", 1)]))
    #expect(try !decide(rules, .missing, [("z", .parent(["y": 1]))]))
    #expect(try !decide(rules, .missing, [("z/y", 1), ("z/x", 1)]))
    let compiled = try DatabaseRuleset("{\"rules\": \(rules)}")
    #expect(compiled.allowsRead(["a", "b"], data: data))
    #expect(!compiled.allowsRead(["z"], data: data))
    #expect(compiled.allowsRead(["z", "y", "deep"], data: data))
    #expect(!compiled.allowsRead([], data: data))
  }

  @Test func `a plain value has no priority, and one with a priority its value`() throws {
    let rules = #"{".write": "newData.child('n').getPriority() == 7 && newData.child('n').val() == 2"}"#
    #expect(try decide(rules, data, [("n", .leaf(.number(2), priority: .number(7)))]))
    #expect(try !decide(rules, data, [("n", 2)]))
    #expect(try decide(#"{".write": "newData.child('n').getPriority() == null"}"#, data, [("n", 2)]))
  }

  @Test func `a text is replaced up to the size of the limit`() {
    #expect(BytesSearch.replace("aba", "a", "cc", limit: 5) == "ccbcc")
    #expect(BytesSearch.replace("aba", "a", "cc", limit: 4) == nil)
  }

  // MARK: Upload

  @Test(arguments: [
    (#"{"$a": {}, "$b": {}}"#, "Cannot have multiple default rules ('$a' and '$b')."), (#"{"a": 1}"#, "Expected '{'."),
    (#"{".read": {}}"#, "Invalid rule expression.  Expected 'true', 'false', or an expression string."),
    (#"{".read": null}"#, "Invalid rule expression.  Expected 'true', 'false', or an expression string."),
    (#"{".foo": "true"}"#, "Expected '{'."),
    (#"{".foo": {}}"#, ##"String can't contain ".", "#", "$", "/", "[", or "]""##),
    (#"{"a.b": {}}"#, ##"String can't contain ".", "#", "$", "/", "[", or "]""##),
    (#"{"a/b": {}}"#, ##"String can't contain ".", "#", "$", "/", "[", or "]""##),
    (#"{".indexOn": [1]}"#, "Invalid indexOn expression. Must be either a string or an array of strings"),
    (#"{"a": []}"#, "Expected '{'."),
    (#"{"$a": {"b": {"$a": {}}}}"#, "The capture '$a' is used twice on one path."),
  ]) func `a tree that is no tree of rules is refused`(rules: String, message: String) {
    let error = #expect(throws: RulesetError.self) { try DatabaseRuleset("{\"rules\": \(rules)}") }
    #expect(error?.issues.first?.message == message)
  }

  @Test func `rules of the size that production takes are taken, and are kept as they were written`() throws {
    let rule = #"".read": "auth != null && root.child('users').child(auth.uid).child('role').val() == 'reader'""#
    let children = (0..<2_900).map { "\"k\($0)\": {\(rule)}" }.joined(separator: ",\n")
    let source = "{ // all\n\"rules\": {\(children)}}"
    #expect(source.utf8.count > 300_000)
    #expect(try DatabaseRuleset(source).source == source)
    let full = source + String(repeating: " ", count: RulesLimits().databaseSourceSize - source.utf8.count)
    #expect(try DatabaseRuleset(full).source == full)
    #expect(throws: RulesetError.self) { try DatabaseRuleset(full + " ") }
    let indexed = try DatabaseRuleset(#"{"rules": {"a": {".indexOn": ".value", "$b": {".indexOn": ["c/d", "e"]}}}}"#)
    #expect(indexed.indexes(at: ["a"]) == [".value"])
    #expect(indexed.indexes(at: ["a", "x"]) == ["c/d", "e"])
    #expect(indexed.indexes(at: ["b"]) == [])
  }
}

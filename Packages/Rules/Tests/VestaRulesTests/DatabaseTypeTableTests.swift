import Testing

@testable import VestaRules

/// The check at upload, as its table of types and places says: every operand at every place.
@Suite struct DatabaseTypeTableTests {
  /// The rows of the table: operands by their type.
  private static let operands: [(type: String, texts: [String])] = [
    ("Boolean", ["true", "query.orderByKey", "data.exists()", "1 < 2", "!true"]),
    ("Number", ["1", "now", "'a'.length", "-1"]),
    ("String", ["'a'", "$id", "'a' + 1", "'a'.toLowerCase()"]), ("Null", ["null"]), ("Regex", ["/a/"]),
    ("Array", ["['a']"]),
    ("Snapshot", ["data", "root", "data.child('a')", "data.parent()"]), ("Method", ["data.exists", "data.val"]),
    ("Value", ["data.val()", "data.getPriority()", "data.val() + 1"]),
    ("Auth", ["auth", "auth.uid", "auth['a'][$id].b"]),
    ("Query", ["query"]), ("QueryValue", ["query.limitToFirst", "query.orderByChild"]), ("Mixed", ["(true ? 1 : 'a')"]),
  ]

  private static let all = operands.flatMap { row in row.texts.map { (type: row.type, text: $0) } }

  /// The first message of a rule; nil where it is accepted.
  private func message(_ rule: String, kind: String = ".read") -> String? {
    let escaped = rule.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    do throws(RulesetError) {
      _ = try DatabaseRuleset("{\"rules\": {\"p\": {\"$id\": {\"\(kind)\": \"\(escaped)\"}}}}")
      return nil
    } catch {
      return error.issues.first?.message
    }
  }

  /// Checks a place: the types that it accepts, and its message for all others.
  private func check(_ place: (String) -> String, accepts: Set<String>, otherwise: (String) -> String) {
    for (type, text) in Self.all {
      let expected =
        type == "Array" && !accepts.contains("Array")
        ? "Unexpected array literal." : accepts.contains(type) ? nil : otherwise(type)
      for operand in [text, "(\(text))"] {
        #expect(message(place(operand)) == expected, "\(place(operand))")
      }
    }
  }

  private let equatable: Set = ["Boolean", "Number", "String", "Null", "Value", "Auth", "QueryValue", "Mixed"]
  private let ordered: Set = ["Number", "String", "Value", "Auth", "QueryValue", "Mixed"]
  private let text: Set = ["String", "Value", "Auth", "Mixed"]

  @Test func `the rule, negations, logic and conditions take booleans`() {
    check({ $0 }, accepts: ["Boolean"]) { _ in "Expression must evaluate to a boolean." }
    check({ "!(\($0))" }, accepts: ["Boolean"]) { _ in "! only operates on booleans." }
    check({ "(\($0)) ? true : false" }, accepts: ["Boolean"]) { _ in "condition of ? must be boolean." }
    for sign in ["&&", "||"] {
      check({ "(\($0)) \(sign) true" }, accepts: ["Boolean"]) { _ in "Left operand of \(sign) must be boolean." }
      check({ "true \(sign) (\($0))" }, accepts: ["Boolean"]) { _ in "Right operand of \(sign) must be boolean." }
    }
  }

  @Test(arguments: ["==", "!=", "===", "!=="]) func `equality takes what has a value`(sign: String) {
    let name = String(sign.prefix(2))
    let end = "is not a number, boolean, string, or null."
    check({ "(\($0)) \(sign) 1" }, accepts: equatable) { _ in
      "Invalid \(name) expression: left operand \(name == "==" ? "is not a number, boolean, string, null." : end)"
    }
    check({ "1 \(sign) (\($0))" }, accepts: equatable) { _ in "Invalid \(name) expression: right operand \(end)" }
  }

  @Test(arguments: ["<", "<=", ">", ">="]) func `order takes numbers and strings`(sign: String) {
    check({ "(\($0)) \(sign) 1" }, accepts: ordered) { _ in
      "Invalid \(sign) expression: left operand must be a number or string."
    }
    check({ "1 \(sign) (\($0))" }, accepts: ordered) { _ in
      "Invalid \(sign) expression: right operand must be a number or string."
    }
  }

  @Test(arguments: ["+", "-", "*", "/", "%"]) func `arithmetic takes numbers, and + strings too`(sign: String) {
    let (accepts, end) =
      sign == "+" ? (ordered, "is not a number or string.") : (ordered.subtracting(["String"]), "is not a number.")
    check({ "(\($0)) \(sign) 1 == 1" }, accepts: accepts) { _ in "Invalid \(sign) expression: left operand \(end)" }
    check({ "1 \(sign) (\($0)) == 1" }, accepts: accepts) { _ in "Invalid \(sign) expression: right operand \(end)" }
    if sign == "-" {
      check({ "-(\($0)) == 1" }, accepts: accepts) { _ in "Invalid - expression: left operand is not a number." }
    }
  }

  @Test(arguments: ["child", "hasChild", "contains", "beginsWith", "endsWith"])
  func `a method with a string takes texts, once`(name: String) {
    let target = ["child", "hasChild"].contains(name) ? "data" : "'a'"
    let end = name == "child" ? ".exists()" : ""
    check({ "\(target).\(name)(\($0))\(end)" }, accepts: text) { _ in "\(name)() expects a string argument." }
    #expect(message("\(target).\(name)()\(end)") == "\(name)() expects 1 argument.")
    #expect(message("\(target).\(name)('a', 'b')\(end)") == "\(name)() expects 1 argument.")
  }

  @Test func `replace, matches and hasChildren take their arguments`() {
    check({ "'a'.replace(\($0), 'b') == 'c'" }, accepts: text) { _ in "Argument 1 of replace() must be a string." }
    check({ "'a'.replace('b', \($0)) == 'c'" }, accepts: text) { _ in "Argument 2 of replace() must be a string." }
    #expect(message("'a'.replace('a') == 'b'") == "replace() expects two arguments.")
    check({ "'a'.matches(\($0))" }, accepts: ["Regex"]) { _ in
      "matches() expects a regular expression literal argument."
    }
    #expect(message("'a'.matches()") == "matches() expects 1 regular expression literal argument.")
    #expect(message("'a'.matches(/a/, /b/)") == "matches() expects 1 regular expression literal argument.")
    check({ "data.hasChildren(\($0))" }, accepts: ["Array"]) { _ in
      "hasChildren() expects an array of child names."
    }
    check({ "data.hasChildren(['a', \($0)])" }, accepts: text) { _ in "hasChildren() expects an array of strings." }
    #expect(message("data.hasChildren() && data.hasChildren([])") == nil)
    #expect(
      message("data.hasChildren(['a'], ['b'])")
        == "hasChildren() expects only a single argument (containing an array of child names).")
  }

  @Test(arguments: ["val", "parent", "exists", "getPriority", "isNumber", "isString", "isBoolean"])
  func `a method without arguments takes none`(name: String) {
    #expect(message("data.\(name)(1) == 1") == "\(name)() expects no arguments.")
    #expect(
      message("data.\(name)() == true")
        == (name == "parent" ? "Invalid == expression: left operand is not a number, boolean, string, null." : nil))
  }

  @Test func `the branches of a condition make its type`() {
    for (type, first) in Self.all where type != "Array" {
      for (other, second) in Self.all where other != "Array" {
        let isMixed = type != other
        let accepted = isMixed || equatable.contains(type)
        #expect(
          message("(true ? (\(first)) : (\(second))) == 1")
            == (accepted ? nil : "Invalid == expression: left operand is not a number, boolean, string, null."),
          "\(first), \(second)")
      }
    }
    #expect(message("(true ? ['a'] : 1) == 1") == "Unexpected array literal.")
  }

  @Test func `members are the type's`() {
    let objects: Set = ["Snapshot", "String", "Value", "Auth", "Query"]
    func otherwise(_ name: String) -> (String) -> String {
      { type in
        objects.contains(type)
          ? "No such method/property '\(name)'." : "Invalid property access: target is not an object."
      }
    }
    check({ "(\($0)).foo == 1" }, accepts: ["Auth"], otherwise: otherwise("foo"))
    check({ "(\($0))['foo'] == 1" }, accepts: ["Auth"], otherwise: otherwise("foo"))
    check({ "(\($0)).length > 0" }, accepts: ["String", "Value", "Auth"], otherwise: otherwise("length"))
    check({ "(\($0)).contains('a')" }, accepts: ["String", "Value", "Auth"], otherwise: otherwise("contains"))
    check({ "(\($0)).exists()" }, accepts: ["Snapshot"]) { type in
      type == "Auth" ? "Type error: Function call on target that is not a function." : otherwise("exists")(type)
    }
    check({ "(\($0))[$id] == 1" }, accepts: ["Auth"]) { _ in "Invalid property access." }
    check({ "(\($0))[1 + 1] == 1" }, accepts: ["Auth"]) { _ in "Invalid property access." }
    check({ "(\($0))() == 1" }, accepts: ["Method"]) { _ in
      "Type error: Function call on target that is not a function."
    }
    for name in [
      "orderByKey", "orderByValue", "orderByPriority", "orderByChild", "startAt", "endAt", "equalTo", "limitToFirst",
      "limitToLast",
    ] {
      #expect(message("query.\(name) == 1") == nil)
    }
  }

  @Test(arguments: [".read", ".write", ".validate"]) func `the variables are the ones of the kind of rule`(kind: String)
  {
    #expect(
      message("newData.exists()", kind: kind) == (kind == ".read" ? "newData is invalid in .read expressions." : nil))
    #expect(message("query.limitToFirst == 1 && now > 0 && data.exists()", kind: kind) == nil)
    #expect(message("foo == 1", kind: kind) == "Unknown variable 'foo'.")
    #expect(message("$x == 'a'", kind: kind) == "Unknown variable '$x'.")
    #expect(message("data = 1", kind: kind) == "Rule expressions may not contain assignments.")
  }

  @Test(arguments: [
    "root[\"exi\" + \"sts\"]() == true", "root[$id]() == true", "1 ** 2 == 1", "var a = 1", "true;", "true, true",
    "'a'.matches(/(^foo$|bar)/)", "'a'.matches(/(foo|)/)", "'a'.matches(/a/g)", "(true", "true)", "'a", "&& true", "",
    "data..exists()", "data.exists(", "1 2", "[", "a ? b", "true ? true", "{}", "function() {}",
  ]) func `what is no expression is refused`(rule: String) { #expect(message(rule) != nil) }

  @Test(arguments: [
    "'a'.matches(/\\{foo}/)", "'a/b'.matches(/[/]b/)", "data['exists']() == true", "root[\"exists\"]()",
    "auth.uid + 1 > 'x'", "auth.foo == 1", "'a'.matches(/^foo$/) || 'a'.matches(/a|b/i)", "1 <= 2 === true",
    "true ? true : false ? true : false", "!(!true)", "- -1 == 1", "data.hasChildren((['a']))", "'\\{foo}' != ''",
    "\t\n true \r", ".5 < 1. && 1e3 == 1000",
  ]) func `what is an expression is accepted`(rule: String) { #expect(message(rule) == nil) }

  @Test func `one mistake gives one message, and an array the first`() {
    func messages(_ rule: String) -> [String] {
      let source = "{\"rules\": {\".read\": \"\(rule)\"}}"
      do throws(RulesetError) {
        _ = try DatabaseRuleset(source)
        return []
      } catch {
        return error.issues.map(\.message)
      }
    }
    #expect(messages("(foo + 1).bar && true > 2 - foo.baz()").count == 3)
    #expect(messages("!(foo.bar.baz() + 1)") == ["Unknown variable 'foo'."])
    // The type of what has a mistake is unknown on either side of an operator.
    #expect(messages("(foo && true) + 1 > 0") == ["Unknown variable 'foo'."])
    #expect(messages("(true || foo) + 1 > 0") == ["Unknown variable 'foo'."])
    #expect(messages("foo == ['a']") == ["Unexpected array literal."])
  }
}

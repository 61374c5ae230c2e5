import Testing

@testable import VestaRules

@Suite struct CompilerTests {
  private func issues(_ source: String) -> [String] {
    do throws(RulesetError) {
      return try Ruleset(source, for: .firestore).warnings.map(\.description)
    } catch {
      return error.issues.map(\.description)
    }
  }

  private func inService(_ text: String) -> String {
    "rules_version = '2';\nservice cloud.firestore {\nmatch /databases/{d}/documents {\n\(text)\n}\n}\n"
  }

  @Test func `all errors of a file are found`() {
    let found = issues(
      inService(
        "match /a/{x} { allow gett: if true; }\nmatch /b { allow get: if ; allow list: if 1 +; }\nallow read if true;"))
    #expect(
      found == [
        "ERROR 4:22: Unexpected 'gett'.", "ERROR 5:23: Missing conditional expression after 'if'.",
        "ERROR 5:46: Unexpected ';'.", "ERROR 6:12: Unexpected 'if'.",
      ])
  }

  @Test func `a file that ends in a block has the three issues of production`() throws {
    let source = "rules_version = '2';\nservice cloud.firestore {\n  match /databases/{database}/documents {\n"
    #expect(
      issues(source) == [
        "ERROR 3:9: Missing 'match' keyword before path.", "ERROR 4:1: Unexpected '<EOF>'.",
        "ERROR 4:1: mismatched input '<EOF>' expecting {'{', '/', PATH_SEGMENT}",
      ])
  }

  @Test func `a semicolon after a statement or a result may be missing`() throws {
    let source = inService(
      "function f() { return true }\nmatch /a/{x} { allow get: if f()\nallow list\nallow create: if false }")
    #expect(issues(source).isEmpty)
    let compiled = try Ruleset(source, for: .firestore)
    #expect(compiled.decide(RulesRequest(.get, RulesPath("/databases/d/documents/a/1"))).isAllowed)
    #expect(compiled.decide(RulesRequest(.list, RulesPath("/databases/d/documents/a/1"))).isAllowed)
  }

  @Test(arguments: [
    (
      "resource.data.i is geopoint || true",
      "ERROR 4:43: An unsupported type identifier was used with the 'is' operator. Received geopoint. Expected one of bool,bytes,constraint,duration,float,int,latlng,list,vector,set,number,map,string,timestamp,path,map_diff"
    ),
    ("resource.data.s.matches('[')", "ERROR 4:39: Invalid regular expression pattern. Pattern: [."),
    ("resource.data.s.split('(?=a)')[0] == ''", "ERROR 4:37: Invalid regular expression pattern. Pattern: (?=a)."),
    ("'['.matches('[') || resource.data.s == 'a'", "ERROR 4:27: Invalid regular expression pattern. Pattern: [."),
  ])
  func `types that do not exist and expressions that cannot be read are errors, as in the emulator`(
    condition: String, issue: String
  ) {
    #expect(issues(inService("allow get: if \(condition);")).first == issue)
  }

  @Test func `an expression that is put together, and one of replace, is an error of its call`() {
    let condition =
      "'a'.matches('' + '[') || 'a'.replace('[', '') == '' || 'a'.matches('[a]') || resource.data.i is map_diff"
    #expect(issues(inService("allow get: if \(condition);")).isEmpty)
  }

  @Test func `names and calls that mean nothing are warnings`() {
    let found = issues(
      inService("function f(a) { let b = 1; return missing; }\nallow read: if nope() && math.abs() == 1;"))
    #expect(
      found == [
        "WARNING 4:10: Unused function: f.", "WARNING 4:12: Unused variable: a.", "WARNING 4:21: Unused variable: b.",
        "WARNING 4:35: Invalid variable name: missing.", "WARNING 5:16: Invalid function name: nope.",
        "WARNING 5:26: Incorrect number of arguments supplied to function: math.abs.",
      ])
  }

  @Test func `what no statement reaches has no request and no lookups`() {
    // `g` is used, though by a function alone that no statement uses.
    let found = issues(
      inService(
        "function f() { return g(); }\nfunction g() { return request.time == resource && exists(/a/b); }\nallow read;"))
    #expect(
      found == [
        "WARNING 4:10: Unused function: f.", "WARNING 5:23: Invalid variable name: request.",
        "WARNING 5:39: Invalid variable name: resource.", "WARNING 5:51: Invalid function name: exists.",
      ])
    #expect(issues(inService("function f(a) { return request.time == a; }\nallow read: if f(1);")).isEmpty)
  }

  @Test func `a parameter that is not used is a warning`() {
    let found = issues(inService("function f(a, b) { return a; }\nallow read: if f(1, 2);"))
    #expect(found == ["WARNING 4:15: Unused variable: b."])
  }

  @Test func `a semicolon that is missing after a variable is named`() {
    let found = issues(inService("function f() { let a = 1 let b = 2\nreturn a == b; }\nallow read: if f();"))
    #expect(found == ["ERROR 4:26: missing ';' at 'let'", "ERROR 5:1: missing ';' at 'return'"])
  }

  @Test func `a name that bind replaces is no mistake`() {
    #expect(issues(inService("allow read: if (/a/$(x)).bind({'x': 'y'}) == /a/y;")).isEmpty)
    let found = issues(inService("allow read: if (/a/$(x)) == /a/y;"))
    #expect(found == ["WARNING 4:22: Invalid variable name: x."])
  }

  @Test func `cycles of calls are errors at every function of the cycle`() {
    let found = issues(
      inService(
        "function a() { return b(); }\nfunction b() { return a(); }\nfunction c() { return a(); }\nallow read: if c();")
    )
    #expect(found == ["ERROR 4:10: Recursive call is not allowed.", "ERROR 5:10: Recursive call is not allowed."])
  }

  @Test func `a file without a version is of version 1, with a warning`() throws {
    let source = "service cloud.firestore { match /a/{b} { allow read; } }"
    #expect(issues(source).count == 1)
    #expect(try Ruleset(source, for: .firestore).version == 1)
    #expect(try !Ruleset(source, for: .storage).decide(RulesRequest(.get, RulesPath("/a/b"))).isAllowed)
  }

  @Test(arguments: [
    "'\\d'", "'\\x4'", "'\\u12'", "'\\400'", "'a\nb'", "'open", "9223372036854775808", "b'\\u0041'", "(1", "[1",
    "{'a' 1}",
    "/a/$", "1 +", "a.", "let", "a[1:]", "f(1,)", "/", "`x`", "#",
  ])
  func `a literal or expression that is wrong is refused`(expression: String) {
    #expect(issues(inService("allow read: if \(expression);")).contains { $0.hasPrefix("ERROR") })
  }

  @Test func `limits of the source are errors and no crash`() {
    let deep = String(repeating: "(", count: 50_000) + "1" + String(repeating: ")", count: 50_000)
    #expect(issues(inService("allow read: if \(deep) == 1;")).contains { $0.contains("nested too deeply") })
    let chain = "a" + String(repeating: ".a", count: 50_000)
    #expect(issues(inService("allow read: if \(chain);")).contains { $0.contains("nested too deeply") })
    let ands = (0..<20_000).map { "a\($0) == 1" }.joined(separator: "&&")
    #expect(!issues(inService("allow read: if \(ands);")).contains { $0.hasPrefix("ERROR") })
    let nots = String(repeating: "!", count: 50_000)
    #expect(issues(inService("allow read: if \(nots)true;")).contains { $0.contains("nested too deeply") })
    let matches = String(repeating: "match /a {", count: 20_000)
    #expect(issues(inService(matches)).contains { $0.contains("Matches are nested deeper") })
    #expect(issues(String(repeating: " ", count: 300_000)) == ["ERROR: The source is larger than 261120 bytes."])
  }

  @Test func `places count Unicode scalars`() {
    let found = issues(inService("/* é😀 */ allow read: if 'é' == x;"))
    #expect(found == ["WARNING 4:32: Invalid variable name: x."])
  }
}

import Testing

@testable import VestaRules

/// The facts about production's compiler and scopes, a case for each sentence.
@Suite struct CompilerFactsTests {
  private func issues(_ source: String, for service: RulesService = .firestore) -> [String] {
    do throws(RulesetError) {
      return try Ruleset(source, for: service).warnings.map(\.description)
    } catch {
      return error.issues.map(\.description)
    }
  }

  private func inService(_ text: String) -> String {
    "rules_version = '2';\nservice cloud.firestore {\nmatch /databases/{d}/documents {\n\(text)\n}\n}\n"
  }

  @Test(
    arguments: [
      ("id.matches('a+')", 1), ("id.split(',').size() == 1", 1), ("id.replace('a', 'b') == id", 1),
      ("id.matches('a') || id.split('a').size() == 1", 2), ("{'a': 1}.get('a', 'b') == 1", 0),
      ("['a'].join(',') == id", 0),
    ])
  func `patterns that rules write down are compiled with them`(condition: String, count: Int) throws {
    #expect(try ruleset(condition).code.program.patterns.count == count)
  }

  @Test func `a name bound twice is an error, with a warning for the one that is unused`() {
    let found = issues(
      inService("function f() { let value = 1; let value = 2; return value == 2; }\nallow read: if f();"))
    #expect(found.contains("ERROR 4:35: The identifier [value] is already bound in the current scope."))
    #expect(found.contains { $0.hasPrefix("WARNING 4:") && $0.hasSuffix(" Unused variable: value.") })
  }

  @Test(arguments: ["duration", "hashing", "latlng", "math", "timestamp"])
  func `a package names no parameter, variable or capture, but functions and fields`(name: String) {
    let message = "\(name) is a package and cannot be used as variable name."
    #expect(
      issues(inService("function f(\(name)) { return true; }\nallow read: if f(1);")).contains("ERROR 4:12: \(message)")
    )
    let bound = issues(inService("function f() { let \(name) = 1; return true; }\nallow read: if f();"))
    #expect(bound.contains("ERROR 4:20: \(message)"))
    #expect(issues(inService("match /a/{\(name)} { allow read; }")).contains("ERROR 4:11: \(message)"))
    #expect(issues(inService("function \(name)() { return true; }\nallow read: if \(name)();")).isEmpty)
    #expect(issues(inService("allow read: if resource.data.\(name) == 1;")).isEmpty)
    let three = issues(
      inService("function f(\(name)) { let \(name) = 1; return true; }\nmatch /a/{\(name)} { allow read: if f(1); }"))
    #expect(three.count { $0.hasSuffix(message) } == 3)
  }

  @Test(arguments: ["request", "resource", "value"])
  func `the names of globals may name anything, and hide the global`(name: String) throws {
    let functions =
      "function f(\(name)) { return \(name) == 7; } function g() { let \(name) = 8; return \(name) == 8; }"
    #expect(try verdict("f(7) && g()", functions: functions) == .yes)
    let source = """
      rules_version = '2';
      service cloud.firestore { match /databases/{d}/documents/c/{\(name)} { allow get: if \(name) == 'd1'; } }
      """
    #expect(try Ruleset(source, for: .firestore).decide(RulesRequest(.get, .document("c/d1"))).isAllowed)
  }

  @Test func `a path has one glob, and matches inside of one another each have one`() {
    let message = "Invalid glob match expression. Only one glob match is permitted in a match declaration path."
    #expect(issues(inService("match /{a=**}/m/{b=**} { allow read; }")).contains { $0.hasSuffix(message) })
    #expect(issues(inService("match /{a=**}/m { match /{b=**} { allow read; } }")).isEmpty)
  }

  @Test func `of the sizes that production was tried with one loads and one does not`() {
    func source(_ size: Int) -> String {
      let rules = "rules_version = '2'; service cloud.firestore { match /a/{b} { allow read; } }"
      return rules + String(repeating: " ", count: size - rules.utf8.count)
    }
    #expect(issues(source(256_001)).isEmpty)
    #expect(issues(source(262_143)).contains { $0.hasPrefix("ERROR") })
  }

  @Test func `versions are 1 and 2, and what imports is refused`() {
    for version in ["0", "3", "", "2.0", "two"] {
      #expect(issues("rules_version = '\(version)'; service cloud.firestore { }").contains { $0.hasPrefix("ERROR") })
    }
    #expect(issues("rules_version = \"2\"; service cloud.firestore { }").isEmpty)
    #expect(issues("rules_version = '2'\nservice cloud.firestore { match /a/{b} { allow read; } }").isEmpty)
    let imports = issues("import { f } from 'other';\nservice cloud.firestore { match /a/{b} { allow read; } }")
    #expect(imports.contains { $0.contains("Unexpected '{'.") })
  }

  @Test(arguments: [
    "\\/", "\\a", "\\v", "\\?", "\\d", "\\.", "\\0", "\\12", "\\400", "\\x4", "\\X41", "\\u{41}", "\\U0001F600", "\\`",
    "\n", "\r", "\\8", "\\u004", "\\xg0", "\\",
  ]) func `an escape that production does not know is refused`(escape: String) {
    #expect(issues(inService("allow read: if '\(escape)' == 'a';")).contains { $0.hasPrefix("ERROR") })
  }

  @Test(arguments: [
    "b 'a'", "rb'a'", "br'a'", "b'\\u0041'", "1e", "0x10 == 1", "1_000", "'a' 'b'", "a..b", "[1,,2]", "{,}",
  ])
  func `what is no literal is refused`(text: String) {
    #expect(issues(inService("allow read: if \(text) == 'a';")).contains { $0.hasPrefix("ERROR") })
  }

  @Test(arguments: [
    "'\\\\\\'\\\"\\n\\r\\t\\b\\f'.size() == 8", "'\t' == '\\t' && '\\b' == '\\x08' && '\\f' == '\\014'",
    "'\\xe9' == '\\351' && '\\377' == 'ÿ' && b'\\377'.size() == 1 && b'\\xe9' != b'é'", "B\"ab\" == b'ab'",
    "b'a' in [b'a'] && hashing.md5(b'a') == hashing.md5('a') && b'\\n\\t\\''.size() == 3",
    "'\\ud83d\\ude00'.size() == 2 && '\\u0041' == 'A' && '\"' == \"\\\"\" && \"'\" == '\\''",
  ]) func `the escapes of production have their characters`(condition: String) throws {
    #expect(try verdict(condition) == .yes)
  }

  @Test func `a function sees what encloses its declaration alone`() throws {
    let source = """
      rules_version = '2';
      service firebase.storage {
        function named() { return bucket == 'b'; }
        function user() { return userId == 'u'; }
        match /b/{bucket}/o {
          function inner() { return bucket == 'b'; }
          match /users/{userId} {
            allow get: if named();
            allow list: if user();
            allow create: if inner();
          }
        }
      }
      """
    let compiled = try Ruleset(source, for: .storage)
    func decide(_ method: RulesMethod) -> RulesDecision {
      compiled.decide(RulesRequest(method, .object("users/u", bucket: "b")))
    }
    #expect(decide(.get).statements.map(\.failure) == [.nullValue])
    #expect(decide(.list).statements.map(\.failure) == [.nullValue])
    #expect(decide(.create).isAllowed)
    #expect(
      Set(compiled.warnings.map(\.message)) == ["Invalid variable name: bucket.", "Invalid variable name: userId."])
  }

  @Test func `inner names hide outer ones`() throws {
    let source = """
      rules_version = '2';
      function f() { return 'file'; }
      function g() { return f(); }
      service cloud.firestore {
        function f() { return 'service'; }
        match /databases/{d}/documents {
          match /c/{id} {
            function f() { return 'match'; }
            function p(id) { return id == 5; }
            function l() { let id = 6; return id == 6; }
            allow get: if f() == 'match' && g() == 'file' && p(5) && l() && id == 'd1';
          }
          match /e/{id} { allow get: if f() == 'service'; }
        }
      }
      """
    let compiled = try Ruleset(source, for: .firestore)
    for path in ["c/d1", "e/x"] { #expect(compiled.decide(RulesRequest(.get, .document(path))).isAllowed, "\(path)") }
  }
}

import Testing

@testable import VestaRules

@Suite struct LanguageTests {
  @Test(arguments: ["0x1f", "0X10", "0x1.8", "-0xAd"])
  func `a hexadecimal float has an exponent`(text: String) throws {
    #expect(try verdict("float('\(text)') == 1.0 || true") == .yes)
    #expect(try verdict("float('\(text)') is float") != .yes)
    #expect(try verdict("float('\(text)p0') is float") == .yes)
  }

  @Test(arguments: [
    "1 + 2 * 3 == 7 && (1 + 2) * 3 == 9", "10 / 4 == 2 && -7 / 2 == -3 && -7 % 2 == -1 && 7.0 / 2 == 3.5",
    "1 == 1.0 && [1] != [1.0] && [1].toSet() == [1.0].toSet()", "-9223372036854775808 < 0", ".5 + 1e1 == 10.5",
    "'a' + \"b\" == 'ab' && 'abcdef'[1:4] == 'bcd' && 'abc'[0] == 'a'", "'\\u00e9'.size() == 1 && '😀'.size() == 2",
    "null == null && !(null == false)", "resource.data.nothing == null",
    "'n' in resource.data && !('x' in resource.data)",
    "1 in [1, 2] && !(3 in [1, 2]) && 'a' in ['a'].toSet()", "resource.data.n is int && resource.data.n is number",
    "!(resource.data.n is float) && resource is map && id is string", "true ? true : 1 / 0 == 1",
    "resource.data.missing == 1 || true", "!(resource.data.missing == 1 && false)",
    "id == 'd1' && database == '(default)'",
    "request.path == /databases/$(database)/documents/c/$(id)", "request.path[3:5] == /c/d1 && string(/a/b) == '/a/b'",
    "path('a/b') == /a/b && path('/u/$(x)').bind({'x': 'y'}) == /u/y", "request.time.year() == 2023",
    "timestamp.date(2024, 2, 29).dayOfWeek() == 4 && timestamp.date(2024, 12, 31).dayOfYear() == 366",
    "timestamp.value(-1).toMillis() == -1 && timestamp.value(-1).seconds() == 59",
    "duration.value(1500, 'ms').seconds() == 1 && duration.value(1500, 'ms').nanos() == 500000000",
    "duration.abs(duration.value(-3, 's')) == duration.value(3, 's')", "request.time.nanos() == 5",
    "latlng.value(0, 0).distance(latlng.value(0, 0)) == 0", "math.round(2.5) == 3 && math.round(-2.5) == -2",
    "math.sqrt(-1) != math.sqrt(-1) && math.isNaN(math.sqrt(-1.0))",
    "{'a': math.sqrt(-1)}.diff({'a': math.sqrt(-1)}).affectedKeys().size() == 0",
    "{'a': [math.sqrt(-1)]}.diff({'a': [math.sqrt(-1)]}).unchangedKeys().hasAll(['a'])",
    "math.sqrt(-1) in [math.sqrt(-1)].toSet() && !(math.sqrt(-1) in [math.sqrt(-1)])",
    "[math.sqrt(-1), math.sqrt(-1)].toSet().size() == 1", "math.pow(2, 3) is float && math.abs(-2) is int",
    "int('-12') == -12 && int(2.9) == 2 && float('0x1p3') == 8.0 && string(2.0) == '2.0'", "string(1e7) == '1.0E7'",
    "'a1b22c'.split('[0-9]+') == ['a', 'b', 'c'] && ',,'.split(',') == ['']", "'aXbX'.replace('X', '-') == 'a-b-'",
    "'abc'.matches('a.c') && !'abcd'.matches('a.c')", "' a '.trim() == 'a' && 'aé'.upper() == 'Aé'",
    "'`az{'.upper() == '`AZ{' && '@AZ['.lower() == '@az['",
    "string(float('4.9e-324')) == '4.9E-324' && string(float('1e-323')) == '9.9E-324'",
    "string(float('1.5e-323')) == '1.5E-323'",
    "timestamp.value(1099511627775999).toMillis() == 1099511627775999",
    "hashing.md5('a').toHexString() == '0CC175B9C0F1B6A831C399E269772661' && b'\\xff'.toBase64() == '_w=='",
    "{'a': 1}.diff({'a': 2, 'b': 1}).affectedKeys() == ['a', 'b'].toSet()", "{'a': 1, 'a': 2}.a == 2",
    "{'a': {'b': 1}}.get(['a', 'b'], 0) == 1 && {'a': 1}.get(['a', 'b'], 0) == 0", "[1, 2, 2].removeAll([2]) == [1]",
    "[1, 2].hasAll([1]) && [1].hasOnly([1, 2]) && [1].hasAny([3, 1]) && [[1], 2].join('-') != '' || true",
    "['a', 1].join('-') == 'a-1' && [3, 4].concat([3]) == [3, 4, 3]", "(1 == 1) == (2 == 2)", "!!true",
    "request.auth.uid == 'ada' && request['auth']['uid'] == 'ada' && request.method == 'get'",
    "[true,][0] && {'a': 1,}.a == 1",
  ])
  func `a condition is true`(condition: String) throws {
    #expect(try verdict(condition) == .yes)
  }

  @Test(arguments: [
    ("resource.data.missing == 1", "Property missing is undefined on object."),
    ("resource.data.nothing.x == 1", "Null value error."), ("nowhere == null", "Null value error."),
    ("false || resource.data.missing", "Property missing is undefined on object."),
    ("resource.data.a == 1 && resource.data.b == 1", "Property a is undefined on object."),
    ("resource.data.a + resource.data.b == 1", "Property a is undefined on object."),
    ("resource.data.a in resource.data.b", "Property b is undefined on object."),
    ("1", "Type error. Received: [int] Expected: [bool]."), ("!1", "Type error. Received: [int] Expected: [bool]."),
    ("1 && true", "Type error. Received: [int] Expected: [bool]."), ("1 % 0 == 0", "Divide by zero error."),
    ("9223372036854775807 + 1 > 0", "Integer overflow error."),
    ("timestamp.value(1099511627776000).seconds() == 0", "Integer overflow error."),
    ("[1][1] == 1", "Index out of bound error. Index: [1] , size: [1]."),
    ("'abcd'[0:99] == ''", "Index out of bound error. Index: [98] , size: [4]."),
    ("nope(1)", "Function not found error: Name: [nope]."), ("'a'.nope()", "Function not found error: Name: [nope]."),
    ("math.isInfinite(1.0)", "Function not found error: Name: [math.isInfinite]."),
    ("debug(true)", "Function not found error: Name: [debug]."),
    ("math.abs(1, 2) == 1", "Incorrect number of arguments supplied to function: math.abs."),
    (
      "[1].toSet().difference([1]) == [1].toSet()",
      "Unsupported operation error. Received: set.difference(list). Expected: set.difference(set)."
    ),
    (
      "string([1]) == ''",
      "Unsupported operation error. Received: string(list). Expected: string(int), string(float), string(null), string(string), string(bool), string(path)."
    ),
    ("'a'.matches('' + '(')", "Invalid regular expression: missing )."),
    (
      "latlng.value(-100, 0.5) == null",
      "Latitude should be in [-90,90] range and longitude should be in [-180,180] range. latitude: -100.0, longitude: 0.5."
    ),
    ("request.resource == null", "Property resource is undefined on object."),
    ("get(1) == null", "Unsupported operation error. Received: get(int). Expected: get(path)."),
    (
      "null < 1",
      "Unsupported operation error. Received: null < int. Expected: string < string, bytes < bytes, int < int, float < float, duration < duration, timestamp < timestamp, constraint < any, any < constraint."
    ),
  ])
  func `a condition is an error`(condition: String, message: String) throws {
    #expect(try verdict(condition) == .error(message))
  }

  @Test(arguments: [Int64.min, -1, 0, .max]) func `times at the bounds of integers are cut and never overflow`(
    seconds: Int64
  ) throws {
    let all = ValueMethod.allCases.compactMap {
      RulesTimestamp(seconds: seconds, nanoseconds: seconds).value(of: $0)
    }
    #expect(all.count == 12)
    let compiled = try ruleset(
      "resource.t + (resource.t - resource.t) == resource.t && duration.abs(resource.d) >= duration.value(0, 's')")
    let request = RulesRequest(
      .get, RulesPath(notes.segments + ["c", "d"]),
      existing: [
        "t": .timestamp(RulesTimestamp(seconds: seconds)), "d": .duration(RulesDuration(seconds: seconds)),
      ])
    #expect(compiled.decide(request).isAllowed == (seconds == 0 || seconds == -1))
  }

  @Test func `functions see what encloses them, and inner ones hide outer ones`() throws {
    let functions =
      "function f(x) { let y = x + 1; let unused = 1 / 0; return y * 2; } function id() { return id == null; }"
    #expect(try verdict("f(2) == 6", functions: functions) == .yes)
    // The capture `id` belongs to the match below the function.
    #expect(try verdict("id()", functions: functions) == .error("Null value error."))
    #expect(try verdict("int('1') == 7", functions: "function int(x) { return 7; }") == .yes)
    #expect(
      try verdict("f()", functions: functions) == .error("Incorrect number of arguments supplied to function: f."))
    #expect(try verdict("f(1 / 0) == 1", functions: functions) == .error("Divide by zero error."))
    #expect(try verdict("debug(id) == 'd1'", dialect: .emulator) == .yes)
  }

  @Test func `an error of an argument counts where its parameter decides`() throws {
    let functions = """
      function ignores(a) { return true; }
      function owns(d) { return id() || d.owner == 'ada'; } function id() { return true; }
      function both(a, b) { return b && a; }
      function uses(a) { return a == 1; }
      """
    #expect(try verdict("ignores(resource.data.missing)", functions: functions) == .yes)
    #expect(try verdict("ignores(1 / 0)", functions: functions) == .yes)
    #expect(try verdict("owns(resource.data.nothing.x)", functions: functions) == .yes)
    #expect(try verdict("!both(resource.data.missing, false)", functions: functions) == .yes)
    #expect(
      try verdict("both(resource.data.missing, true)", functions: functions)
        == .error("Property missing is undefined on object."))
    #expect(try verdict("uses(1 / 0)", functions: functions) == .error("Divide by zero error."))
    #expect(try verdict("uses(1 / 0, 1)", functions: functions) == .error("Divide by zero error."))
  }

  @Test func `a variable is evaluated once, when it is used`() throws {
    final class Counting: RulesDocuments {
      nonisolated(unsafe) static var count = 0  // Only this test uses it.
      func lookUp(_ function: RulesLookupFunction, _ path: RulesPath) -> RulesLookup {
        Counting.count += 1
        return .found(["data": .map(["ok": .bool(true)])])
      }
    }
    let functions = "function f(p) { let d = get(p).data; let other = get(/x/y); return d.ok && d.ok; }"
    #expect(try verdict("f(/a/b) && f(/a/b)", functions: functions, documents: Counting()) == .yes)
    #expect(Counting.count == 1)
  }

  @Test func `a glob binds the segments that it covers, in version 2 also none`() throws {
    func decide(_ version: String, _ path: String, _ condition: String) throws -> Bool {
      let source = """
        \(version)
        service cloud.firestore {
          match /databases/{db}/documents { match /a/{x}/{rest=**} { allow get: if \(condition); } }
        }
        """
      return try Ruleset(source, for: .firestore)
        .decide(RulesRequest(.get, RulesPath("/databases/d/documents" + path))).isAllowed
    }
    #expect(try decide("rules_version = '2';", "/a/1/b/2", "rest == /b/2 && rest[0] == 'b' && x == '1'"))
    #expect(try decide("rules_version = '2';", "/a/1", "rest is path && rest != null"))
    #expect(try !decide("", "/a/1", "true"))
    #expect(try decide("", "/a/1/b", "true"))
    #expect(try !decide("rules_version = '2';", "/a", "true"))
  }

  @Test func `nested globs share the segments, the outer ones taking as few as they can`() throws {
    let source = """
      rules_version = '2';
      service cloud.firestore {
        match /databases/{db}/documents { match /{a=**}/m { match /{b=**}/z/{c} { allow get: if a == /x && b == /y && c == '1'; } } }
      }
      """
    let compiled = try Ruleset(source, for: .firestore)
    let path = RulesPath("/databases/d/documents/x/m/y/z/1")
    #expect(compiled.decide(RulesRequest(.get, path)).isAllowed)
    #expect(!compiled.decide(RulesRequest(.get, RulesPath("/databases/d/documents/x/m/y/1"))).isAllowed)
  }

  @Test func `statements are asked in the order of writing, also around inner matches`() throws {
    let source = """
      rules_version = '2';
      service cloud.firestore {
        match /databases/{db}/documents/a/{x} {
          allow get: if x == 'first';
          match /{rest=**} {
            allow get: if x == 'second';
          }
          allow get: if x == 'third';
        }
      }
      """
    let decision = try Ruleset(source, for: .firestore)
      .decide(RulesRequest(.get, RulesPath("/databases/d/documents/a/1")))
    #expect(decision.statements.map(\.position.line) == [4, 6, 8])
    #expect(decision.message.split(separator: "\n").map { $0.suffix(2) } == ["L4", "L6", "L8"])
  }
}

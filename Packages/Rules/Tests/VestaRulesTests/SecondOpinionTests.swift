import Testing
import VestaTesting

@testable import VestaRules

/// The paragraphs of the facts that are easily read wrong, each tried as it is written down.
@Suite struct SecondOpinionTests {
  @Test(arguments: [
    // The operand on the left names the error, wherever the decisive operand is not.
    ("(1 / 0 == 1) || false", "Divide by zero error."), ("false || nothing.x", "Null value error."),
    ("nothing.x && (1 / 0 == 1)", "Null value error."), ("!(1 / 0 == 1)", "Divide by zero error."),
    // The first error in the order of writing, though the last operand is evaluated first; of `in` the collection.
    ("resource.data.no == 1 / 0", "Property no is undefined on object."),
    ("(1 / 0) in resource.data.no", "Property no is undefined on object."),
    ("[1 / 0, nothing.x] == []", "Divide by zero error."),
    ("math.pow(1 / 0, nothing.x) == 1", "Divide by zero error."),
    // An index outside names the last one.
    ("'abcd'[0:99] == ''", "Index out of bound error. Index: [98] , size: [4]."),
    ("'abcd'[4] == ''", "Index out of bound error. Index: [4] , size: [4]."),
    // Methods that only some types have.
    ("resource.data.m.hasAny(['a'])", "Function not found error: Name: [hasAny]."),
    ("resource.data.m.keys().difference(['a'].toSet()) == 1", "Function not found error: Name: [difference]."),
    (
      "['a'].toSet().difference(['a']) == 1",
      "Unsupported operation error. Received: set.difference(list). Expected: set.difference(set)."
    ),
    // An operator with null is a wrong pair, and a method of null is not.
    ("null.size() == 1", "Null value error."), ("request.path.size() == 1", "Function not found error: Name: [size]."),
    ("request.path['database'] == 'x'", "Property database is undefined on object."),
    ("int('1.5') == 1", "Type conversion error."), ("int(' 1') == 1", "Type conversion error."),
    ("float('1_000') == 1", "Type conversion error."), ("float('inf') == 1", "Type conversion error."),
    ("bool('true')", "Function not found error: Name: [bool]."),
    ("1", "Type error. Received: [int] Expected: [bool]."),
    ("true && 1", "Type error. Received: [int] Expected: [bool]."),
  ]) func `an error is the one that the facts name`(condition: String, message: String) throws {
    #expect(try verdict(condition) == .error(message), "\(condition)")
  }

  @Test(arguments: [
    "(1 / 0 == 1) || true", "!((1 / 0 == 1) && false)", "true || nothing.x.y",
    // Numbers by value at the top, by type in lists, by value in sets.
    "1 == 1.0 && [1] != [1.0] && [1].toSet() == [1.0].toSet() && 1 in [1.0]",
    // In sets and in differences of maps at any depth.
    "[[1]].toSet() == [[1.0]].toSet() && [[1], [1.0]].toSet().size() == 1 && [1.0] in [[1]].toSet()",
    "{'a': {'b': [1]}}.diff({'a': {'b': [1.0]}}).affectedKeys().size() == 0",
    "[[1], 2, 3, 4, 5, 6, 7, 8, 9, 10].toSet().hasAll([[1.0], {'a': 1}, 2.0]) == false",
    "[[1], {'a': 1}, 3, 4, 5, 6, 7, 8, 9, 10].toSet().hasAll([[1.0], {'a': 1.0}, 3.0])",
    "![[1], 2, 3, 4, 5, 6, 7, 8, 9, 10].hasAny([[1.0]]) && [[1], 2, 3, 4, 5, 6, 7, 8, 9, 10].hasAll([[1], 2.0])",
    "!([1.0] in [[1]]) && ![[1]].hasAny([[1.0]]) && [[1]].hasAny([[1.0]].toSet())",
    "math.pow(2, 3) == 8 && math.pow(2, 3) is float && math.round(2.5) is int && math.abs(-2) is int",
    "10 / 4 == 2 && -7 / 2 == -3 && -7 % 2 == -1 && 1 / 2.0 == 0.5",
    // Java's text of numbers.
    "string(2.0) == '2.0' && string(1.0e7) == '1.0E7' && string(0.0001) == '1.0E-4' && string(0.001) == '0.001'",
    "int('-12') == -12 && int('+5') == 5 && int(2.9) == 2 && int(-2.9) == -2",
    "float('1e3') == 1000 && float('.5') == 0.5 && float('5.') == 5 && float(' 1.5f ') == 1.5 && float('0x1p3') == 8",
    // Splitting by what matches the empty text, and what is dropped at the end.
    "'ab'.split('') == ['', 'a', 'b'] && 'abc'.split('x*') == ['', 'a', 'b', 'c'] && ''.split(',') == ['']",
    "'a,,b,,'.split(',') == ['a', '', 'b'] && ',,'.split(',') == ['']",
    "'a.b'.replace('.', 'x') == 'xxx' && 'a.b'.replace('\\\\.', '$0') == 'a$0b'",
    "!'xab'.matches('ab') && 'ab'.matches('a|ab')",
    // Escapes are code points, and size counts UTF-16 units.
    "'\\xe9' == 'é' && '\\u00e9'.size() == 1 && '😀'.size() == 2 && '\\ud83d\\ude00' == '😀' && '\\101' == 'A'",
    "b'\\xff'.size() == 1 && b'é'.size() == 2 && 'É'.lower() == 'É' && 'AÉ'.lower() == 'aÉ'",
    // Parts of the time of day also before 1970.
    "timestamp.value(-1).seconds() == 59 && timestamp.value(-1).nanos() == 999000000 && timestamp.value(-1).toMillis() == -1",
    "timestamp.date(1969, 12, 31).dayOfWeek() == 3 && timestamp.date(2024, 12, 31).dayOfYear() == 366",
    "duration.value(1500, 'ms').seconds() == 1 && duration.value(1500, 'ms').nanos() == 500000000",
    "duration.value(-1500, 'ms').seconds() == -1 && duration.value(-1500, 'ms').nanos() == -500000000",
    // diff is of the top level, and get has its default also where an inner value is no map.
    "{'a': {'b': 1}}.diff({'a': {'b': 2}}).changedKeys() == ['a'].toSet()",
    "{'a': 1, 'b': 1}.diff({'b': 1, 'c': 1}).addedKeys() == ['a'].toSet()",
    "{'a': 1, 'b': 1}.diff({'b': 1, 'c': 1}).removedKeys() == ['c'].toSet()",
    "{'a': 1, 'b': 1, 'd': 1}.diff({'b': 1, 'c': 1, 'd': 2}).changedKeys() == ['d'].toSet()",
    "{'a': null, 'b': 1}.diff({'b': 1, 'c': null}).affectedKeys() == ['a', 'c'].toSet()",
    "{'a': null, 'b': 1}.diff({'b': 1, 'c': null}).unchangedKeys() == ['b'].toSet()",
    "{'a': 1}.diff({'a': 2}) == {'a': 1.0}.diff({'a': 2}) && {'a': 1}.diff({'a': 2}) != {'a': 1}.diff({'a': 3})",
    "{'a': 1}.diff({'a': 2}) != {'a': 3}.diff({'a': 2})",
    "{'a': 1}.get(['a', 'b'], 7) == 7 && {'a': {'b': 2}}.get(['a', 'b'], 7) == 2 && {}.get('a', null) == null",
    "['a', 'b'].hasOnly(['a', 'b', 'c']) && !['a', 'd'].hasOnly(['a']) && [1, 1, 2].removeAll([1]) == [2]",
    "request.path[0] == 'databases' && request.path[3:5] == /c/d1 && string(/a/b) == '/a/b'",
    "math.sqrt(-1.0) != math.sqrt(-1.0) && !(math.sqrt(-1.0) < 1)",
    "hashing.crc32(b'').toHexString() == '00000000' && b'\\xfb'.toBase64() == '-w=='",
  ]) func `a condition holds as the facts say`(condition: String) throws {
    #expect(try verdict(condition) == .yes, "\(condition)")
  }

  @Test func `absent is not null`() throws {
    func outcome(_ condition: String, _ existing: RulesValue?) throws -> Verdict {
      verdict(
        of: try ruleset(condition).decide(
          RulesRequest(.get, RulesPath(notes.segments + ["c", "d"]), existing: existing)))
    }
    #expect(try outcome("resource == null", .null) == .yes)
    #expect(try outcome("resource == null", nil) == .error("Null value error."))
    #expect(try outcome("request.resource == null", .null) == .error("Property resource is undefined on object."))
    #expect(try outcome("resource.size == 1", .null) == .error("Null value error."))
  }

  @Test func `a chain of twenty-one functions compiles, and one of twenty-two does not`() {
    func functions(_ count: Int) -> String {
      (0..<count).map { "function f\($0)() { return \($0 + 1 < count ? "f\($0 + 1)()" : "true"); }" }.joined(
        separator: "\n")
    }
    #expect(throws: Never.self) { _ = try ruleset("f0()", functions: functions(21)) }
    let error = #expect(throws: RulesetError.self) { _ = try ruleset("f0()", functions: functions(22)) }
    #expect(error?.description.contains("Maximum allowed call depth of 20 is reached for [f0->") == true)
  }

  @Test func `a glob of no segments binds an empty path in version 2 alone`() throws {
    func isAllowed(_ version: String, _ path: String) throws -> Bool {
      let source =
        "rules_version = '\(version)'; service cloud.firestore { match /databases/{d}/documents/a/{x}/{rest=**} { allow get: if rest is path && rest == request.path[5:request.path[4:5][0] == 'x' ? \(RulesPath.document(path).segments.count) : 5]; } }"
      return try Ruleset(source, for: .firestore).decide(RulesRequest(.get, .document(path))).isAllowed
    }
    #expect(try isAllowed("2", "a/x"))
    #expect(try isAllowed("2", "a/x/b/c"))
    #expect(try !isAllowed("1", "a/x"))
    #expect(try isAllowed("1", "a/x/b/c"))
  }

  @Test func `rules of the tree absorb no error, and know null of auth`() throws {
    func allows(_ rule: String, _ auth: RulesValue = .null) throws -> Bool {
      let data: DatabaseTree = ["n": 1, "s": "text"]
      return try DatabaseRuleset("{\"rules\": {\".read\": \"\(rule)\"}}").allowsRead([], auth: auth, data: data)
    }
    #expect(try allows("auth.uid == null && auth.token.x == null"))
    #expect(try !allows("data.child('n').val().contains('a') || true"))
    #expect(try !allows("auth.x.contains('a') || true"))
    #expect(try allows("true || auth.x.contains('a')"))
    #expect(try allows("'' + 1 / 0 == 'NaN' && !(1 / 0 < 1) && -7 % 2 == -1"))
    #expect(try !allows("'' + data.child('none').val() == ''"))
    #expect(
      try allows("data.hasChildren(['n', 's']) && data.child('n').hasChildren() == false && data.hasChildren([])"))
    #expect(try !allows("root.parent().exists() || true"))
    #expect(try allows("'a.b'.replace('.', 'x') == 'axb' && 'ABC'.matches(/b/i)"))
    #expect(try !allows("query.limitToFirst <= 2 || true"))
    #expect(try allows("data.child('./n').exists() == false"))
  }
}

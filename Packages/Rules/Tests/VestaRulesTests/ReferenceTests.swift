import Testing

@testable import VestaRules

/// The public reference of the language, type by type: each method on its own type and on every other one, with wrong
/// arguments, with too few and with too many.
@Suite struct ReferenceTests {
  /// A value of each type, as it is written in rules.
  fileprivate static let values: [(type: String, text: String)] = [
    ("null", "null"), ("bool", "true"), ("int", "1"), ("float", "1.5"), ("string", "'ab'"), ("bytes", "b'ab'"),
    ("timestamp", "timestamp.date(2024, 2, 29)"), ("duration", "duration.value(90, 's')"),
    ("latlng", "latlng.value(1.5, 2)"), ("path", "(/a/b)"), ("list", "[1]"), ("map", "{'a': 1}"),
    ("set", "[1].toSet()"), ("map_diff", "{'a': 1}.diff({})"),
  ]

  /// The methods of the reference: the type, the name, and the types of the arguments in their order.
  fileprivate static let methods: [(type: String, name: String, arguments: [[String]])] = [
    ("string", "size", [[]]), ("bytes", "size", [[]]), ("list", "size", [[]]), ("map", "size", [[]]),
    ("set", "size", [[]]), ("string", "lower", [[]]), ("string", "upper", [[]]), ("string", "trim", [[]]),
    ("string", "toUtf8", [[]]), ("string", "matches", [["string"]]), ("string", "split", [["string"]]),
    ("string", "replace", [["string", "string"]]), ("bytes", "toBase64", [[]]), ("bytes", "toHexString", [[]]),
    ("list", "concat", [["list"]]), ("list", "removeAll", [["list"]]), ("list", "join", [["string"]]),
    ("list", "toSet", [[]]), ("list", "hasAll", [["list"], ["set"]]), ("list", "hasAny", [["list"], ["set"]]),
    ("list", "hasOnly", [["list"], ["set"]]), ("set", "hasAll", [["list"], ["set"]]),
    ("set", "hasAny", [["list"], ["set"]]), ("set", "hasOnly", [["list"], ["set"]]), ("set", "union", [["set"]]),
    ("set", "intersection", [["set"]]), ("set", "difference", [["set"]]), ("map", "keys", [[]]),
    ("map", "values", [[]]), ("map", "get", values.flatMap { [["string", $0.type], ["list", $0.type]] }),
    ("map", "diff", [["map"]]), ("map_diff", "addedKeys", [[]]), ("map_diff", "removedKeys", [[]]),
    ("map_diff", "changedKeys", [[]]), ("map_diff", "affectedKeys", [[]]), ("map_diff", "unchangedKeys", [[]]),
    ("timestamp", "date", [[]]), ("timestamp", "day", [[]]), ("timestamp", "dayOfWeek", [[]]),
    ("timestamp", "dayOfYear", [[]]), ("timestamp", "hours", [[]]), ("timestamp", "minutes", [[]]),
    ("timestamp", "month", [[]]), ("timestamp", "nanos", [[]]), ("timestamp", "seconds", [[]]),
    ("timestamp", "time", [[]]), ("timestamp", "toMillis", [[]]), ("timestamp", "year", [[]]),
    ("duration", "seconds", [[]]), ("duration", "nanos", [[]]), ("latlng", "latitude", [[]]),
    ("latlng", "longitude", [[]]), ("latlng", "distance", [["latlng"]]), ("path", "bind", [["map"]]),
  ]

  /// The functions of the reference with the types of their arguments.
  fileprivate static let functions: [(name: String, arguments: [[String]])] = [
    ("int", [["int"], ["float"], ["string"]]), ("float", [["int"], ["float"], ["string"]]),
    ("string", [["int"], ["float"], ["null"], ["string"], ["bool"], ["path"]]), ("path", [["string"]]),
    ("math.abs", [["int"], ["float"]]), ("math.ceil", [["int"], ["float"]]), ("math.floor", [["int"], ["float"]]),
    ("math.round", [["int"], ["float"]]), ("math.sqrt", [["int"], ["float"]]), ("math.isNaN", [["int"], ["float"]]),
    ("math.pow", [["int", "int"], ["int", "float"], ["float", "int"], ["float", "float"]]),
    ("timestamp.date", [["int", "int", "int"]]), ("timestamp.value", [["int"]]),
    ("duration.value", [["int", "string"]]), ("duration.time", [["int", "int", "int", "int"]]),
    ("duration.abs", [["duration"]]),
    ("latlng.value", [["float", "float"], ["int", "int"], ["int", "float"], ["float", "int"]]),
    ("hashing.md5", [["string"], ["bytes"]]), ("hashing.sha256", [["string"], ["bytes"]]),
    ("hashing.crc32", [["string"], ["bytes"]]), ("hashing.crc32c", [["string"], ["bytes"]]),
  ]

  private static func text(_ type: String) -> String { values.first { $0.type == type }?.text ?? "" }

  /// The outcome of a call, whatever its value: it is compared with something that it is not.
  private func outcome(_ call: String) throws -> Verdict { try verdict("(\(call)) == [[[1]]]") }

  @Test(arguments: Set(ReferenceTests.methods.map(\.name)).sorted())
  func `a method exists on the types of the reference and on no other`(name: String) throws {
    let own = Self.methods.filter { $0.name == name }
    for (type, text) in Self.values {
      guard let method = own.first(where: { $0.type == type }) else {
        let message = type == "null" ? "Null value error." : "Function not found error: Name: [\(name)]."
        #expect(try outcome("\(text).\(name)()") == .error(message), "\(type)")
        continue
      }
      let first = method.arguments[0]
      #expect(
        try outcome("\(text).\(name)(\(first.map(Self.text).joined(separator: ", ")))") != .error(""), "\(type)")
      let wrongCount = (first + ["int"]).map(Self.text).joined(separator: ", ")
      #expect(
        try outcome("\(text).\(name)(\(wrongCount))")
          == .error("Incorrect number of arguments supplied to function: \(name)."), "\(type)")
    }
  }

  @Test(arguments: ReferenceTests.methods.filter { $0.arguments[0].count == 1 }.map { "\($0.type) \($0.name)" })
  func `a method takes the argument types of the reference and names them otherwise`(method: String) throws {
    let found = try #require(Self.methods.first { "\($0.type) \($0.name)" == method })
    let target = Self.text(found.type)
    for (type, text) in Self.values {
      let got = try outcome("\(target).\(found.name)(\(text))")
      if found.arguments.contains([type]) {
        #expect(got == .no, "\(type)")
      } else {
        let forms = found.arguments.map { "\(found.type).\(found.name)(\($0[0]))" }.joined(separator: ", ")
        let received = "\(found.type).\(found.name)(\(type))"
        #expect(got == .error("Unsupported operation error. Received: \(received). Expected: \(forms)."), "\(type)")
      }
    }
  }

  @Test(arguments: ReferenceTests.functions.map(\.name))
  func `a function takes the arguments of the reference and no others`(name: String) throws {
    let function = try #require(Self.functions.first { $0.name == name })
    for arguments in function.arguments {
      guard name != "int", name != "float" || arguments != ["string"] else { continue }
      let list = arguments.map { name == "duration.value" && $0 == "string" ? "'h'" : Self.text($0) }
      let date = name == "timestamp.date" ? ["2024", "1", "1"] : list
      #expect(try outcome("\(name)(\(date.joined(separator: ", ")))") == .no, "\(arguments)")
    }
    let more = (function.arguments[0] + ["int"]).map(Self.text).joined(separator: ", ")
    for list in [more, ""] {
      #expect(
        try outcome("\(name)(\(list))") == .error("Incorrect number of arguments supplied to function: \(name)."))
    }
    for (type, text) in Self.values where function.arguments[0].count == 1 && !function.arguments.contains([type]) {
      let forms = function.arguments.map { "\(name)(\($0[0]))" }.joined(separator: ", ")
      #expect(
        try outcome("\(name)(\(text))")
          == .error("Unsupported operation error. Received: \(name)(\(type)). Expected: \(forms)."))
    }
  }

  @Test(arguments: [
    "math.isInfinite(1.0)", "math.max(1, 2)", "bool('true')", "timestamp.now()", "duration.seconds(1)",
    "latlng.distance(1, 2)", "hashing.sha1('a')", "size('a')", "firestore.get(/a/b)",
  ]) func `a function that is not in the reference is not found`(call: String) throws {
    let name = String(call.prefix { $0 != "(" })
    #expect(try outcome(call) == .error("Function not found error: Name: [\(name)]."))
  }

  @Test(arguments: ReferenceTests.values.map(\.type)) func `is names the types, and number both kinds of numbers`(
    type: String
  ) throws {
    for (other, _) in Self.values {
      #expect(try verdict("\(Self.text(type)) is \(other)") == (type == other ? .yes : .no), "\(other)")
    }
    #expect(try verdict("\(Self.text(type)) is number") == (["int", "float"].contains(type) ? .yes : .no))
  }

  @Test(arguments: ReferenceTests.values.map(\.type))
  func `values of different types are unequal, and of one type equal`(
    type: String
  ) throws {
    for (other, text) in Self.values {
      #expect(try verdict("\(Self.text(type)) == \(text)") == (type == other ? .yes : .no), "\(other)")
      #expect(try verdict("\(Self.text(type)) != \(text)") == (type == other ? .no : .yes), "\(other)")
    }
  }

  @Test(arguments: ["+", "-", "*", "/", "%", "<", "<=", ">", ">="])
  func `an operator takes the pairs of the reference and no others`(sign: String) throws {
    let same: [String: [String]] = [
      "+": ["int", "float", "string", "duration"], "-": ["int", "float", "duration", "timestamp"],
    ]
    let ordered = ["string", "bytes", "int", "float", "duration", "timestamp"]
    for (left, l) in Self.values {
      for (right, r) in Self.values {
        let numbers = ["int", "float"].contains(left) && ["int", "float"].contains(right)
        let isOrder = sign.first == "<" || sign.first == ">"
        let pairs: Bool =
          switch (sign, left, right) {
          case ("+", "duration", "timestamp"), ("+", "timestamp", "duration"), ("-", "timestamp", "duration"): true
          case _ where left == right: (isOrder ? ordered : same[sign] ?? []).contains(left)
          default: false
          }
        let got = try isOrder ? verdict("(\(l) \(sign) \(r)) is bool") : outcome("\(l) \(sign) \(r)")
        if numbers || pairs {
          #expect(got == (isOrder ? .yes : .no), "\(left) \(sign) \(right)")
        } else if case .error(let message) = got {
          #expect(message.hasPrefix("Unsupported operation error. Received: \(left) \(sign) \(right). Expected: "))
        } else {
          Issue.record("\(left) \(sign) \(right) has a value")
        }
      }
    }
  }

  @Test(arguments: ["true", "1", "'a'", "null", "[true]"]) func `logic takes booleans alone`(value: String) throws {
    let isBool = value == "true"
    let type = ["1": "int", "'a'": "string", "null": "null", "[true]": "list"][value] ?? ""
    let wrong = Verdict.error("Type error. Received: [\(type)] Expected: [bool].")
    #expect(try verdict("\(value) && true") == (isBool ? .yes : wrong))
    #expect(try verdict("true && \(value)") == (isBool ? .yes : wrong))
    #expect(try verdict("\(value) || false") == (isBool ? .yes : wrong))
    #expect(try verdict("false || \(value)") == (isBool ? .yes : wrong))
    #expect(try verdict("\(value) ? true : true") == (isBool ? .yes : wrong))
    #expect(try verdict("!\(value)") == (isBool ? .no : wrong))
    #expect(try verdict(value) == (isBool ? .yes : wrong))
    // The decisive operand makes up for it.
    #expect(try verdict("\(value) || true") == .yes)
    #expect(try verdict("\(value) && false") == .no)
  }

  @Test(arguments: [
    // The reference's examples in other words, and what the facts add to them.
    "'ABC123'.lower() == 'abc123' && 'abc'.upper() == 'ABC' && ' \\t a \\n'.trim() == 'a'",
    "'user@domain.com'.matches('.*@domain[.]com') && !'user@domain.com!'.matches('.*@domain[.]com')",
    "'foo,bar,foo'.replace('foo', 'x') == 'x,bar,x' && 'file.png'.split('[.]') == ['file', 'png']",
    "'foo/bar'.split('/')[1] == 'bar' && 'a'.split(',') == ['a'] && ',a'.split(',') == ['', 'a']",
    "b'\\x2a'.toHexString() == '2A' && b'\\x00\\xff'.size() == 2 && 'é'.toUtf8().size() == 2",
    "hashing.crc32('').toHexString() == '00000000' && hashing.crc32('a').toHexString() == '43BEB7E8'",
    "hashing.crc32c('123456789').toHexString() == '839206E3' && hashing.crc32('123456789').toHexString() == '2639F4CB'",
    "hashing.md5('') == hashing.md5(b'') && hashing.sha256('a').size() == 32 && hashing.md5('a').size() == 16",
    "['a', 'b'].hasAll([]) && ![].hasAll(['a']) && ![].hasAny([]) && [].hasOnly([]) && [].hasOnly(['a'])",
    "['a', 'a'].hasOnly(['a'].toSet()) && ['a'].toSet().hasAll(['a', 'a']) && ![1].hasAny(['1'])",
    "[].join(',') == '' && ['a'].join(',') == 'a' && [1, 2.5, true, null, 'x'].join('') == '12.5truenullx'",
    "[1, 1, 2].toSet().size() == 2 && [1, 2].toSet() == [2, 1].toSet() && [1, 2] != [2, 1]",
    "['a', 'b'].toSet().difference(['a'].toSet()) == ['b'].toSet() && [].toSet().union([1].toSet()) == [1].toSet()",
    "['a', 'b'].toSet().intersection(['b', 'c'].toSet()) == ['b'].toSet() && 'a' in ['a'].toSet()",
    "{'a': 1}.keys() == ['a'] && {'a': 1}.values() == [1] && {}.size() == 0 && {'a': 1} == {'a': 1}",
    "{'a': null}.get('a', 1) == null && {}.get([], 5) == {} && {'a': {'b': null}}.get(['a', 'b'], 1) == null",
    "{'a': 1}.diff({'a': 1}).unchangedKeys() == ['a'].toSet() && {}.diff({'a': 1}).removedKeys() == ['a'].toSet()",
    "{'a': 1, 'b': 2, 'c': 3}.diff({'b': 5, 'c': 3, 'd': 4}).affectedKeys() == ['a', 'b', 'd'].toSet()",
    "math.abs(-1.5) == 1.5 && math.ceil(1.2) == 2.0 && math.floor(-1.2) == -2.0 && math.round(-0.5) == 0",
    "math.pow(2, 0.5) == math.sqrt(2) && math.pow(0, 0) == 1 && math.floor(1) is float && math.round(1.5) is int",
    "!math.isNaN(1) && math.isNaN(float('NaN')) && float('Infinity') > 1e300 && float('-Infinity') < 0",
    "int(float('NaN')) == 0 && int(float('Infinity')) == 9223372036854775807 && int(-1e30) == -9223372036854775808",
    "timestamp.date(2015, 4, 2).year() == 2015 && timestamp.date(2015, 4, 2).month() == 4",
    "timestamp.date(2015, 4, 2).day() == 2 && timestamp.date(2015, 4, 2).dayOfYear() == 92",
    "timestamp.date(2015, 4, 2).dayOfWeek() == 4 && timestamp.date(2015, 4, 2).hours() == 0",
    "timestamp.value(1427937153123).date() == timestamp.date(2015, 4, 2) && timestamp.value(0).toMillis() == 0",
    "timestamp.value(5025678).time() == duration.time(1, 23, 45, 678000000)",
    "timestamp.value(5025678).hours() == 1 && timestamp.value(5025678).minutes() == 23",
    "timestamp.date(2024, 1, 31) + duration.value(1, 'd') == timestamp.date(2024, 2, 1)",
    "duration.value(1, 'w') == duration.value(7, 'd') && duration.value(1, 'h') == duration.value(60, 'm')",
    "duration.value(1, 's') == duration.value(1000, 'ms') && duration.value(1, 'ms') == duration.value(1000000, 'ns')",
    "timestamp.date(2024, 1, 2) - timestamp.date(2024, 1, 1) == duration.value(24, 'h')",
    "duration.abs(duration.value(-90, 's')).seconds() == 90 && duration.time(-1, 0, 0, 0).seconds() == -3600",
    "latlng.value(90, -180).latitude() == 90.0 && latlng.value(0, 180).longitude() == 180",
    "latlng.value(0, 0).distance(latlng.value(0, 180)) > 20015000 && latlng.value(0, 0).distance(latlng.value(0, 180)) < 20015500",
    "(/path/$(foo)/$(bar)).bind({'foo': 'something', 'bar': 'another'}) == /path/something/another",
    "/path/$('a')/$(bar).bind({'bar': 'b/c'}) == /path/a/b/c && (/a/$(x)/b).bind({'x': 1, 'y': 2}) == /a/1/b",
    "path('a/b/c') == /a/b/c && path('/a//b/') == /a/b && string(/a/$('b')) == '/a/b' && /a/b[1] == 'b'",
    "/a/$(1)/b == path('a/1/b') && /a/$(/b/c) == /a/b/c && /a/b[0:1] == /a && /a/b in [/a/b]",
    "'abc'[1:1] == '' && [1, 2, 3][0:3] == [1, 2, 3] && 'abc'[3:3] == '' && [1][1:1] == []",
    "'a' < 'b' && 'Z' < 'a' && 'a' < 'aa' && b'a' < b'b' && timestamp.value(1) > timestamp.value(0)",
    "string(true) == 'true' && string(1) == '1' && string(2.0) == '2.0' && string(null) == 'null'",
    "-(-9223372036854775807) == 9223372036854775807 && -9223372036854775808 / 1 < 0 && - 5 == -5",
    "7 / 2 * 2 == 6 && 2 + 3 * 4 - 1 == 13 && 10 - 4 - 3 == 3 && 100 / 10 / 2 == 5 && 7 % 4 % 2 == 1",
    "true || false && false && !false == true && (false ? false : true)", "1 < 2 == true && 1 in [1] == true",
    "true ? true : false ? false : false", "request.auth.uid == 'ada' ? true : 1 / 0 == 1",
  ]) func `an example of the reference holds`(condition: String) throws {
    #expect(try verdict(condition) == .yes)
  }

  @Test(arguments: [
    ("[1, 2][2] == 1", "Index out of bound error. Index: [2] , size: [2]."),
    ("[1, 2][-1] == 1", "Index out of bound error. Index: [-1] , size: [2]."),
    ("'ab'[2] == ''", "Index out of bound error. Index: [2] , size: [2]."),
    ("/a/b[2] == ''", "Index out of bound error. Index: [2] , size: [2]."),
    ("{'a': 1}['b'] == 1", "Property b is undefined on object."),
    ("{'a': 1}.b == 1", "Property b is undefined on object."), ("'a'.b == 1", "Property b is undefined on object."),
    ("[1].b == 1", "Property b is undefined on object."), ("null.b == 1", "Null value error."),
    ("null['b'] == 1", "Null value error."), ("null[0:1] == 1", "Null value error."),
    ("request.constructor == 1", "Property constructor is undefined on object."),
    ("request.query == null", "Property query is undefined on object."),
    ("(/a/$(foo)).bind({}) == 1", "Property foo is undefined on object."),
    ("/a/$(foo) == 1", "Null value error."),
    ("path(/a) == 1", "Unsupported operation error. Received: path(path). Expected: path(string)."),
    ("1.5 % 0 == 0", "Divide by zero error."), ("1 / 0.0 == 0", "Divide by zero error."),
    ("resource.data.n == 5 && resource.data.nope == 1", "Property nope is undefined on object."),
  ]) func `an error of the reference has its message`(condition: String, message: String) throws {
    #expect(try verdict(condition) == .error(message))
  }

  @Test(arguments: [
    "timestamp.date(2023, 2, 29) == null", "timestamp.date(2024, 13, 1) == null", "timestamp.date(2024, 0, 1) == null",
    "duration.value(1, 'y') == null", "latlng.value(91, 0) == null", "latlng.value(0, -181) == null",
    "int('9223372036854775808') == 0", "int('') == 0", "int('1 ') == 0", "float('') == 0", "float('abc') == 0",
    "[[1]].join(',') == ''", "{'a': 1}.get(1, 2) == 2", "{'a': 1}.get([1], 2) == 2", "{1: 2} == {}",
    "math.abs(-9223372036854775808) == 0", "9223372036854775807 * 2 == 0", "-9223372036854775808 / -1 == 0",
    "'a'.matches('' + '[') || false", "'a'.replace('(', '') == ''", "'a'.split('' + '*') == []",
    "'a'.matches('' + '(?=a)')",
    "/a/$([1]) == /a/b", "/a/$(null) == /a", "1 in 1", "1 in {'a': 1}", "'a' in 'abc'", "'a'[true] == ''",
    "[1]['a'] == 1",
  ]) func `what has no value is an error that another operand makes up for`(condition: String) throws {
    if case .error = try verdict(condition) {} else { Issue.record("\(condition) has a value") }
    #expect(try verdict("(\(condition)) || true") == .yes)
    #expect(try verdict("(\(condition)) && false") == .no)
  }
}

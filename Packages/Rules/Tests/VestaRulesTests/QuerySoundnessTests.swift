import Testing
import VestaTesting

@testable import VestaRules

/// The filters of Firestore as its engine matches them, apart from the equality of the rules language: numbers are
/// equal by value at every depth, a zero has two signs, and NaN is equal to itself.
private enum Matching {
  static func equal(_ left: RulesValue, _ right: RulesValue) -> Bool {
    switch (left, right) {
    case (.int(let l), .float(let r)), (.float(let r), .int(let l)): Double(exactly: l) == r
    case (.float(let l), .float(let r)): l == r || l.isNaN && r.isNaN
    case (.list(let l), .list(let r)): l.count == r.count && zip(l, r).allSatisfy(equal)
    case (.map(let l), .map(let r)):
      l.count == r.count && zip(l.members, r.members).allSatisfy { $0.name == $1.name && equal($0.value, $1.value) }
    default: left == right
    }
  }

  /// The order of numbers and strings; NaN has none in ranges.
  private static func precedes(_ left: RulesValue, _ right: RulesValue) -> Bool {
    switch (left, right) {
    case (.int(let l), .int(let r)): l < r
    case (.float(let l), .float(let r)): l < r
    case (.int(let l), .float(let r)): exact(l, r) < 0
    case (.float(let l), .int(let r)): exact(r, l) > 0
    case (.string(let l), .string(let r)): Array(l.utf8).lexicographicallyPrecedes(Array(r.utf8))
    default: false
    }
  }

  /// Negative, zero or positive as an integer is before, at or after a float; zero for NaN.
  private static func exact(_ left: Int64, _ right: Double) -> Int {
    if right.isNaN { return 0 }
    if right >= 0x1p63 { return -1 }
    if right < -0x1p63 { return 1 }
    let whole = Int64(right)
    if left != whole { return left < whole ? -1 : 1 }
    return right > Double(whole) ? -1 : right < Double(whole) ? 1 : 0
  }

  static func matches(_ filter: RulesQuery.Filter, _ document: RulesMap) -> Bool {
    switch filter {
    case .all(let filters): return filters.allSatisfy { matches($0, document) }
    case .any(let filters): return filters.contains { matches($0, document) }
    case .field(let names, let comparison, let value):
      guard let own = names.reduce(.some(.map(document)), { step($0, $1) }) else { return false }
      return holds(comparison, own, value)
    }
  }

  private static func step(_ value: RulesValue?, _ name: String) -> RulesValue? {
    if case .map(let map)? = value { map[name] } else { nil }
  }

  private static func holds(_ comparison: RulesQuery.Comparison, _ own: RulesValue, _ value: RulesValue) -> Bool {
    func among(_ values: RulesValue) -> Bool {
      if case .list(let list) = values { list.contains { equal(own, $0) && !isSpecial($0) } } else { false }
    }
    func has(_ element: RulesValue) -> Bool {
      if case .list(let list) = own, !isSpecial(element) { list.contains { equal($0, element) } } else { false }
    }
    switch comparison {
    case .equal: return equal(own, value)
    case .notEqual: return !equal(own, value) && !equal(own, .null)
    case .less: return precedes(own, value)
    case .lessOrEqual: return precedes(own, value) || isOrdered(own) && !isSpecial(value) && equal(own, value)
    case .greater: return precedes(value, own)
    case .greaterOrEqual: return precedes(value, own) || isOrdered(own) && !isSpecial(value) && equal(own, value)
    case .isIn: return among(value)
    case .notIn:
      guard case .list(let list) = value else { return false }
      return !among(value) && !equal(own, .null) && !list.contains { equal($0, .null) }
    case .arrayContains: return has(value)
    case .arrayContainsAny:
      guard case .list(let list) = value else { return false }
      return list.contains(where: has)
    }
  }

  /// Null and NaN, which are found by `==` and `!=` alone.
  private static func isSpecial(_ value: RulesValue) -> Bool { equal(value, .null) || equal(value, .float(.nan)) }

  private static func isOrdered(_ value: RulesValue) -> Bool {
    switch value {
    case .int, .float, .string: true
    default: false
    }
  }
}

/// Random filters, rules and documents: what a query may return is allowed by the rules for each document.
@Suite struct QuerySoundnessTests {
  private static let fields = ["a", "b", "c", "d"]
  private static let scalars: [RulesValue] = [
    .int(0), .float(0), .float(-0.0), .int(1), .float(1), .int(2), .float(2.5), .float(.nan), .int(1 << 53),
    .int(1 << 53 + 1), .float(0x1p53), .int(.max), .float(0x1p63), .string("a"), .string("b"), .null, .bool(true),
  ]

  private static func value(_ random: inout SplitMix, _ depth: Int = 2) -> RulesValue {
    guard depth > 0, random.oneIn(4) else { return random.pick(scalars) }
    let inner = (0..<random.below(4)).map { _ in value(&random, depth - 1) }
    guard random.oneIn(2) else { return .list(inner) }
    return .map(RulesMap(inner.enumerated().map { RulesMap.Member(["x", "y", "z"][$0.offset], $0.element) }))
  }

  /// Another value that filters take for the same.
  private static func other(_ value: RulesValue, _ random: inout SplitMix) -> RulesValue {
    switch value {
    case .int(0), .float(0): return random.pick([.int(0), .float(0), .float(-0.0)])
    case .int(let number): return random.oneIn(2) ? value : Double(exactly: number).map { .float($0) } ?? value
    case .float(let number): return random.oneIn(2) ? value : Int64(exactly: number).map { .int($0) } ?? value
    case .list(let list): return .list(list.map { other($0, &random) })
    case .map(let map): return .map(RulesMap(map.members.map { RulesMap.Member($0.name, other($0.value, &random)) }))
    default: return value
    }
  }

  /// The fields and values that filters speak of, which rules and documents then do as well.
  private typealias Known = [(field: String, value: RulesValue)]

  private static func filter(
    _ random: inout SplitMix, _ depth: Int, _ values: inout Known
  ) -> RulesQuery.Filter {
    if depth > 0, random.oneIn(2) {
      let inner = (0..<(1 + random.below(4))).map { _ in filter(&random, depth - 1, &values) }
      return random.oneIn(3) ? .any(inner) : .all(inner)
    }
    let comparison = random.oneIn(2) ? .equal : random.pick(RulesQuery.Comparison.allCases)
    let several = (0..<(1 + random.below(3))).map { _ in value(&random) }
    let field = random.pick(fields)
    let path = random.oneIn(6) ? [field, "x"] : [field]
    values += several.map { (field, path.count == 1 ? $0 : .map(["x": $0])) }
    let takesList = [.isIn, .notIn, .arrayContainsAny].contains(comparison)
    return .field(path, comparison, takesList ? .list(several) : several[0])
  }

  private static func literal(_ value: RulesValue) -> String {
    switch value {
    case .float(let number): number.isNaN || number.isInfinite ? "math.sqrt(-1.0)" : "\(number)"
    case .string(let text): "'\(text)'"
    case .list(let list): "[\(list.map(literal).joined(separator: ", "))]"
    case .map(let map): "{\(map.members.map { "'\($0.name)': \(literal($0.value))" }.joined(separator: ", "))}"
    case .null: "null"
    case .bool(let bool): "\(bool)"
    case .int(let number): "\(number)"
    default: "null"
    }
  }

  private static func condition(_ random: inout SplitMix, _ depth: Int, _ values: Known) -> String {
    func inner() -> String { condition(&random, depth - 1, values) }
    if depth > 0, !random.oneIn(4) {
      return random.pick([
        "(\(inner()) && \(inner()))", "(\(inner()) || \(inner()))", "!\(inner())",
        "(\(inner()) ? \(inner()) : \(inner()))",
        "either(\(inner()), \(inner()))",
      ])
    }
    let known = random.oneIn(5) || values.isEmpty ? (random.pick(fields), Self.value(&random)) : random.pick(values)
    let (field, value) = ("resource.data.\(known.0)", known.1)
    let text = literal(random.oneIn(3) ? other(value, &random) : value)
    let sign = random.pick(["==", "!=", "<", "<=", ">", ">="])
    if random.oneIn(3) { return QueryForms.guarded(known.0, text, sign, &random) }
    return random.pick([
      "(\(field) \(sign) \(text))", "(\(text) \(sign) \(field))", "(\(field) \(sign) resource.data.a)",
      "(\(text) in \(field))", "(\(field) in [\(text), 1])", "(\(field) is int)", "(\(field) is float)",
      "(\(field) is list)", "(\(field) / 2 == 0)", "(string(\(field)) == '0.0')", "(string(\(field)) in ['0', '1'])",
      "(\(field).size() > 0)", "('x' in \(field))", "(\(field).x \(sign) \(text))", "(\(field)[0] == \(text))",
      "(resource.data.keys().hasOnly(['a']))", "([\(field)] == [\(text)])", "(id == 'd1')",
      "(\(field).hasAny([\(text)]))", "(resource.data.get('\(random.pick(fields))', 0) == \(text))",
    ])
  }

  private static func document(_ random: inout SplitMix, _ values: Known) -> RulesMap {
    RulesMap(
      fields.filter { _ in !random.oneIn(5) }.map { name in
        let own = values.filter { $0.field == name }
        let known = random.oneIn(5) || own.isEmpty ? value(&random) : random.pick(own).value
        return RulesMap.Member(name, random.oneIn(8) ? .list([known]) : other(known, &random))
      })
  }

  /// A rule that says the same as a filter, or nearly so.
  private static func echo(_ filter: RulesQuery.Filter, _ random: inout SplitMix) -> String {
    func many(_ filters: [RulesQuery.Filter], _ sign: String) -> String {
      let texts = filters.map { echo($0, &random) }
      return texts.isEmpty ? "true" : "(\(texts.joined(separator: sign)))"
    }
    switch filter {
    case .all(let filters): return random.oneIn(3) ? echo(random.pick(filters), &random) : many(filters, " && ")
    case .any(let filters): return many(filters, " || ")
    case .field(let names, let comparison, let value):
      let field = QueryForms.named(names, &random)
      let text = literal(random.oneIn(2) ? other(value, &random) : value)
      let near = random.pick([
        "is number", "<= \(text)", ">= \(text)", "== \(text)", "!= \(text)", "is int", ".x == \(text)",
      ])
      if random.oneIn(4) { return "(\(field)\(near.hasPrefix(".") ? "" : " ")\(near))" }
      switch comparison {
      case .arrayContains: return random.pick(["(\(text) in \(field))", "\(field).hasAny([\(text), 'z'])"])
      case .arrayContainsAny: return "\(field).hasAny(\(text))"
      case .isIn: return "(\(field) in \(text))"
      case .notIn: return "!(\(field) in \(text))"
      default: return "(\(field) \(comparison.rawValue) \(text))"
      }
    }
  }

  /// One rule, some filters, and documents that they return.
  ///
  /// - Returns: The number of pairs of an allowed query and a document that it returns.
  private func round(_ random: inout SplitMix, _ seed: UInt64, documents: Int = 20) throws -> Int {
    var values: Known = []
    let filters = (0..<4).map { _ in Self.filter(&random, 2, &values) }
    let text =
      random.oneIn(2)
      ? Self.condition(&random, random.below(4), values)
      : random.pick(["", "!!"]) + Self.echo(filters[0], &random)
        + random.pick(["", " || \(Self.condition(&random, 1, values))"])
    let compiled = try ruleset(text, functions: "function either(a, b) { let c = b; return a || c; }")
    var pairs = try named(filters, values, compiled, text, seed, &random)
    for filter in filters {
      guard compiled.decide(RulesQuery("c", below: notes, filter: filter), auth: .null).isAllowed else { continue }
      for _ in 0..<documents {
        let document = Self.document(&random, values)
        guard Matching.matches(filter, document) else { continue }
        pairs += 1
        let own = RulesRequest(
          .list, RulesPath(notes.segments + ["c", random.pick(["d1", "d2"])]),
          existing: .map(["data": .map(document)]))
        if !compiled.decide(own).isAllowed {
          Issue.record("seed \(seed): \(text) with \(filter) returned \(document)")
          return pairs
        }
      }
    }
    return pairs
  }

  /// The filters with names of documents, some of which are not there.
  ///
  /// - Returns: The number of documents that allowed queries return.
  private func named(
    _ filters: [RulesQuery.Filter], _ values: Known, _ compiled: Ruleset, _ text: String, _ seed: UInt64,
    _ random: inout SplitMix
  ) throws -> Int {
    var pairs = 0
    for filter in filters {
      let ids = ["d1", "d2", "d3"].filter { _ in random.oneIn(2) }
      var stored: [String: RulesMap] = [:]
      for id in ids where !random.oneIn(4) { stored[id] = Self.document(&random, values) }
      let filter = random.oneIn(2) ? nil : filter
      var query = RulesQuery("c", below: notes, filter: filter)
      query.names = ids.map { RulesPath(notes.segments + ["c", $0]) }
      let known = StoredDocuments(documents: stored, readsFirst: random.oneIn(2))
      guard compiled.decide(query, auth: .null, documents: known).isAllowed else { continue }
      for (id, document) in stored where filter.map({ Matching.matches($0, document) }) ?? true {
        pairs += 1
        let own = RulesRequest(
          .list, RulesPath(notes.segments + ["c", id]), existing: .map(["data": .map(document)]))
        if !compiled.decide(own).isAllowed {
          Issue.record("seed \(seed): \(text) with \(filter as Any) by name returned \(id) \(document)")
          return pairs
        }
      }
    }
    return pairs
  }

  /// The documents of the collection.
  private struct StoredDocuments: RulesDocuments {
    let documents: [String: RulesMap]
    let readsFirst: Bool

    func lookUp(_ function: RulesLookupFunction, _ path: RulesPath) -> RulesLookup {
      if readsFirst, path.segments.last == "d3" { return .notYetRead }
      return documents[path.segments.last ?? ""].map { .found(["data": .map($0)]) } ?? .missing
    }
  }

  @Test(arguments: 0..<4) func `no document that an allowed query returns is denied by itself`(seed: UInt64) throws {
    var random = SplitMix(seed: 0x9_0000 + seed)
    var pairs = 0
    for _ in 0..<150 { pairs += try round(&random, seed) }
    #expect(pairs > 50)
  }

  /// Runs a number of rounds, each allowed query with a number of documents.
  ///
  /// - Returns: The number of pairs of an allowed query and a document that it returns.
  func run(rounds: Int, documents: Int, seed: UInt64) throws -> Int {
    var random = SplitMix(seed: seed)
    var pairs = 0
    for _ in 0..<rounds { pairs += try round(&random, seed, documents: documents) }
    return pairs
  }

  // MARK: By example

  private func isAllowed(_ condition: String, _ filter: RulesQuery.Filter) throws -> Bool {
    try ruleset(condition).decide(RulesQuery("c", below: notes, filter: filter), auth: .null).isAllowed
  }

  @Test func `a list that a filter fixes has each of its numbers in both types`() throws {
    let filter = RulesQuery.Filter.field(["f"], .equal, .list([.int(1), .int(2)]))
    #expect(try !isAllowed("resource.data.f == [1, 2] || resource.data.f == [1.0, 2.0]", filter))
    #expect(
      try isAllowed("resource.data.f in [[1, 2], [1.0, 2.0], [1, 2.0], [1.0, 2]]", filter))
    #expect(try isAllowed("resource.data.f.size() == 2 && resource.data.f[0] == 1", filter))
    #expect(try !isAllowed("{'n': 1} in resource.data.f", .field(["f"], .arrayContains, .map(["n": .int(1)]))))
    #expect(try isAllowed("{'n': 'a'} in resource.data.f", .field(["f"], .arrayContains, .map(["n": .string("a")]))))
    #expect(try isAllowed("1 in resource.data.f", .field(["f"], .arrayContains, .float(1))))
  }

  @Test func `a zero that a filter fixes has two signs`() throws {
    #expect(try !isAllowed("string(resource.data.f) in ['0', '0.0']", .field(["f"], .equal, .int(0))))
    #expect(try isAllowed("string(resource.data.f) in ['0', '0.0', '-0.0']", .field(["f"], .equal, .float(-0.0))))
  }

  @Test func `of many numbers some are known by comparisons alone`() throws {
    let names = (0..<8).map { "f\($0)" }
    let filter = RulesQuery.Filter.all(names.map { .field([$0], .equal, .int(3)) })
    func all(_ condition: String) -> String {
      names.map { name in
        condition.split(separator: "f", omittingEmptySubsequences: false).joined(separator: "resource.data.\(name)")
      }.joined(separator: " && ")
    }
    #expect(try isAllowed(all("f == 3"), filter))
    #expect(try isAllowed(all("f == 3.0"), filter))
    #expect(try isAllowed(all("!(f == 4)"), filter))
    #expect(try isAllowed(all("f != 4"), filter))
    #expect(try isAllowed(all("f >= 3"), filter))
    #expect(try isAllowed(all("2 < f"), filter))
    #expect(try isAllowed(all("!(f < 3)"), filter))
    #expect(try !isAllowed(all("f != 3"), filter))
    #expect(try !isAllowed(all("f is string"), filter))
    for name in names { #expect(try !isAllowed("resource.data.\(name) is int", filter)) }
    // Such a list is not known at all.
    let long = RulesQuery.Filter.field(["f"], .equal, .list((1...8).map { .int($0) }))
    #expect(try !isAllowed("resource.data.f == [1, 2, 3, 4, 5, 6, 7, 8]", long))
    #expect(try isAllowed("true", long))
  }

  @Test func `an integer and a float are ordered exactly`() throws {
    #expect(try verdict("9007199254740993 > 9007199254740992.0") == .yes)
    #expect(try verdict("9007199254740992.0 < 9007199254740993") == .yes)
    #expect(try verdict("9223372036854775807 < 9223372036854775808.0") == .yes)
    #expect(try verdict("9223372036854775808.0 > 9223372036854775807") == .yes)
    #expect(try verdict("1 <= 1.0 && 1 >= 1.0 && 1.5 > 1 && 1 < 1.5") == .yes)
    #expect(try verdict("1 < math.sqrt(-1.0)") == .no)
  }
}

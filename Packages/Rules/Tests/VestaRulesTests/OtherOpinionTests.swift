import Testing
import VestaTesting

@testable import VestaRules

/// Random programs, evaluated in two ways and after changes that must not matter.
@Suite struct OtherOpinionTests {
  private let request = RulesRequest(
    .get, RulesPath(notes.segments + ["c", "d"]),
    existing: .map([
      "data": .map([
        "n": .int(7), "s": .string("a"), "t": .bool(true), "list": .list([.int(1), .string("a")]), "nothing": .null,
      ])
    ]))

  private func source(_ statements: String, _ functions: String) -> String {
    """
    rules_version = '2';
    service cloud.firestore {
      match /databases/{database}/documents {
        \(functions)
        match /c/{id} { \(statements) }
      }
    }
    """
  }

  /// Limits of time that no program of the test reaches, so that they do not tell the two apart.
  private var limits: RulesLimits {
    var limits = RulesLimits()
    limits.expressions = 1 << 40
    return limits
  }

  private func compile(_ statements: String, _ functions: String) throws -> Ruleset {
    try Ruleset(source(statements, functions), for: .firestore, limits: limits)
  }

  @Test(arguments: 0..<20) func `the compiled form and the tree agree about values and errors`(seed: UInt64) throws {
    try compare(60, seed: seed)
  }

  /// Compares the compiled form with the tree.
  func compare(_ count: Int, seed: UInt64) throws {
    var programs = RandomPrograms(seed: seed)
    for _ in 0..<count {
      let (functions, condition) = (programs.functions(), programs.condition())
      let ruleset = try compile("allow get: if \(condition);", functions)
      guard let root = ruleset.tree.scopes.flatMap(\.allows).first?.condition else { continue }
      let expected = TreeWalker(ruleset, request).verdict(root)
      let got = verdict(of: ruleset.decide(request))
      #expect(got == expected, "seed \(seed): \(condition)\n\(functions)")
    }
  }

  @Test(arguments: 0..<10) func `names, split conditions and the order of statements do not matter`(
    seed: UInt64
  ) throws {
    try change(40, seed: seed)
  }

  /// Compares programs with changed ones that mean the same.
  func change(_ count: Int, seed: UInt64) throws {
    var programs = RandomPrograms(seed: seed)
    for _ in 0..<count {
      let functions = programs.functions()
      let (left, right) = (programs.condition(), programs.condition())
      func isAllowed(_ statements: String, _ functions: String) throws -> Bool {
        try compile(statements, functions).decide(request).isAllowed
      }
      let whole = try isAllowed("allow get: if \(left) || \(right);", functions)
      #expect(try isAllowed("allow get: if \(left); allow get: if \(right);", functions) == whole)
      #expect(try isAllowed("allow get: if \(right); allow get: if \(left);", functions) == whole)
      func renamed(_ text: String) -> String {
        (0..<programs.count).reduce(text) { replaced($0, "p\($1)(", "other\($1)(") }
      }
      #expect(try isAllowed(renamed("allow get: if \(left) || \(right);"), renamed(functions)) == whole)
      let both = try isAllowed("allow get: if \(left) && \(right);", functions)
      #expect(try isAllowed("allow get: if \(left) ? \(right) : false;", functions) == both)
    }
  }

  private func replaced(_ text: String, _ old: String, _ new: String) -> String {
    BytesSearch.replace(text, old, new, limit: .max) ?? text
  }
}

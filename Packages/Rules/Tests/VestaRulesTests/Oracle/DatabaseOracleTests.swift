import Testing
import VestaRules
import VestaTesting

/// Random rules of the Realtime Database, with reads and writes that the package decides as an oracle does which shares
/// no code with it.
@Suite struct DatabaseOracleTests {
  struct Counts {
    var decisions = 0
    var allowed = 0
    var errors = 0
  }

  private typealias Claim = NaiveDatabaseEvaluator.Claim
  private static let claims: [String: Claim] = [
    "uid": .scalar(.string("a")),
    "token": .map([
      "admin": .scalar(.bool(true)), "level": .scalar(.number(2)), "inner": .map(["name": .scalar(.string("b1"))]),
    ]),
  ]
  private static let auth: RulesValue = [
    "uid": "a", "token": ["admin": true, "level": 2, "inner": ["name": "b1"]],
  ]

  /// Compares `count` files of rules, each with several reads and writes.
  @discardableResult
  static func compare(_ count: Int, seed: UInt64, requests: Int = 4) throws -> Counts {
    var (random, counts) = (RandomDatabaseRules(seed: seed), Counts())
    for _ in 0..<count {
      let root = random.node()
      let text = "{\"rules\": \(root.text)}"
      let rules: DatabaseRuleset
      do throws(RulesetError) {
        rules = try DatabaseRuleset(text)
      } catch {
        Issue.record("seed \(seed): refused: \(error)\n\(text)")
        return counts
      }
      for _ in 0..<requests {
        let isSignedIn = !random.random.oneIn(3)
        let auth = isSignedIn ? Self.auth : .null
        let (before, path) = (random.tree(), random.path())
        let data = before.packaged
        var naive = NaiveDatabaseEvaluator(
          before: before, after: before, auth: isSignedIn ? .map(claims) : .scalar(.null), now: 1_000)
        let expected = naive.grants(".read", root, path)
        let read = rules.decideRead(path, auth: auth, now: 1_000, data: data)
        counts.decisions += 1
        if read.isAllowed { counts.allowed += 1 }
        counts.errors += expected.count { $0 == nil }
        guard read.steps.map(\.outcome) == expected, read.isAllowed == (expected.last == .some(true)) else {
          Issue.record("seed \(seed): read \(path): \(expected), got \(read.steps)\n\(text)\n\(before)")
          return counts
        }
        // Writes of one path, and of two that do not touch each other.
        let paths = random.random.oneIn(3) ? [["a"] + random.path(), ["b"] + random.path()] : [path]
        let after = paths.reduce(before) { $0.setting(random.tree(2), $1) }
        naive = NaiveDatabaseEvaluator(before: before, after: after, auth: naive.auth, now: 1_000)
        let isAllowed = paths.allSatisfy {
          naive.grants(".write", root, $0).last == .some(true) && naive.isValid(root, $0)
        }
        let write = rules.decideWrite(paths, auth: auth, now: 1_000, before: data, after: after.packaged)
        counts.decisions += 1
        if isAllowed { counts.allowed += 1 }
        guard write.isAllowed == isAllowed else {
          Issue.record("seed \(seed): write \(paths): \(isAllowed), got \(write.steps)\n\(text)\n\(before)\n\(after)")
          return counts
        }
      }
    }
    return counts
  }

  @Test(arguments: 0..<6) func `rules of the tree are decided as the oracle does`(seed: UInt64) throws {
    let counts = try Self.compare(60, seed: seed, requests: 6)
    #expect(counts.allowed > counts.decisions / 20 && counts.errors > counts.decisions / 50, "\(counts)")
    #expect(counts.decisions == 720)
  }
}

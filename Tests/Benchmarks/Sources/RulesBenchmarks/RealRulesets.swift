import Foundation
import VestaRules

/// The rulesets of public apps among the conformance data, which are in no checkout.
enum RealRulesets {
  /// The folder with their texts.
  static let folder: URL = {
    let root = ProcessInfo.processInfo.environment["VESTA_CONFORMANCE_DIR"] ?? "../shared/conformance"
    return URL(filePath: root).appending(path: "real-rulesets/text")
  }()

  /// The reason why a ruleset is not measured.
  struct Absence: Error { let sentence: String }

  /// The text of a ruleset.
  static func text(_ name: String) throws(Absence) -> String {
    do {
      return try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    } catch {
      throw Absence(
        sentence: "not measured: \(folder.path), below VESTA_CONFORMANCE_DIR, has no \(name)")
    }
  }

  /// A ruleset of Firestore or Storage.
  static func ruleset(_ name: String, for service: RulesService = .firestore) throws(Absence) -> Ruleset {
    let text = try text(name)
    do throws(RulesetError) {
      return try Ruleset(text, for: service)
    } catch {
      throw Absence(sentence: "not measured: \(name) is refused: \(error)")
    }
  }

  /// A ruleset of the Realtime Database.
  static func databaseRuleset(_ name: String) throws(Absence) -> DatabaseRuleset {
    let text = try text(name)
    do throws(RulesetError) {
      return try DatabaseRuleset(text)
    } catch {
      throw Absence(sentence: "not measured: \(name) is refused: \(error)")
    }
  }
}

/// A decision of a real ruleset, and the same decision written by hand in Swift.
struct RealDecision: Sendable {
  let label: String
  /// The bar of the decision, in microseconds; by hand it takes at least a tenth of it.
  let microseconds: Double
  /// The number of decisions of one round.
  var count = 100_000
  let ours: @Sendable () -> Bool
  let byHand: @Sendable () -> Bool

  /// The names of the lines, and how each is prepared.
  static let all: [(name: String, make: @Sendable () throws(RealRulesets.Absence) -> RealDecision)] = [
    ("rules-get", RealDecision.get), ("rules-update", RealDecision.update), ("rules-create", RealDecision.create),
    ("rules-upload", RealDecision.upload), ("rules-leaf", RealDecision.leaf),
  ]
}

/// The decisions of the real rulesets by the names of their lines, for a program that counts what they allocate; none
/// where the rulesets are absent.
public func realRulesDecisions() -> [(name: String, ours: @Sendable () -> Bool, byHand: @Sendable () -> Bool)] {
  RealDecision.all.compactMap { name, make in
    guard let decision = try? make() else { return nil }
    return (name, decision.ours, decision.byHand)
  }
}

import Testing
import VestaTesting

@testable import VestaRules

/// The match of a document that is found without a list, compared with the list of all matches.
@Suite struct OnlyMatchTests {
  private static let names = [
    "a", "bb", "rooms", "messages", "documents", "sixteen-letters-", "seventeen-letters", "é", "databases",
  ]

  /// The path of a match; at most one of its segments is a glob.
  private static func pattern(_ random: inout SplitMix) -> String {
    let glob = random.below(12)
    return (0...random.below(4)).map { number in
      if number == glob { return "{rest=**}" }
      return random.below(3) == 0 ? "{id\(number)}" : random.pick(names)
    }.joined(separator: "/")
  }

  @Test(arguments: 0..<4) func `the only match is the one of the list`(seed: UInt64) throws {
    var random = SplitMix(seed: 0x73_0000 + seed)
    var (none, one) = (0, 0)
    for _ in 0..<150 {
      let matches = (0...random.below(7)).map { _ in "match /\(Self.pattern(&random)) { allow get; }" }
      let root = random.pick(["/databases/{database}/documents", "/databases/(default)/documents", "/{a}/{b}/{c}"])
      let ruleset = try Ruleset(
        "rules_version = '2'; service cloud.firestore { match \(root) { \(matches.joined(separator: " ")) } }",
        for: .firestore)
      for _ in 0..<20 {
        let segments =
          ["databases", "(default)", "documents"] + (0...random.below(5)).map { _ in random.pick(Self.names) }
        let bindings = ruleset.code.table.bindings(of: .names(segments))
        let all = (0..<bindings.count).compactMap { bindings[$0]?.match }
        let found = ruleset.code.table.only("projects/p/" + segments.joined(separator: "/"))
        switch try #require(found).match {
        case .none:
          none += 1
          #expect(all.isEmpty, "\(matches), \(segments)")
        case .one(let match):
          one += 1
          #expect(all == [match], "\(matches), \(segments)")
        case .several: break
        }
      }
    }
    #expect(none > 500 && one > 50, "\(none), \(one)")
  }

  /// The segments of a resource name as places; nil for a name that is taken apart in the usual way.
  private func segments(_ name: String) -> [String]? {
    let places = name.utf8.withContiguousStorageIfAvailable { SegmentPlaces($0) } ?? nil
    return places.map { places in (0..<places.count).map { places.segment($0, of: name) } }
  }

  @Test func `segments are found whatever their lengths`() {
    for first in 1...18 {
      for second in 1...18 {
        let expected = [String(repeating: "x", count: first), String(repeating: "y", count: second)]
        #expect(segments("projects/p/" + expected.joined(separator: "/")) == expected)
      }
      let project = String(repeating: "p", count: first)
      #expect(segments("projects/\(project)/a") == ["a"])
      #expect(segments("projects/\(project)") == nil)
      #expect(segments("projects/\(project)/") == nil)
      #expect(segments("projects/\(project)//a") == nil)
      #expect(segments("projects/\(project)/a/") == nil)
    }
    for name in [
      "", "projects", "projects/", "projects//", "projects//a", "project/p/a", "projectsxp/a", "/projects/p/a",
    ] {
      #expect(segments(name) == nil, "\(name)")
    }
  }

  @Test func `names of many segments and long names are taken apart in the usual way`() {
    for count in 1...20 {
      let expected = (0..<count).map { "s\($0)" }
      #expect(segments("projects/p/" + expected.joined(separator: "/")) == (count <= 15 ? expected : nil))
    }
    let name = "projects/p/"
    for length in [65_533, 65_534, 65_535, 65_536, 70_000] {
      let long = String(repeating: "x", count: length - name.utf8.count)
      #expect(segments(name + long) == (length < 65_535 ? [long] : nil), "\(length)")
    }
  }
}

import Testing

@testable import VestaPatterns

@Suite struct ScalarSetTests {
  @Test func `ranges are in order and do not touch`() {
    let set = ScalarSet([30...40, 1...2, 3...4, 40...50, 100...200, 120...130, 0...0])
    #expect(set.ranges == [0...4, 30...50, 100...200])
    #expect(set.contains(150) && set.contains(200))
    #expect(!set.contains(99) && !set.contains(201))
  }

  @Test func `the inverse has all other scalars, the last one too`() {
    let last = ScalarSet.maximum
    #expect(ScalarSet([0...(last - 1)]).inverted.ranges == [last...last])
    #expect(ScalarSet([5...last]).inverted.ranges == [0...4])
    #expect(ScalarSet.all.inverted.ranges.isEmpty)
    #expect(ScalarSet([]).inverted.ranges == [0...last])
  }

  @Test func `folding takes four steps for ASCII and for each character of a set beyond it, up to all with a case`() {
    #expect(ScalarSet([]).foldingSteps == 4)
    #expect(ScalarSet([0...127]).foldingSteps == 4)
    #expect(ScalarSet([128...128]).foldingSteps == 4)
    #expect(ScalarSet([65...90, 128...136]).foldingSteps == 4 * 35)
    #expect(ScalarSet.all.foldingSteps == 4 * CaseTable.variants.count)
  }

  @Test func `a scalar has one category at most, and the class of all has every one`() throws {
    let names = [
      "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm",
      "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co",
    ]
    func count(_ set: ScalarSet) -> Int { set.ranges.reduce(0) { $0 + $1.count } }
    let sets = try names.map { try #require(ScalarSet.category($0)) }
    #expect(count(ScalarSet(sets.flatMap(\.ranges))) == sets.reduce(0) { $0 + count($1) })
    #expect(ScalarSet.category("Any") == .all)
    let digits = try #require(ScalarSet.category("Nd"))
    #expect(digits.ranges.first == 0x30...0x39)
  }
}

import Testing
import VestaDatabaseBackend
import VestaTesting

struct OrderTests {
  private let numbers: [DatabaseLeaf] = [
    .double(-.greatestFiniteMagnitude), .int(.min), .double(-9.3e18), .int(-(1 << 53) - 1), .int(-(1 << 53)),
    .double(-0.5),
    .double(-0.0), .int(0), .double(0.5), .int(1), .double(1), .int(1 << 53), .double(9_007_199_254_740_992),
    .int((1 << 53) + 1), .int((1 << 53) + 2), .int(.max - 1), .int(.max), .double(9_223_372_036_854_775_808),
    .double(9.3e18),
  ]

  @Test func `whole numbers and doubles have one order, also where doubles are coarser`() {
    for (first, second, third) in numbers.flatMap({ a in numbers.flatMap { b in numbers.map { (a, b, $0) } } }) {
      #expect((first < second ? 1 : 0) + (second < first ? 1 : 0) + (first == second ? 1 : 0) == 1)
      if first < second, second < third { #expect(first < third, "\(first) \(second) \(third)") }
      if first == second, second == third { #expect(first == third, "\(first) \(second) \(third)") }
      if first == second { #expect(first.hashValue == second.hashValue) }
    }
    #expect(DatabaseLeaf.int(1) == .double(1) && DatabaseLeaf.int(0) == .double(-0.0))
    #expect(DatabaseLeaf.double(9_007_199_254_740_992) < .int((1 << 53) + 1))
    #expect(DatabaseLeaf.int(.max) < .double(9_223_372_036_854_775_808))
  }

  @Test func `of many paths the two that overlap are found`() {
    let apart: [DatabasePath] = ["a", "a b", "a!", "b/c", "b/d/e", "1", "01", "b/c.d", "é"]
    #expect(DatabasePath.overlap(in: apart) == nil)
    #expect(DatabasePath.overlap(in: []) == nil && DatabasePath.overlap(in: [.root]) == nil)
    for lower in ["a/x", "b/c/1", "b/d/e", "1/2/3"] as [DatabasePath] {
      let found = DatabasePath.overlap(in: [lower] + apart)
      #expect(found?.lower == lower && found?.upper.contains(lower) == true)
    }
    #expect(DatabasePath.overlap(in: ["x/y", .root])?.upper == .root)
  }
}

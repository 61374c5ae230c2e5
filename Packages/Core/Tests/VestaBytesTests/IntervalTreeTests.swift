import Testing
import VestaBytes
import VestaTesting

struct IntervalTreeTests {
  private struct Entry: Hashable {
    let member: Int
    let interval: ClosedInterval<Int>
  }

  /// Bounds on few points, so that many intervals begin or end alike, and empty intervals too.
  private static func interval(_ random: inout SplitMix) -> ClosedInterval<Int> {
    func bound() -> Int? { random.oneIn(6) ? nil : random.below(20) }
    return ClosedInterval(lower: bound(), upper: bound())
  }

  @Test(arguments: 0..<60)
  func `a tree finds what a look at every interval finds`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var tree = IntervalTree<Int, Int>()
    var model: Set<Entry> = []
    for step in 0..<300 {
      let entry = Entry(member: random.below(12), interval: Self.interval(&random))
      switch random.below(5) {
      case 0, 1: if let known = model.randomElement(using: &random) { remove(known) }
      case 2: remove(entry)
      default:
        tree.insert(entry.member, entry.interval)
        model.insert(entry)
      }
      let point = random.below(24) - 2
      var found: [Int] = []
      let seen = tree.visit(point) { found.append($0) }
      let expected = model.filter { Self.contains($0.interval, point) }.map(\.member)
      #expect(found.sorted() == expected.sorted(), "seed \(seed) step \(step)")
      #expect(seen <= model.count)
      #expect(tree.isEmpty == model.isEmpty)
    }
    for entry in model { tree.remove(entry.member, entry.interval) }
    #expect(tree.isEmpty)

    func remove(_ entry: Entry) {
      tree.remove(entry.member, entry.interval)
      model.remove(entry)
    }
  }

  /// Written apart from `ClosedInterval.contains`, which it proves as well.
  private static func contains(_ interval: ClosedInterval<Int>, _ point: Int) -> Bool {
    let isContained =
      (interval.lower ?? .min)...max(interval.lower ?? .min, interval.upper ?? .max) ~= point
      && point <= interval.upper ?? .max
    #expect(interval.contains(point) == isContained)
    return isContained
  }

  @Test func `members are in the order of their lower bounds`() {
    var tree = IntervalTree<Int, String>()
    tree.insert("b", ClosedInterval(lower: 3, upper: 9))
    tree.insert("c", ClosedInterval(lower: 1, upper: nil))
    tree.insert("a", ClosedInterval(lower: nil, upper: 5))
    tree.insert("d", ClosedInterval(lower: 5, upper: 5))
    var found: [String] = []
    tree.visit(5) { found.append($0) }
    #expect(found == ["a", "c", "b", "d"])
  }

  @Test func `intervals of one member that begin alike are two`() {
    var tree = IntervalTree<Int, Int>()
    tree.insert(1, ClosedInterval(lower: 0, upper: 4))
    tree.insert(1, ClosedInterval(lower: 0, upper: nil))
    tree.remove(1, ClosedInterval(lower: 0, upper: 4))
    var count = 0
    tree.visit(3) { _ in count += 1 }
    #expect(count == 1)
  }

  /// Ordered insertion is the worst case of a tree that does not balance itself.
  @Test(arguments: [1, -1])
  func `few of ten thousand intervals are looked at for the few that contain a point`(direction: Int) {
    var tree = IntervalTree<Int, Int>()
    for number in 0..<10_000 {
      let start = direction * number
      tree.insert(number, ClosedInterval(lower: start, upper: start + 3))
    }
    for start in stride(from: 10, to: 9_990, by: 499) {
      var found: Set<Int> = []
      let seen = tree.visit(direction * start) { found.insert($0) }
      let expected = direction == 1 ? start - 3...start : start...start + 3
      #expect(found == Set(expected))
      #expect(seen < 200, "\(seen)")
    }
  }

  /// A subject that many follow: as many members as there are share one interval.
  @Test func `members that share an interval are all found, and removed one by one`() {
    var tree = IntervalTree<Int, Int>()
    let shared = ClosedInterval<Int>(lower: 1, upper: 2)
    for member in 0..<1_000 { tree.insert(member, shared) }
    for member in stride(from: 0, to: 1_000, by: 2) { tree.remove(member, shared) }
    var found: [Int] = []
    tree.visit(2) { found.append($0) }
    #expect(found == Array(stride(from: 1, to: 1_000, by: 2)))
    #expect(tree.visit(3) { _ in } == 0)
  }

  /// A reference counts whether removed bounds are kept.
  @Test func `a removed interval is not kept in memory`() {
    final class Owner: Comparable, Sendable {
      let value: Int
      init(_ value: Int) { self.value = value }
      static func < (left: Owner, right: Owner) -> Bool { left.value < right.value }
      static func == (left: Owner, right: Owner) -> Bool { left.value == right.value }
    }
    var tree = IntervalTree<Owner, Int>()
    tree.insert(0, ClosedInterval(lower: Owner(0), upper: Owner(1)))
    var bound: Owner? = Owner(5)
    weak let kept = bound
    tree.insert(1, ClosedInterval(lower: bound, upper: bound))
    tree.remove(1, ClosedInterval(lower: bound, upper: bound))
    bound = nil
    #expect(kept == nil)
    #expect(!tree.isEmpty)
  }
}

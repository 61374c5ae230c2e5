import Testing
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaTesting

/// The state after a write, compared with that of a tree to which it is applied.
@Suite struct StateAfterTests {
  private static let names: [DatabaseKey] = ["a", "b", "c", "10", "2"]

  private func node(_ random: inout SplitMix, _ depth: Int) -> DatabaseNode {
    let priority: DatabaseLeaf? = random.oneIn(4) ? .int(Int64(random.below(3))) : nil
    if depth == 0 || random.oneIn(3) {
      return random.oneIn(4) ? .empty : DatabaseNode(.int(Int64(random.below(5))), priority: priority)
    }
    let children = StateAfterTests.names.filter { _ in random.oneIn(2) }.map { ($0, node(&random, depth - 1)) }
    return DatabaseNode(children: children, priority: priority)
  }

  private func path(_ random: inout SplitMix) -> DatabasePath {
    DatabasePath((0..<random.below(4)).map { _ in random.pick(StateAfterTests.names) })
  }

  @Test(arguments: 0..<8) func `it is the state of the tree with the values set`(seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    for _ in 0..<300 {
      let old = node(&random, 3)
      var values: [DatabasePathValue] = []
      for _ in 0..<(1 + random.below(3)) {
        let path = path(&random)
        guard DatabasePath.overlap(in: values.map(\.path) + [path]) == nil else { continue }
        values.append(DatabasePathValue(path, random.oneIn(3) ? .empty : node(&random, 2)))
      }
      // A node whose last child is removed before another one is added would lose its priority in between.
      values.sort { !$0.node.isEmpty && $1.node.isEmpty }
      let new = values.reduce(old) { $0.setting($1.path, to: $1.node) }
      let state = DatabaseStateAfter(DatabaseNodeState(old), values)
      for _ in 0..<20 {
        let place = path(&random)
        let told = "seed \(seed): \(old) with \(values) at \(place)"
        #expect(try await state.glance(at: place) == DatabaseGlance(new[place]), "\(told)")
        var keys: [DatabaseKey] = []
        let limit = 1 + random.below(3)
        while true {
          let next = try await state.childKeys(of: place, after: keys.last, limit: limit)
          keys += next
          if next.count < limit { break }
        }
        var expected: [DatabaseKey] = []
        new[place].forEachChild { key, _ in expected.append(key) }
        #expect(keys == expected, "\(told)")
      }
    }
  }

  @Test func `a priority that is written alone is seen`() async throws {
    let old = DatabaseNode(children: [("a", DatabaseNode(.int(1)))])
    let state = DatabaseStateAfter(
      DatabaseNodeState(old), [DatabasePathValue("a/.priority", DatabaseNode(.int(5)))])
    #expect(try await state.glance(at: "a") == .leaf(.int(1), priority: .int(5)))
    #expect(try await state.glance(at: .root) == .parent(priority: nil))
  }
}

import Testing
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaTesting

/// The cost of many listeners at one place: each is added and removed in constant time.
///
/// Where each goes through all others, the tests take minutes.
@Suite(.timeLimit(.minutes(20)))
struct ManyListenersTests {
  private let count = 12_000

  private func registration(_ id: Int) -> SyncRegistration { SyncRegistration(id: id, kinds: [.value]) }

  /// Numbers in an order in which neither the first nor the last one of those that are left is next.
  private func shuffled(seed: UInt64) -> [Int] {
    var random = SplitMix(seed: seed)
    var numbers = Array(0..<count)
    for index in numbers.indices.reversed() { numbers.swapAt(index, random.below(index + 1)) }
    return numbers
  }

  @Test func `many different queries of one place are added and removed`() {
    var tree = SyncTree()
    func spec(_ number: Int) -> DatabaseQuerySpec {
      DatabaseQuerySpec(index: .key, limit: .init(1 + number, number % 2 == 0 ? .first : .last))
    }
    for number in 0..<count {
      #expect(tree.add(registration(number), at: "list", spec(number)).isEmpty)
    }
    #expect(tree.takeListenActions().count == count)
    for number in shuffled(seed: 1) {
      // Told apart from the other queries, and found.
      #expect(tree.isListened("list", spec(number)))
      _ = tree.remove(number, at: "list", spec(number))
    }
    #expect(tree.takeListenActions().count == count)
    #expect(tree.listens.isEmpty)
  }

  @Test func `many listeners of one query are added and removed`() {
    var tree = SyncTree()
    for number in 0..<count { _ = tree.add(registration(number), at: "list", .all) }
    #expect(tree.takeListenActions().count == 1)
    #expect(tree.serverOverwrite("list", DatabaseNode(.int(1))).count == count)
    for number in shuffled(seed: 2) {
      #expect(tree.isListened("list", .all))
      _ = tree.remove(number, at: "list", .all)
    }
    #expect(tree.takeListenActions().count == 1)
    #expect(tree.listens.isEmpty)
  }
}

import Testing
import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaTesting

@testable import VestaDatabaseModel

struct TreeBuilderTests {
  private func rows(_ node: DatabaseNode, below prefix: [UInt8]) -> [(key: [UInt8], value: [UInt8])] {
    var rows: [(key: [UInt8], value: [UInt8])] = []
    TreeRows.forEach(of: node, prefix: prefix) { rows.append(($0, $1)) }
    return rows
  }

  @Test(arguments: 0..<200)
  func `the rows of a node make the node again, wherever it is`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let node = random.node(depth: 4)
    let prefix = random.bytes(random.below(9))
    let rows = rows(node, below: prefix)
    for (left, right) in zip(rows, rows.dropFirst()) { #expect(left.key.lexicographicallyPrecedes(right.key)) }
    var tree = TreeBuilder(below: prefix.count)
    for row in rows { try tree.add(key: row.key, value: row.value) }
    let built = tree.finish()
    #expect(built == node && NodeCoding.encode(built) == NodeCoding.encode(node))
  }

  @Test func `keys that begin alike stay apart`() throws {
    let keys: [DatabaseKey] = ["-0", "0", "00", "1", "01", "10", "a", "a b", "ab", "a\u{10FFFF}", "a\u{E000}", "é"]
    var node = DatabaseNode.empty
    for (number, key) in keys.enumerated() {
      for (below, other) in keys.enumerated() {
        node = node.setting(DatabasePath([key, other]), to: DatabaseNode(.int(Int64(number * 100 + below))))
      }
      node = node.setting(DatabasePath([key, .priority]), to: DatabaseNode(.int(Int64(number))))
    }
    var tree = TreeBuilder(below: 2)
    for row in rows(node, below: [1, 0]) { try tree.add(key: row.key, value: row.value) }
    #expect(tree.finish() == node)
  }

  @Test func `no rows make the empty node, and one of the node itself a leaf`() throws {
    var empty = TreeBuilder(below: 3)
    #expect(empty.finish() == .empty)
    let leaf = DatabaseNode(.string("x"), priority: .int(1))
    var tree = TreeBuilder(below: 1)
    for row in rows(leaf, below: [7]) { try tree.add(key: row.key, value: row.value) }
    #expect(tree.finish() == leaf)
  }

  @Test(arguments: 0..<50)
  func `damaged rows are errors or other nodes, never a crash`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var tree = TreeBuilder(below: 1)
    do {
      for var row in rows(random.node(depth: 4), below: [1]) {
        if random.oneIn(3), !row.key.isEmpty { row.key[random.below(row.key.count)] = UInt8(random.below(256)) }
        if random.oneIn(5) { row.key.removeLast(random.below(row.key.count)) }
        if random.oneIn(5), !row.value.isEmpty { row.value[random.below(row.value.count)] = UInt8(random.below(256)) }
        try tree.add(key: row.key, value: row.value)
      }
      _ = tree.finish()
    } catch {
      #expect(error is BytesError)
    }
  }
}

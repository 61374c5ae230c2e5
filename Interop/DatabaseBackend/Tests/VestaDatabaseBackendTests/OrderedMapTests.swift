import Testing
import VestaTesting

@testable import VestaDatabaseBackend

struct OrderedMapTests {
  @Test(arguments: 0..<20)
  func `a persistent map behaves as a sorted dictionary, and old versions stay`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var map = OrderedMap<Int, Int>()
    var model: [Int: Int] = [:]
    var versions: [(OrderedMap<Int, Int>, [Int: Int])] = []
    for step in 0..<400 {
      let key = Int.random(in: 0..<120, using: &random)
      if Bool.random(using: &random) {
        map = map.setting(key, to: step)
        model[key] = step
      } else {
        map = map.removing(key)
        model[key] = nil
      }
      if step % 50 == 0 { versions.append((map, model)) }
      #expect(map.last(before: key)?.key == model.keys.filter { $0 < key }.max())
      #expect(map.first(after: key)?.key == model.keys.filter { $0 > key }.min())
    }
    versions.append((map, model))
    for (map, model) in versions {
      var keys: [Int] = []
      map.visit { key, value in
        #expect(model[key] == value)
        keys.append(key)
        return true
      }
      #expect(keys == model.keys.sorted())
      #expect(map.first?.key == keys.first && map.last?.key == keys.last && map.count == keys.count)
    }
  }

  @Test func `a map stays shallow when keys are inserted in order`() {
    var map = OrderedMap<Int, Int>()
    for key in 0..<4096 { map = map.setting(key, to: key) }
    func depth(_ node: OrderedMapNode<Int, Int>?) -> Int {
      node.map { 1 + max(depth($0.left), depth($0.right)) } ?? 0
    }
    #expect(depth(map.root) <= 30)
  }
}

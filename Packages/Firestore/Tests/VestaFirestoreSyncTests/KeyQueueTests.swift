import Testing
import VestaFirestoreModel
import VestaTesting

@testable import VestaFirestoreSync

@Suite struct KeyQueueTests {
  @Test(arguments: 1...4) func `keys leave a queue in the order of their arrival, each once`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var queue = KeyQueue()
    var model: [DocumentKey] = []
    for _ in 0..<2_000 {
      let key = path("rooms/r\(random.below(20))")
      switch random.below(5) {
      case 0:
        #expect(queue.popFirst() == model.first)
        if !model.isEmpty { model.removeFirst() }
      case 1:
        queue.remove(key)
        model.removeAll { $0 == key }
      default:
        queue.append(key)
        if !model.contains(key) { model.append(key) }
      }
      #expect(queue.keys == model && queue.isEmpty == model.isEmpty, "seed \(seed)")
    }
  }
}

import Testing
import VestaTesting

@testable import VestaConcurrency

@Suite struct FifoTests {
  @Test(arguments: UInt64(0)..<20)
  func `elements come out in the order in which they went in`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var queue = Fifo<Int>()
    var model: [Int] = []
    for number in 0..<3_000 {
      // Now and then it grows to some hundreds, and runs empty again.
      if random.next() % 5 < (number / 500 % 2 == 0 ? 3 : 2) {
        queue.append(number)
        model.append(number)
      } else {
        #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
      }
      #expect(queue.count == model.count && queue.isEmpty == model.isEmpty && queue.first == model.first)
    }
    #expect(queue.elements == model)
    #expect(queue.takeAll() == model)
    #expect(queue.isEmpty && queue.count == 0 && queue.popFirst() == nil)
  }

  @Test func `a queue that never runs empty forgets what was taken`() {
    var queue = Fifo<Int>()
    for number in 0..<300 { queue.append(number) }
    var longest = 0
    for number in 0..<20_000 {
      #expect(queue.popFirst() == number)
      queue.append(number + 300)
      longest = max(longest, queue.slots.count)
    }
    #expect(queue.count == 300)
    #expect(longest <= 602)
  }

  @Test func `what was taken is released at once`() {
    final class Thing: Sendable {}
    var queue = Fifo<Thing>()
    weak var first: Thing?
    do {
      let thing = Thing()
      first = thing
      queue.append(thing)
      for _ in 0..<10 { queue.append(Thing()) }
    }
    #expect(first != nil)
    _ = queue.popFirst()
    #expect(first == nil)
    #expect(queue.count == 10)
  }
}

import Testing

@testable import VestaConcurrency

/// What a queue keeps of what was taken.
@Suite struct FifoStorageTests {
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

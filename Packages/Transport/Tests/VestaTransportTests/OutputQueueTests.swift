import Testing
import VestaTesting

@testable import VestaTransport

@Suite(.timeLimit(.minutes(10))) struct OutputQueueTests {
  @Test(arguments: UInt64(1)...20)
  func `bytes leave in the order in which they were added, however many arrays are shared`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var queue = OutputQueue(sharedBytes: random.pick([0, 1, 10, 100]))
    var (added, left): ([UInt8], [UInt8]) = ([], [])
    for _ in 0..<400 {
      let bytes = random.bytes(random.below(150))
      added += bytes
      switch random.below(3) {
      case 0: queue.tail += bytes
      default: queue.append(bytes)
      }
      #expect(queue.count == added.count - left.count && queue.isEmpty == (added.count == left.count))
      guard random.oneIn(3) else { continue }
      // The socket takes some, in parts, and then blocks, or takes all.
      var room = random.oneIn(3) ? Int.max : random.below(300)
      let before = left.count
      let outcome = queue.write { bytes in
        guard room > 0 else { return .wouldBlock }
        let count = min(room, bytes.count, 1 + random.below(120))
        left += bytes[..<count]
        room -= count
        return .moved(count)
      }
      if left.count == added.count { #expect(outcome == .moved(left.count - before) || outcome == .wouldBlock) }
      #expect(added.starts(with: left) && queue.count == added.count - left.count)
    }
  }

  @Test func `an array from the limit on is not copied`() {
    for (count, isShared) in [(99, false), (100, true), (5_000, true)] {
      var queue = OutputQueue(sharedBytes: 100)
      let bytes = [UInt8](repeating: 7, count: count)
      let start = bytes.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
      queue.tail += [1]
      queue.append(bytes)
      var places: [UInt] = []
      _ = queue.write { bytes in
        places.append(UInt(bitPattern: bytes.baseAddress))
        return .moved(bytes.count)
      }
      #expect(places.contains(start) == isShared, "\(count)")
    }
  }
}

import Testing
import VestaTesting

@testable import VestaMessagingService

/// The deliveries of one connection, event by event.
@Suite struct DeliveryWindowTests {
  @Test func `the worked example`() {
    var window = DeliveryWindow(size: 2, longestTrail: 2)
    window.announce(8, isBroadcast: true)
    #expect(window.underWay.all == [8] && window.underWay.broadcasts == [8])
    #expect(window.deliver(8, isBroadcast: true, isLive: true) == .delivered(droppedBefore: 0))
    #expect(window.deliver(8, isBroadcast: true, isLive: true) == .superfluous)
    #expect(window.deliver(9, isBroadcast: true, isLive: true) == .delivered(droppedBefore: 0))
    #expect(window.deliver(10, isBroadcast: true, isLive: true) == .windowIsFull)
    #expect(window.acknowledged([8]) == (true, false))
    #expect(window.acknowledged([9]) == (false, true))
    #expect(window.underWay.all.isEmpty && window.free == 2)
  }

  @Test func `the next delivery tells of dropped messages, once`() {
    var window = DeliveryWindow(size: 1, longestTrail: 9)
    window.noteDropped(2)
    window.noteDropped(3)
    #expect(window.deliver(1, isBroadcast: false, isLive: true) == .delivered(droppedBefore: 5))
    _ = window.acknowledged([1])
    #expect(window.deliver(2, isBroadcast: false, isLive: true) == .delivered(droppedBefore: 0))
  }

  @Test func `a full window keeps the number of dropped messages for later`() {
    var window = DeliveryWindow(size: 1, longestTrail: 9)
    _ = window.deliver(1, isBroadcast: false, isLive: true)
    window.noteDropped(2)
    #expect(window.deliver(2, isBroadcast: false, isLive: true) == .windowIsFull)
    _ = window.acknowledged([1])
    #expect(window.deliver(2, isBroadcast: false, isLive: true) == .delivered(droppedBefore: 2))
  }

  @Test func `a connection that has ended takes nothing`() {
    var window = DeliveryWindow(size: 1, longestTrail: 9)
    window.announce(1, isBroadcast: true)
    #expect(window.deliver(1, isBroadcast: true, isLive: false) == .superfluous)
    #expect(window.underWay.all.isEmpty)
  }

  @Test func `a withdrawn message is not under way, unless it was delivered before`() {
    var window = DeliveryWindow(size: 2, longestTrail: 9)
    _ = window.deliver(1, isBroadcast: false, isLive: true)
    window.announce(1, isBroadcast: false)
    window.announce(2, isBroadcast: false)
    window.withdraw(1)
    window.withdraw(2)
    #expect(window.underWay.all == [1])
  }

  @Test func `acknowledgements of direct messages do not move the cursor`() {
    var window = DeliveryWindow(size: 9, longestTrail: 1)
    _ = window.deliver(1, isBroadcast: false, isLive: true)
    #expect(window.acknowledged([1, 1, 7]) == (false, false))
  }

  @Test func `one load runs at a time, and is repeated when wanted in between`() {
    var window = DeliveryWindow(size: 1, longestTrail: 1)
    #expect(window.beginReading() == true)
    #expect(window.beginReading() == false)
    #expect(window.endReading() == false)
    #expect(window.endReading() == true)
    #expect(window.beginReading() == true)
  }

  @Test func `the position does not move back`() {
    var window = DeliveryWindow(size: 1, longestTrail: 1)
    window.advance(to: 5)
    window.advance(to: 3)
    #expect(window.position == 5)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `in any order of events no more are under way than fit, and each one once`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var window = DeliveryWindow(size: 4, longestTrail: 3)
    var (inFlight, trail): ([Int64: Bool], Int) = ([:], 0)
    for _ in 0..<500 {
      let (number, isBroadcast) = (Int64.random(in: 0..<12, using: &random), Bool.random(using: &random))
      if Bool.random(using: &random) {
        let outcome = window.deliver(number, isBroadcast: isBroadcast, isLive: true)
        let expected: DeliveryWindow.Outcome =
          inFlight[number] != nil ? .superfluous : inFlight.count < 4 ? .delivered(droppedBefore: 0) : .windowIsFull
        #expect(outcome == expected)
        if case .delivered = outcome { inFlight[number] = isBroadcast }
      } else {
        let wasFull = inFlight.count == 4
        let removed = inFlight.removeValue(forKey: number)
        if removed == true { trail += 1 }
        #expect(window.acknowledged([number]) == (wasFull && removed != nil, trail >= 3))
        if trail >= 3 { trail = 0 }
      }
      #expect(window.underWay.all == Set(inFlight.keys))
      #expect(window.underWay.broadcasts == inFlight.filter(\.value).keys.sorted())
      #expect(window.free == 4 - inFlight.count)
    }
  }
}

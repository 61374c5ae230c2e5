import Testing
import VestaTesting

@testable import VestaTransport

@Suite struct HTTP2StreamTableTests {
  @Test(arguments: UInt64(1)...20)
  func `a table of streams is a dictionary, whatever numbers a peer chooses`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var table = HTTP2StreamTable()
    var model: [Int32: HTTP2Stream] = [:]
    // Steps of 2 are usual; the others put many streams at one place.
    let step = random.pick([2, 16, 256, 4_096])
    for index in 0..<2_000 {
      let id = Int32(1 + step * random.below(60))
      switch random.below(3) {
      case 0:
        table[id] = nil
        model[id] = nil
      default:
        let stream = HTTP2Stream(id)
        table[id] = stream
        model[id] = stream
      }
      #expect(table.count == model.count && table.isEmpty == model.isEmpty)
      let other = Int32(1 + step * random.below(60))
      #expect(table[other] === model[other] && table[id] === model[id])
      guard index % 50 == 0 else { continue }
      #expect(Set(table.values.map(\.id)) == Set(model.keys) && table.values.count == model.count)
      for id in 0..<60 as Range<Int32> {
        #expect(table[1 + Int32(step) * id] === model[1 + Int32(step) * id])
      }
    }
  }

  @Test func `the largest and the smallest numbers have a place`() {
    var table = HTTP2StreamTable()
    for id in [1, .max, .max - 2, 0] as [Int32] {
      table[id] = HTTP2Stream(id)
      #expect(table[id]?.id == id)
    }
    #expect(table.count == 4 && table[3] == nil)
  }
}

import Testing
import VestaTesting

@testable import VestaDatabaseModel

struct OrderedTableTests {
  @Test(arguments: 0..<40)
  func `a table keeps the order of adding through any course`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var table = OrderedTable<Int, String>(), model: [(key: Int, value: String)] = []
    for step in 0..<300 {
      let key = random.below(30), index = model.firstIndex { $0.key == key }
      switch random.below(4) {
      case 0,
        1 where index == nil:
        if index == nil {
          table.append("\(step)", for: key)
          model.append((key, "\(step)"))
        }
      case 2:
        #expect(table.remove(key) == index.map { model.remove(at: $0).value }, "seed \(seed)")
      default:
        let length = table.index(of: key).flatMap { place in
          table.update(place) { value in
            value += "+"
            return value.count
          }
        }
        if let index { model[index].value += "+" }
        #expect(length == index.map { model[$0].value.count }, "seed \(seed)")
      }
      #expect(Array(table.values) == model.map(\.value), "seed \(seed) step \(step)")
      #expect(table.count == model.count && table.isEmpty == model.isEmpty)
      #expect(table.indices.count == model.count)
      #expect(table[key] == model.first { $0.key == key }?.value)
    }
  }
}

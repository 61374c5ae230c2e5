import Testing
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

/// The model against a filter over all of its entries.
@Suite struct StoreModelTests {
  @Test(arguments: 1...20) func `the entries of a range are the ones that the range contains`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var model = StoreModel()
    for _ in 0..<300 {
      model.put(random.bytes(random.below(3)), for: StoreModelTests.key(&random))
      let range = StoreModelTests.range(&random)
      let limit = random.oneIn(2) ? random.below(5) : nil
      let expected = model.entries.filter { range.contains($0.key) }
      #expect(model.entries(in: range, order: .ascending, limit: limit) == Array(expected.prefix(limit ?? .max)))
      #expect(
        model.entries(in: range, order: .descending, limit: limit) == Array(expected.reversed().prefix(limit ?? .max)))
      guard random.oneIn(10) else { continue }
      let rest = model.entries.filter { !range.contains($0.key) }
      model.deleteRange(range)
      #expect(model.entries == rest)
    }
  }

  /// A short key of few different bytes, so that bounds and keys meet.
  private static func key(_ random: inout SplitMix) -> [UInt8] {
    (0..<random.below(4)).map { _ in [0, 1, 0x7F, 0xFF][random.below(4)] }
  }

  /// A range; some have no upper bound, and some are empty or have their bounds the wrong way around.
  private static func range(_ random: inout SplitMix) -> KeyRange {
    switch random.below(5) {
    case 0: .all
    case 1: KeyRange(prefix: key(&random))
    case 2: KeyRange(from: key(&random), to: nil)
    default: KeyRange(from: key(&random), to: key(&random))
    }
  }
}

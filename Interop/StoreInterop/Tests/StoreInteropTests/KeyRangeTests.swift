import StoreInterop
import Testing

@Suite struct KeyRangeTests {
  @Test func aPrefixRangeHoldsThePrefixAndEverythingThatBeginsWithIt() {
    let range = KeyRange(prefix: [1, 0xFF])
    #expect(range.contains([1, 0xFF]))
    #expect(range.contains([1, 0xFF, 0xFF, 0xFF]))
    #expect(!range.contains([2]))
    #expect(!range.contains([1, 0xFE, 0xFF]))
  }

  @Test func aPrefixOfHighestBytesHasNoEnd() {
    #expect(KeyRange(prefix: [0xFF, 0xFF]).upper == nil)
    #expect(KeyRange(prefix: []).upper == nil)
  }

  @Test func aRangeWhoseBoundsMeetIsEmpty() {
    #expect(KeyRange(from: [1], to: [1]).isEmpty)
    #expect(KeyRange(from: [2], to: [1]).isEmpty)
    #expect(!KeyRange(from: [1], to: [1, 0]).isEmpty)
  }
}

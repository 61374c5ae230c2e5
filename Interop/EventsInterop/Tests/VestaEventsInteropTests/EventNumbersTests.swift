import Testing

@testable import VestaEventsInterop

@Suite struct EventNumbersTests {
  @Test func `numbers of a commit continue, and are above those of the queues`() {
    var numbers = EventNumbers(limit: 2)
    #expect(numbers.take(2, of: 7, from: 0) == 0)
    #expect(numbers.take(1, of: 8, from: 4) == 4)
    #expect(numbers.take(3, of: 7, from: 1) == 2)
    #expect(numbers.take(1, of: 7, from: 9) == 9)
    #expect(numbers.take(1, of: 7, from: 0) == 10)
  }

  @Test func `the commit that took numbers longest ago is forgotten first`() {
    var numbers = EventNumbers(limit: 2)
    for version in [7, 8] as [Int64] { #expect(numbers.take(1, of: version, from: 0) == 0) }
    #expect(numbers.take(1, of: 7, from: 0) == 1)
    #expect(numbers.take(1, of: 9, from: 0) == 0)
    #expect(numbers.take(1, of: 7, from: 0) == 2)
    #expect(numbers.take(1, of: 8, from: 0) == 0)
  }
}

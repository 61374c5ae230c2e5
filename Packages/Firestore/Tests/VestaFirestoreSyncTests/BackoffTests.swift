import Testing
import VestaFirestoreSync

@Suite struct BackoffTests {
  /// The delays of attempts that fail at once.
  private func delays(_ count: Int, random: Double, of backoff: inout Backoff, from start: Double = 0) -> [Double] {
    var now = start
    return (0..<count).map { _ in
      let delay = backoff.next(now: now, random: random)
      now += delay
      return delay
    }
  }

  @Test func `the first attempt is immediate, and each later delay is half as long again up to a minute`() {
    var backoff = Backoff()
    let found = delays(20, random: 0.5, of: &backoff)
    #expect(Array(found.prefix(5)) == [0, 1, 1.5, 2.25, 3.375])
    #expect(found.last == 60)
    #expect(zip(found, found.dropFirst()).allSatisfy { $0 <= $1 })
  }

  @Test(arguments: [(0.0, 0.5), (0.25, 0.75), (1.0, 1.5)])
  func `the jitter is half of the delay either way`(random: Double, share: Double) {
    var backoff = Backoff()
    #expect(delays(3, random: random, of: &backoff) == [0, share, 1.5 * share])
  }

  @Test func `the time since the last attempt counts as waiting`() {
    var backoff = Backoff()
    #expect(delays(2, random: 0.5, of: &backoff) == [0, 1])
    // The last attempt was at 1 s, and the next one is to be 1.5 s later.
    #expect(backoff.next(now: 1.5, random: 0.5) == 1)
    // That was at 2.5 s; 2.25 s later is over.
    #expect(backoff.next(now: 100, random: 0.5) == 0)
    #expect(backoff.next(now: 100, random: 0.5) == 3.375)
  }

  @Test func `a clock that jumps back makes no delay longer`() {
    var backoff = Backoff()
    _ = delays(2, random: 0.5, of: &backoff, from: 1_000)
    #expect(backoff.next(now: 0, random: 0.5) == 1.5)
  }

  @Test func `after a reset the next attempt is immediate, and at the maximum it waits for a minute`() {
    var backoff = Backoff()
    _ = delays(6, random: 0.5, of: &backoff)
    backoff.reset()
    #expect(delays(2, random: 0.5, of: &backoff, from: 1_000) == [0, 1])
    backoff.resetToMaximum()
    #expect(delays(2, random: 0.5, of: &backoff, from: 2_000).last == 60)
  }
}

import Testing
import VestaStoreInterop
import VestaTesting

@Suite struct VersionClockTests {
  private let start: Int64 = 1_800_000_000_000_000
  private let second: Int64 = 1_000_000

  private func time(_ seconds: Int64, ahead: Int64 = 0) -> StoreTime {
    StoreTime(wall: start + (seconds + ahead) * second, steady: seconds * second)
  }

  private func expect(_ found: Int64, _ expected: Int64, at place: SourceLocation = #_sourceLocation) {
    #expect(found == expected, sourceLocation: place)
  }

  private func next(_ clock: inout VersionClock, _ time: StoreTime) -> Int64 { clock.next(at: time).microseconds }

  @Test func `a version is the time of the wall clock, or one above the last`() {
    var clock = VersionClock(floor: .zero)
    expect(next(&clock, time(0)), start)
    expect(next(&clock, time(0)), start + 1)
    expect(next(&clock, time(1)), start + second)
  }

  @Test func `versions ahead of the clock advance at half speed until the clock is there`() {
    var clock = VersionClock(floor: StoreVersion(microseconds: start + 10 * second))
    expect(next(&clock, time(0)), start + 10 * second + 1)
    expect(next(&clock, time(4)), start + 12 * second + 1)
    expect(next(&clock, time(20)), start + 20 * second)
    expect(next(&clock, time(21)), start + 21 * second)
  }

  @Test func `a step of an hour is followed at once, a longer one after five minutes and by and by`() {
    var clock = VersionClock(floor: .zero)
    _ = clock.next(at: time(0))
    expect(next(&clock, time(1, ahead: 3_600)), start + 3_601 * second)
    var other = VersionClock(floor: .zero)
    _ = other.next(at: time(0))
    expect(next(&other, time(1, ahead: 3_601)), start + second)
    expect(next(&other, time(301, ahead: 3_601)), start + 301 * second)
    expect(next(&other, time(302, ahead: 3_601)), start + 305 * second)
    expect(next(&other, time(303, ahead: 3_601)), start + 3_904 * second)
  }

  @Test func `a clock that is days ahead is pursued at four times the speed of time`() {
    var clock = VersionClock(floor: .zero)
    let ahead: Int64 = 100_000
    _ = clock.next(at: time(0))
    _ = clock.next(at: time(1, ahead: ahead))
    expect(next(&clock, time(301, ahead: ahead)), start + 301 * second)
    expect(next(&clock, time(302, ahead: ahead)), start + 305 * second)
    expect(next(&clock, time(1_301, ahead: ahead)), start + 4_301 * second)
    // A reading in between changes nothing, and the last hour is followed at once.
    expect(next(&clock, time(10_301, ahead: ahead)), start + 40_301 * second)
    expect(next(&clock, time(40_000, ahead: ahead)), start + 140_000 * second)
  }

  @Test func `small steps ahead do not add up to more than an hour in an hour`() {
    var clock = VersionClock(floor: .zero)
    _ = clock.next(at: time(0))
    expect(next(&clock, time(1, ahead: 2_000)), start + 2_001 * second)
    expect(next(&clock, time(2, ahead: 3_600)), start + 3_602 * second)
    // The hour is used up, but for two seconds that have passed.
    expect(next(&clock, time(3, ahead: 3_602)), start + 3_605 * second)
    expect(next(&clock, time(4, ahead: 5_000)), start + 3_606 * second)
    expect(next(&clock, time(10, ahead: 3_606)), start + 3_616 * second)
  }

  @Test func `a clock that was set back by a year and returns is believed at once`() {
    var clock = VersionClock(floor: .zero)
    _ = clock.next(at: time(0))
    expect(next(&clock, time(10, ahead: -31_536_000)), start + 5 * second)
    expect(next(&clock, time(30)), start + 30 * second)
    // The time by which it was set back is used up.
    expect(next(&clock, time(31, ahead: 31_536_000)), start + 31 * second)
  }

  @Test func `a clock that was not set when the store was opened is believed once it is set`() {
    for first in [Int64(0), start - 40 * 86_400 * second] {
      var clock = VersionClock(floor: StoreVersion(microseconds: start))
      expect(clock.next(at: StoreTime(wall: first, steady: 0)).microseconds, start + 1)
      expect(next(&clock, time(20, ahead: 900_000)), start + 900_020 * second)
      // It is set now: the next jump is not.
      expect(next(&clock, time(21, ahead: 1_800_000)), start + 900_021 * second)
    }
    var clock = VersionClock(floor: .zero)
    expect(clock.next(at: StoreTime(wall: 60 * second, steady: 0)).microseconds, 60 * second)
    expect(next(&clock, time(20)), start + 20 * second)
  }

  @Test func `floors that are raised do not push each other away`() {
    var clock = VersionClock(floor: .zero)
    for lead in 1...60 {
      let version = StoreVersion(microseconds: start + Int64(lead) * second)
      #expect(clock.raise(to: version, at: time(0)) == version)
      _ = clock.next(at: time(0))
    }
    let next = clock.next(at: time(0))
    #expect(clock.raise(to: StoreVersion(microseconds: next.microseconds + second), at: time(0)) == nil)
  }

  @Test func `a clock that returns is trusted at once, and a later jump has its own five minutes`() {
    var clock = VersionClock(floor: .zero)
    _ = clock.next(at: time(0))
    _ = clock.next(at: time(1, ahead: 90_000))
    expect(next(&clock, time(2)), start + 2 * second)
    expect(next(&clock, time(302, ahead: 90_000)), start + 302 * second)
    expect(next(&clock, time(303, ahead: 90_000)), start + 303 * second)
  }

  @Test func `a floor is raised up to a minute ahead and no further`() {
    var clock = VersionClock(floor: .zero)
    let ahead = StoreVersion(microseconds: start + 60 * second)
    let answers = [ahead, StoreVersion(microseconds: start + 121 * second), .zero].map { version in
      clock.raise(to: version, at: time(0))
    }
    #expect(answers == [ahead, nil, .zero])
    let next = clock.next(at: time(0))
    #expect(next > ahead)
  }

  @Test func `the present is above everything before it and below everything after it`() {
    var clock = VersionClock(floor: .zero)
    let first = clock.next(at: time(0))
    let present = clock.raise(to: nil, at: time(0)) ?? .zero
    #expect(present > first)
    let next = clock.next(at: time(0))
    #expect(next > present)
  }

  @Test func `clocks at the ends of their range do not overflow`() {
    for wall in [Int64.min, -1, 0, .max] {
      var clock = VersionClock(floor: StoreVersion(rawValue: .max))
      _ = clock.next(at: StoreTime(wall: wall, steady: .min))
      _ = clock.next(at: StoreTime(wall: wall, steady: .max))
      _ = clock.raise(to: StoreVersion(rawValue: .max), at: StoreTime(wall: .max, steady: .max))
    }
  }

  @Test func `random clock jumps never stop the growth, and an honest hour heals them`() {
    var random = SplitMix(seed: 77)
    for _ in 0..<200 {
      var (clock, wall, steady) = (VersionClock(floor: .zero), start, Int64(0))
      // The first reading is right: there is nothing to compare it with.
      var last = clock.next(at: time(0))
      var offset: Int64 = 0
      for _ in 0..<40 {
        steady += Int64.random(in: 0...20 * second, using: &random)
        if Bool.random(using: &random) { offset = Int64.random(in: -90_000...90_000, using: &random) * second }
        wall = start + steady + offset
        let version = clock.next(at: StoreTime(wall: wall, steady: steady))
        #expect(version > last)
        last = version
      }
      let ahead = last.microseconds - (start + steady)
      // Back to the true time: three times what the versions are ahead is enough.
      for _ in 0..<100 {
        steady += max(ahead, 0) / 25 + 60 * second
        last = clock.next(at: StoreTime(wall: start + steady, steady: steady))
      }
      #expect(last.microseconds == start + steady)
    }
  }

  /// The clock is wrong for up to two days, by up to a year, and jumps in between.
  @Test(arguments: [UInt64(1), 2, 3, 4, 5, 6, 7, 8])
  func `whatever the clock did, versions are on time again after twice the length of the fault`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    for _ in 0..<50 {
      var clock = VersionClock(floor: .zero)
      var (steady, offset, last) = (Int64(0), Int64(0), clock.next(at: time(0)).microseconds)
      let length = Int64.random(in: 1...172_800, using: &random) * second
      while steady < length {
        steady += Int64.random(in: 1...length / 8 + 1, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: offset = Int64.random(in: -31_536_000...31_536_000, using: &random) * second
        case 1: offset += Int64.random(in: 0...3_600, using: &random) * second
        default: break
        }
        let version = clock.next(at: StoreTime(wall: start + steady + offset, steady: steady)).microseconds
        #expect(version > last)
        last = version
        // An hour at once, another one for each hour, and three times the time that has passed.
        #expect(version - start - steady <= VersionClock.largestStep + 4 * steady, "seed \(seed)")
      }
      // The clock is right from here on.
      let ahead = max(last - start - steady, 0)
      #expect(ahead <= VersionClock.largestStep + 4 * steady)
      for _ in 0..<64 {
        steady += ahead / 32 + second
        last = next(&clock, StoreTime(wall: start + steady, steady: steady))
      }
      expect(last, start + steady)
    }
  }
}

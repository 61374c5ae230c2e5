import VestaStoreInterop
import VestaTesting
import VestaStoreInteropContracts
import Testing

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

  @Test func `a step of an hour is followed at once, a longer one after five minutes`() {
    var clock = VersionClock(floor: .zero)
    _ = clock.next(at: time(0))
    expect(next(&clock, time(1, ahead: 3_600)), start + 3_601 * second)
    var other = VersionClock(floor: .zero)
    _ = other.next(at: time(0))
    expect(next(&other, time(1, ahead: 3_601)), start + second)
    expect(next(&other, time(300, ahead: 3_601)), start + 300 * second)
    expect(next(&other, time(301, ahead: 3_601)), start + 3_902 * second)
  }

  @Test func `a clock that returns is believed at once, and a later jump stands its own five minutes`() {
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
      var last = StoreVersion.zero
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
}

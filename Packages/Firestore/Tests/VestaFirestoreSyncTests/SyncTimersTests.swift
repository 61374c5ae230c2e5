import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaTesting

@testable import VestaFirestoreSync

@Suite struct SyncTimersTests {
  /// A clock that is set by hand, and counts what it is asked for.
  private final class HandClock: SyncClock {
    private struct State {
      var time = 0.0
      var calls: [Int: (time: Double, action: @Sendable () -> Void)] = [:]
      var count = 0
    }

    private let state = Locked(State())

    var now: Timestamp { Timestamp(seconds: 0) }
    var monotonicSeconds: Double { state.withLock { $0.time } }
    /// How many calls were asked for.
    var count: Int { state.withLock { $0.count } }
    /// How many calls have not come and were not cancelled.
    var waiting: Int { state.withLock { $0.calls.count } }

    func schedule(seconds: Double, _ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
      let id = state.withLock { state in
        state.count += 1
        state.calls[state.count] = (state.time + seconds, action)
        return state.count
      }
      return { [weak self] in _ = self?.state.withLock { $0.calls.removeValue(forKey: id) } }
    }

    /// Lets time pass, call by call.
    ///
    /// - Parameter drift: By how much the calls come before their time.
    func advance(to time: Double, drift: Double = 0) {
      while let (id, call) = state.withLock({ $0.calls.min { $0.value.time < $1.value.time } }), call.time <= time {
        state.withLock { state in
          state.time = max(state.time, call.time - drift)
          state.calls[id] = nil
        }
        call.action()
      }
      state.withLock { $0.time = max($0.time, time) }
    }
  }

  private let clock = HandClock()
  private let fired = Log<Double>()

  private func start(_ timers: SyncTimers, _ seconds: Double, _ name: TimerName = .watchIdle) {
    timers.start(name, seconds: seconds) { [clock, fired] in fired.add(clock.monotonicSeconds) }
  }

  @Test func `a timer fires once, at its time`() {
    let timers = SyncTimers(clock)
    start(timers, 10)
    clock.advance(to: 9)
    #expect(fired.entries.isEmpty)
    clock.advance(to: 100)
    #expect(fired.entries == [10])
  }

  @Test func `a cancelled timer does not fire, and costs the clock nothing`() {
    let timers = SyncTimers(clock)
    for _ in 0..<100 {
      start(timers, 60)
      timers.cancel(.watchIdle)
    }
    #expect(clock.count == 1)
    clock.advance(to: 1_000)
    #expect(fired.entries.isEmpty && clock.waiting == 0)
    start(timers, 5)
    clock.advance(to: 2_000)
    #expect(fired.entries == [1_005])
  }

  @Test func `a timer that is put off fires at the later time`() {
    let timers = SyncTimers(clock)
    start(timers, 60)
    clock.advance(to: 20)
    start(timers, 60)
    #expect(clock.count == 1)
    clock.advance(to: 79)
    #expect(fired.entries.isEmpty)
    clock.advance(to: 200)
    #expect(fired.entries == [80])
  }

  @Test func `a timer that is put off by less than a second is put off all the same`() {
    let timers = SyncTimers(clock)
    start(timers, 60)
    clock.advance(to: 0.5)
    start(timers, 60)
    clock.advance(to: 60.25)
    #expect(fired.entries.isEmpty)
    clock.advance(to: 70)
    #expect(fired.entries == [60.5])
  }

  @Test func `a timer that starts again for an earlier time fires then, and once`() {
    let timers = SyncTimers(clock)
    start(timers, 60)
    start(timers, 10)
    #expect(clock.waiting == 1)
    clock.advance(to: 200)
    #expect(fired.entries == [10])
  }

  @Test func `a call that comes early by the client's own clock still fires its timer`() {
    let timers = SyncTimers(clock)
    start(timers, 60)
    clock.advance(to: 60, drift: 5)
    #expect(fired.entries == [55])
    #expect(clock.waiting == 0)
  }

  @Test func `timers are independent of each other`() {
    let timers = SyncTimers(clock)
    start(timers, 10, .watchIdle)
    start(timers, 20, .writeIdle)
    timers.cancel(.watchIdle)
    clock.advance(to: 100)
    #expect(fired.entries == [20])
  }

  @Test func `at the end all timers are cancelled, and none starts any more`() {
    let timers = SyncTimers(clock)
    start(timers, 10)
    timers.end()
    #expect(clock.waiting == 0)
    start(timers, 10)
    clock.advance(to: 100)
    #expect(fired.entries.isEmpty && clock.count == 1)
  }
}

import Testing
import VestaConcurrency
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting

@Suite struct LinkMachineTests {
  private let policy = LinkPolicy(
    retry: Retry(initial: .seconds(1), factor: 2, cap: .seconds(60), attempts: 8),
    shortEnds: Retry(initial: .seconds(1), factor: 2, cap: .seconds(4)), settledAfter: .seconds(60))
  private let connect: [LinkMachine.Effect] = [.connect(refreshesCredential: false)]

  private func middle() -> Double { 0.5 }

  @Test func `the worked example of the documentation`() {
    var link = LinkMachine(policy)
    func at(_ seconds: Int64) -> Int64 { seconds * 1_000_000 }
    #expect(link.open(now: 0) == connect)
    #expect(link.ended(.unavailable, now: at(5), random: middle) == [.wait(.seconds(1))])
    #expect(link.pauseEnded(now: at(6)) == connect)
    #expect(link.ended(.unavailable, now: at(6), random: middle) == [.wait(.seconds(2))])
    #expect(link.networkLost() == [.disconnect])
    #expect(link.phase == .offline && link.pauseEnded(now: at(8)) == [])
    #expect(link.networkFound(now: at(20)) == connect)
    link.received()
    #expect(link.failures == 0)
    #expect(link.ended(nil, now: at(90), random: middle) == [.wait(.zero)])
    #expect(link.pauseEnded(now: at(90)) == connect)
    #expect(link.close() == [.disconnect])
    #expect(link.phase == .closed)
  }

  @Test func `early ends in order lead to growing pauses`() {
    var link = LinkMachine(policy)
    _ = link.open(now: 0)
    for seconds in [1, 2, 4, 4] {
      #expect(link.ended(nil, now: 1, random: middle) == [.wait(.seconds(seconds))])
      _ = link.pauseEnded(now: 1)
    }
  }

  @Test func `a refused credential is refreshed once, and counts as a failure after that`() {
    var link = LinkMachine(policy)
    _ = link.open(now: 0)
    #expect(link.ended(.unauthenticated, now: 1, random: middle) == [.connect(refreshesCredential: true)])
    #expect(link.ended(.unauthenticated, now: 2, random: middle) == [.fail(.unauthenticated)])
    #expect(link.open(now: 3) == connect)
    link.received()
    #expect(link.ended(.unauthenticated, now: 4, random: middle) == [.connect(refreshesCredential: true)])
  }

  @Test func `the foreground ends a pause, and an open link stays`() {
    var link = LinkMachine(policy)
    _ = link.open(now: 0)
    #expect(link.cameToForeground(now: 1) == [])
    _ = link.ended(.unavailable, now: 1, random: middle)
    #expect(link.cameToForeground(now: 2) == [.disconnect] + connect)
    #expect(link.ended(.unavailable, now: 3, random: middle) == [.wait(.seconds(1))])
  }

  /// Random events against the rules of a link: it is open or waits while it is wanted, and a pause is never cut short.
  @Test func `the link is open or waits while it is wanted, and only the network and the foreground end a pause`() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix(seed: seed)
    for history in 0..<300 {
      var link = LinkMachine(policy)
      var now: Int64 = 1_000_000_000
      var (isWanted, isConnected, hasNetwork, isFailed) = (false, false, true, false)
      var pause: Range<Int64>?
      for step in 0..<100 {
        let label: Comment = "seed \(seed), history \(history), step \(step)"
        now += Int64(random.below(400)) * 100_000 - (random.oneIn(10) ? 100_000_000 : 0)
        var effects: [LinkMachine.Effect]
        switch random.below(7) {
        case 0:
          (isWanted, effects) = (true, link.open(now: now))
          if link.phase != .closed { isFailed = false }
        case 1: (isWanted, effects) = (false, link.close())
        case 2:
          let code: ServiceCode? = [nil, .unavailable, .permissionDenied, .unauthenticated][random.below(4)]
          effects = link.ended(code, now: now, random: { 0.5 })
          if isConnected { isConnected = false }
        case 3:
          guard link.phase == .waiting, let end = pause?.upperBound else { continue }
          now = max(now, end)
          effects = link.pauseEnded(now: now)
        case 4: (hasNetwork, effects, pause) = (true, link.networkFound(now: now), nil)
        case 5: (hasNetwork, effects) = (false, link.networkLost())
        default:
          link.received(requestedPause: random.oneIn(10) ? .seconds(random.below(1000)) : nil)
          effects = []
        }
        for effect in effects {
          switch effect {
          case .connect:
            #expect(!isConnected && isWanted && hasNetwork, label)
            #expect(pause.map { !$0.contains(now) } ?? true, label)
            // It is over, also where the clock is set back into it.
            (isConnected, pause) = (true, nil)
          case .disconnect: isConnected = false
          case .wait(let length): pause = now..<(now + max(0, length.microseconds))
          case .fail: isFailed = true
          }
        }
        #expect((link.phase == .open) == isConnected, label)
        #expect(isWanted || link.phase == .closed, label)
        if isWanted, !isFailed { #expect(link.phase != .closed, label) }
        #expect(hasNetwork || link.phase == .offline || link.phase == .closed, label)
      }
    }
  }
}

@Suite struct LinkRunnerTests {
  private final class Links: Sendable {
    let made = Locked<[LinkRunner.Connection]>([])
    let open = Locked(0)
    let failures = Log<ServiceCode>()

    func connect(_ connection: LinkRunner.Connection) -> ListenerRegistration {
      made.withLock { $0.append(connection) }
      open.withLock { $0 += 1 }
      return ListenerRegistration { self.open.withLock { $0 -= 1 } }
    }

    var last: LinkRunner.Connection? { made.withLock { $0.last } }
  }

  private let clock = ManualClock()
  private let links = Links()

  private func runner() -> LinkRunner {
    LinkRunner(
      LinkPolicy(retry: Retry(initial: .seconds(1), cap: .seconds(60), attempts: 3)), clock: clock.service,
      random: { 0.5 }, connect: { [links] in links.connect($0) }, onFailure: { [links] in links.failures.add($0) })
  }

  @Test func `a link that ends is opened again after its pause, and what an old one reports is ignored`() {
    let runner = runner()
    runner.open()
    let first = links.last
    first?.ended(.unavailable)
    #expect(runner.phase == .waiting)
    clock.advance(by: .milliseconds(999))
    #expect(links.made.withLock { $0.count } == 1)
    clock.advance(by: .milliseconds(1))
    #expect(links.made.withLock { $0.count } == 2)
    first?.ended(.permissionDenied)
    #expect(first?.received() == false && links.last?.received() == true)
    #expect(runner.phase == .open && links.failures.entries.isEmpty)
    runner.end()
    #expect(clock.deadlines.isEmpty)
  }

  @Test func `closing drops the link and its timer, and failures are reported`() {
    let runner = runner()
    runner.open()
    runner.close()
    #expect(links.open.withLock { $0 } == 0)
    runner.open()
    links.last?.ended(.unavailable)
    runner.close()
    #expect(clock.deadlines.isEmpty)
    runner.networkChanged(isThere: true)
    runner.open()
    links.last?.ended(.permissionDenied)
    #expect(links.failures.entries == [.permissionDenied] && runner.phase == .closed)
    runner.end()
    runner.open()
    #expect(links.open.withLock { $0 } <= 1)
  }

  @Test func `links that end while they are opened leave nothing behind, from many threads`() {
    let runner = LinkRunner(
      LinkPolicy(retry: Retry(initial: .zero, cap: .zero)), clock: clock.service,
      connect: { [links] connection in
        let registration = links.connect(connection)
        connection.ended(nil)
        return registration
      })
    TestThreads.run(4) { thread in
      for round in 0..<100 {
        if (thread + round).isMultiple(of: 2) { runner.open() } else { runner.close() }
        runner.networkChanged(isThere: round % 3 != 0)
      }
    }
    runner.end()
    #expect(links.open.withLock { $0 } == 0 || links.open.withLock { $0 } == 1)
    #expect(clock.deadlines.isEmpty)
  }
}

@Suite struct ServiceTimersTests {
  private enum Name { case idle, other }

  private let clock = ManualClock()
  private let fired = Log<String>()

  private func timers() -> ServiceTimers<Name> { ServiceTimers(clock.service) }

  @Test func `the worked example of the documentation: one call of the clock for many starts`() {
    let timers = timers()
    let start = clock.now
    timers.start(.idle, after: .seconds(60)) { [fired] in fired.add("first") }
    #expect(clock.deadlines == [start + 60_000_000])
    clock.advance(by: .seconds(10))
    timers.cancel(.idle)
    #expect(!timers.isRunning(.idle))
    clock.advance(by: .seconds(10))
    timers.start(.idle, after: .seconds(60)) { [fired] in fired.add("second") }
    #expect(clock.deadlines == [start + 60_000_000])
    clock.advance(by: .seconds(40))
    #expect(fired.entries.isEmpty && clock.deadlines == [start + 80_000_000])
    clock.advance(by: .seconds(20))
    #expect(fired.entries == ["second"] && timers.count == 0)
  }

  @Test func `an earlier start replaces a timer, a kept earlier one stays, and the end cancels all`() {
    let timers = timers()
    let start = clock.now
    timers.start(.idle, after: .seconds(60)) { [fired] in fired.add("late") }
    timers.start(.idle, after: .seconds(5)) { [fired] in fired.add("early") }
    timers.start(.idle, at: start + 9_000_000, keepsEarlier: true) { [fired] in fired.add("kept out") }
    timers.start(.other, at: .max) {}
    clock.advance(by: .seconds(100))
    #expect(fired.entries == ["early"])
    timers.start(.idle, after: .seconds(1)) { [fired] in fired.add("never") }
    timers.end()
    clock.advance(by: .seconds(100))
    #expect(fired.entries == ["early"] && clock.deadlines.isEmpty)
  }

  @Test func `a clock that is set back does not keep a timer from its next start`() {
    let timers = timers()
    timers.start(.idle, after: .seconds(60)) {}
    clock.jump(to: clock.now - 3_600_000_000)
    timers.start(.idle, after: .seconds(60)) { [fired] in fired.add("fired") }
    clock.advance(by: .seconds(60))
    #expect(fired.entries == ["fired"])
  }

  @Test func `a cancelled timer does not fire, and costs the clock one call`() {
    let timers = timers()
    for _ in 0..<100 {
      timers.start(.idle, after: .seconds(60)) { [fired] in fired.add("never") }
      timers.cancel(.idle)
    }
    #expect(clock.deadlines.count == 1)
    clock.advance(by: .seconds(1_000))
    #expect(fired.entries.isEmpty && clock.deadlines.isEmpty)
  }

  @Test func `a timer that is put off by less than a second is put off all the same`() {
    let timers = timers()
    timers.start(.idle, after: .seconds(60)) {}
    clock.advance(by: .milliseconds(500))
    timers.start(.idle, after: .seconds(60)) { [fired] in fired.add("fired") }
    clock.advance(by: .milliseconds(59_750))
    #expect(fired.entries.isEmpty)
    clock.advance(by: .milliseconds(250))
    #expect(fired.entries == ["fired"])
  }

  @Test func `a call that arrives early by the clock still fires its timer`() {
    let timers = ServiceTimers<Name>(
      ServiceClock(now: { [clock] in clock.now * 9 / 10 }, schedule: { [clock] in clock.schedule(after: $0, $1) }))
    timers.start(.idle, after: .seconds(60)) { [fired] in fired.add("fired") }
    timers.start(.other, after: .seconds(90)) {}
    timers.cancel(.other)
    clock.advance(by: .seconds(60))
    #expect(fired.entries == ["fired"])
  }

  @Test func `a timer that was put off fires at its time although the clock was set back`() {
    let shift = Locked(Int64(0))
    let timers = ServiceTimers<Name>(
      ServiceClock(
        now: { [clock] in clock.now + shift.withLock { $0 } },
        schedule: { [clock] in clock.schedule(after: $0, $1) }))
    timers.start(.idle, after: .seconds(60)) {}
    clock.advance(by: .seconds(20))
    timers.start(.idle, after: .seconds(60)) { [fired] in fired.add("fired") }
    shift.withLock { $0 = -3_600_000_000 }
    clock.advance(by: .seconds(59))
    #expect(fired.entries.isEmpty)
    clock.advance(by: .seconds(1))
    #expect(fired.entries == ["fired"])
  }
}

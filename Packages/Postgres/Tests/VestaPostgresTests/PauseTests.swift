import Testing
import VestaConcurrency
import VestaPostgresTesting
import VestaStoreInterop
import VestaTesting

@testable import VestaPostgres

extension PostgresTuning {
  /// The usual figures, with all pauses on a clock.
  init(on clock: ManualClock) {
    self.init()
    let (start, first) = (ContinuousClock.now, clock.now)
    now = { start + .microseconds(clock.now - first) }
    sleep = { try await clock.sleep(for: $0) }
  }
}

/// Pauses and time-outs on a clock that the test advances, without a server.
@Suite(.timeLimit(.minutes(20))) struct PauseTests {
  private let clock = ManualClock()

  @Test func `a commit is tried again after pauses that double, as long as its patience lasts`() async {
    let tuning = PostgresTuning(on: clock)
    let tries = Task {
      var (attempt, count) = (CommitAttempt(patience: .seconds(3), tuning), 0)
      while await attempt.pauseBeforeNextTry() { count += 1 }
      return count
    }
    var pauses: [Int64] = []
    for _ in 0..<8 {
      await clock.waitForTimers()
      let before = clock.now
      clock.fireNext()
      pauses.append((clock.now - before) / 1_000)
    }
    #expect(pauses == [10, 20, 40, 80, 160, 320, 640, 1_000])
    #expect(await tries.value == 8)
  }

  @Test func `a look-up of a host that does not end fails after its time`() async throws {
    let gate = Gate()
    let connector = try Connector(
      "postgresql://user@slow.example/db?connect_timeout=7", tuning: PostgresTuning(on: clock)
    ) { _ in
      _ = gate.passes()
      return []
    }
    let call = Task { try await connector.connect(within: .seconds(30)) { $0 } }
    await clock.waitForTimers()
    #expect(clock.deadlines == [clock.now + 7_000_000])
    clock.advance(by: .seconds(7))
    let failure = await #expect(throws: PostgresFailure.self) { try await call.value }
    #expect("\(String(describing: failure))".contains("takes too long"))
    gate.open()
  }
}

extension OneAtATime {
  @Suite struct PauseTests {
    @Test func `a server that does not answer is given up when the clock says so`() async throws {
      let silent = try PostgresProxy(to: Server.url)
      defer { silent.close() }
      silent.rule { _ in .hold }
      let clock = ManualClock()
      let (tuning, looks, isLookedAt) = (PostgresTuning(on: clock), Locked(0), Gate())
      // The loop looks every 50 ms, so 16 looks last longer than the patience by the clock of the system.
      let loop = try PostgresLoop(patience: .milliseconds(400)) {
        let count = looks.withLock { looks in
          looks += 1
          return looks
        }
        if count == 16 { isLookedAt.open() }
        return tuning.now()
      }
      defer { loop.stop() }
      let (connector, isOver) = (try Connector(silent.url), Locked(false))
      let opening = Task {
        defer { isOver.withLock { $0 = true } }
        _ = try await loop.open(connector)
      }
      await isLookedAt.wait()
      #expect(isOver.withLock { $0 } == false)
      clock.advance(by: .milliseconds(401))
      let failure = await #expect(throws: PostgresFailure.self) { try await opening.value }
      #expect("\(String(describing: failure))".contains("has not answered"))
    }

    @Test func `a commit waits for a lower version that is running, for the time of a courtesy`() async throws {
      let clock = ManualClock()
      let store = try await Server.open(Server.newSpace()) { $0.tuning = PostgresTuning(on: clock) }
      let (reserved, gate) = (Gate(), Gate())
      let lower = Task {
        try await store.write { transaction in
          let version = try await transaction.commitVersion()
          reserved.open()
          await gate.wait()
          try await transaction.put([1], for: key(1))
          return version
        }
      }
      await reserved.wait()
      let higher = Task {
        try await store.write { transaction in
          _ = try await transaction.commitVersion()
          try await transaction.put([2], for: key(2))
        }
      }
      await clock.waitForTimers()
      #expect(clock.deadlines == [clock.now + 5_000])
      #expect(try await store.get(key(2)) == nil)
      clock.advance(by: .milliseconds(5))
      let version = try await higher.value.version
      gate.open()
      // Its first version is too low by now: the body runs again.
      let commit = try await lower.value
      #expect(commit.value > version && commit.version == commit.value)
      try await store.close()
    }
  }
}

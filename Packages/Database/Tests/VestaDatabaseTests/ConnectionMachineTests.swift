import Testing
import VestaDatabaseBackend
import VestaTesting

@testable import VestaDatabase

/// The connection of a client, event by event; times are milliseconds.
@Suite struct ConnectionMachineTests {
  private typealias Action = ConnectionMachine.Action

  /// A machine of a client without tokens, or with them.
  private func machine(needsTokens: Bool = false) -> ConnectionMachine {
    ConnectionMachine(DatabaseTuning(), needsTokens: needsTokens)
  }

  /// A machine whose first connection is open at 0.
  private func connected(token: String? = nil) -> ConnectionMachine {
    var machine = machine(needsTokens: token != nil)
    _ = machine.resumed(.waitingForFirstUse, at: 0)
    if let token {
      _ = machine.gotTokens(token, appCheck: nil, attempt: 1)
      _ = machine.opened(hello(at: 0), at: 0)
      _ = machine.authenticated(.ok, isFirst: true, at: 0)
    } else {
      _ = machine.opened(hello(at: 0), at: 0)
    }
    #expect(machine.phase == .connected)
    return machine
  }

  private func hello(at time: Int64) -> DatabaseHello { DatabaseHello(timestamp: time, session: "s\(time)") }

  /// Ends the connection, with the longest pause of the spread.
  private func lose(_ machine: inout ConnectionMachine, at now: Int64) -> [Action] {
    let end = machine.ended("lost", at: now)
    #expect(Array(end.suffix(2)) == [.cancelTimer, .cleanUp])
    #expect(machine.phase == .disconnected)
    return machine.cleanedUp(at: now) { 1 }
  }

  /// Whether an action is a pause of some whole milliseconds, one less after rounding, and the only one.
  private func isPause(_ actions: [Action], _ milliseconds: Double) -> Bool {
    guard actions.count == 1, case .wait(let pause)? = actions.first else { return false }
    return abs(pause / .milliseconds(1) - milliseconds) <= 1
  }

  @Test func `the worked example`() {
    var machine = machine(needsTokens: true)
    #expect(machine.resumed(.waitingForFirstUse, at: 0) == [.fetchTokens(attempt: 1, forcesRefresh: false)])
    #expect(machine.phase == .gettingToken)
    #expect(machine.gotTokens("t", appCheck: nil, attempt: 1) == [.open(attempt: 1, lastSession: nil)])
    #expect(machine.phase == .connecting)
    #expect(
      machine.opened(DatabaseHello(timestamp: 1_500, session: "s"), at: 1_000) == [
        .cancelTimer, .showTimeOffset(500), .authenticate("t", isFirst: true),
      ])
    #expect(machine.phase == .authenticating)
    #expect(machine.authenticated(.ok, isFirst: true, at: 1_000) == [.restore])
    #expect(machine.phase == .connected)
    #expect(machine.ended("cut", at: 6_000) == [.note(.lost("cut")), .cancelTimer, .cleanUp])
    #expect(machine.phase == .disconnected)
    #expect(machine.cleanedUp(at: 6_000) { 1 } == [.wait(.seconds(1))])
    #expect(machine.phase == .waiting)
    #expect(machine.pauseEnded(at: 7_000) == [.fetchTokens(attempt: 3, forcesRefresh: false)])
    #expect(machine.gotTokens("t", appCheck: nil, attempt: 1) == [], "a report of the first attempt")
    #expect(machine.gotTokens("t", appCheck: nil, attempt: 3) == [.open(attempt: 3, lastSession: "s")])
  }

  @Test func `without tokens the connection opens at once, and restores everything`() {
    var machine = machine()
    #expect(machine.resumed(.waitingForFirstUse, at: 0) == [.open(attempt: 1, lastSession: nil)])
    #expect(machine.opened(hello(at: 0), at: 0) == [.cancelTimer, .showTimeOffset(0), .restore])
  }

  // MARK: Pauses

  @Test func `pauses grow up to the longest, with a spread from 0.3 to 1`() {
    var machine = connected()
    var (expected, now) = (1_000.0, Int64(0))
    for _ in 0..<16 {
      #expect(isPause(lose(&machine, at: now), expected))
      expected = min(30_000, expected * 1.3)
      now += 60_000
      #expect(machine.pauseEnded(at: now).count == 1)
    }
    #expect(expected == 30_000)
    var other = connected()
    _ = other.ended("lost", at: 1)
    #expect(isPause(other.cleanedUp(at: 1) { 0 }, 300))
  }

  @Test func `after a connection of more than 30 s the next attempt is at once`() {
    var machine = connected()
    #expect(lose(&machine, at: 30_001) == [.open(attempt: 3, lastSession: "s0")])
    #expect(isPause(lose(&machine, at: 30_002), 1_000), "the pauses begin anew")
    var short = connected()
    #expect(isPause(lose(&short, at: 30_000), 1_000))
  }

  @Test func `a reason for not connecting ends the pause, and the pauses begin anew`() {
    var machine = connected()
    _ = lose(&machine, at: 1)
    _ = machine.pauseEnded(at: 1_000)
    #expect(isPause(lose(&machine, at: 1_001), 1_300))
    #expect(machine.interrupted(.offline, at: 1_002) == [.cancelTimer, .close, .cancelTimer, .cleanUp])
    #expect(machine.cleanedUp(at: 1_002) { 0.5 } == [])
    #expect(machine.phase == .disconnected)
    #expect(machine.pauseEnded(at: 2_000) == [], "a timer that fired just before")
    #expect(machine.resumed(.offline, at: 2_000).last == .open(attempt: 6, lastSession: "s0"))
    #expect(isPause(lose(&machine, at: 2_001), 1_000))
  }

  @Test func `all reasons for not connecting have to end, and ending one twice changes nothing`() {
    var machine = connected()
    _ = machine.interrupted(.offline, at: 1)
    _ = machine.interrupted(.killed, at: 1)
    #expect(machine.resumed(.offline, at: 2) == [])
    #expect(machine.interruptions == [.killed])
    #expect(machine.resumed(.killed, at: 3).count == 1)
    #expect(machine.resumed(.killed, at: 3) == [])
  }

  @Test func `resuming does not shorten a pause that is under way`() {
    var machine = connected()
    _ = lose(&machine, at: 1)
    #expect(machine.resumed(.offline, at: 2) == [])
    #expect(machine.phase == .waiting)
  }

  @Test func `a connection that does not open in time is closed`() {
    var machine = machine()
    _ = machine.resumed(.waitingForFirstUse, at: 0)
    let reason = "The connection did not open in time."
    #expect(
      machine.openingTimedOut(attempt: 1, at: 5) == [.close, .note(.lost(reason)), .cancelTimer, .cleanUp])
    #expect(machine.openingTimedOut(attempt: 1, at: 6) == [], "of an earlier connection")
    var opened = connected()
    #expect(opened.openingTimedOut(attempt: 1, at: 6) == [], "it has opened")
  }

  @Test func `each reason of a loss is noted once`() {
    var machine = connected()
    #expect(machine.ended("a", at: 1).first == .note(.lost("a")))
    _ = machine.cleanedUp(at: 1) { 0.5 }
    _ = machine.pauseEnded(at: 2)
    #expect(machine.ended("a", at: 3).first == .cancelTimer)
    _ = machine.cleanedUp(at: 3) { 0.5 }
    _ = machine.pauseEnded(at: 4)
    #expect(machine.ended("b", at: 5).first == .note(.lost("b")))
  }

  // MARK: A service that cannot serve the database

  @Test func `a refused database is noted once for each reason, and again when it can be used`() {
    var machine = connected()
    #expect(machine.refused("full") == [.note(.refused("full")), .refuse("full")])
    #expect(machine.refused("full") == [.refuse("full")])
    #expect(machine.failure == "full")
    _ = lose(&machine, at: 1)
    _ = machine.pauseEnded(at: 1_000)
    #expect(machine.opened(hello(at: 1), at: 1).prefix(2) == [.cancelTimer, .note(.recovered)])
    #expect(machine.failure == nil)
  }

  @Test func `a call brings the next attempt forward, once, where the database was refused`() {
    var machine = connected()
    #expect(machine.wanted() == [])
    _ = lose(&machine, at: 1)
    #expect(machine.wanted() == [], "nothing was refused")
    _ = machine.pauseEnded(at: 1_000)
    _ = machine.refused("full")
    _ = lose(&machine, at: 1_001)
    #expect(machine.wanted() == [.wait(.seconds(1))])
    #expect(machine.wanted() == [])
    #expect(machine.pauseEnded(at: 2_001).count == 1)
  }

  // MARK: Tokens

  @Test func `a token that is refused is fetched anew, unless it could not be checked`() {
    for (status, forces) in [("expired_token", true), ("unavailable", false)] {
      var machine = connected(token: "t")
      let reply = DatabaseReply(DatabaseStatus(rawValue: status), message: "no")
      let actions = machine.authenticated(reply, isFirst: true, at: 1)
      #expect(actions.prefix(2) == [.note(.tokenRefused(status: status, reason: "no")), .close])
      _ = machine.cleanedUp(at: 1) { 0.5 }
      #expect(machine.pauseEnded(at: 1_000) == [.fetchTokens(attempt: 3, forcesRefresh: forces)])
      _ = machine.tokensFailed(attempt: 3, at: 1_000) { 0.5 }
      #expect(machine.pauseEnded(at: 9_000) == [.fetchTokens(attempt: 4, forcesRefresh: false)])
    }
  }

  @Test func `tokens that cannot be had are tried again after a pause`() {
    var machine = machine(needsTokens: true)
    _ = machine.resumed(.waitingForFirstUse, at: 0)
    #expect(isPause(machine.tokensFailed(attempt: 1, at: 1) { 1 }, 1_000))
    #expect(machine.tokensFailed(attempt: 1, at: 1) { 1 } == [], "once")
  }

  @Test func `a sign-out while the token is fetched decides`() {
    var machine = machine(needsTokens: true)
    _ = machine.resumed(.waitingForFirstUse, at: 0)
    #expect(machine.tokenChanged("new") == [])
    #expect(machine.gotTokens("old", appCheck: nil, attempt: 1).count == 1)
    #expect(machine.opened(hello(at: 0), at: 0).last == .authenticate("new", isFirst: true))
    // A sign-out before the reply: the service is notified before everything else follows.
    #expect(machine.tokenChanged(nil) == [])
    #expect(machine.authenticated(.ok, isFirst: true, at: 0) == [.authenticate(nil, isFirst: true), .restore])
  }

  @Test func `a new token is sent at once on an open connection, the same one is not`() {
    var machine = connected(token: "t")
    #expect(machine.tokenChanged("t") == [])
    #expect(machine.tokenChanged("u") == [.authenticate("u", isFirst: false)])
    #expect(machine.authenticated(.ok, isFirst: false, at: 1) == [])
    #expect(machine.tokenChanged(nil) == [.authenticate(nil, isFirst: false)])
  }

  @Test func `the token of App Check is sent before the one of the user, until it is refused`() {
    var machine = machine(needsTokens: true)
    _ = machine.resumed(.waitingForFirstUse, at: 0)
    _ = machine.gotTokens("t", appCheck: "a", attempt: 1)
    #expect(
      machine.opened(hello(at: 0), at: 0) == [
        .cancelTimer, .sendAppCheck("a"), .showTimeOffset(0), .authenticate("t", isFirst: true),
      ])
    #expect(machine.appCheckChanged("b") == [], "before the connection is open")
    _ = machine.authenticated(.ok, isFirst: true, at: 0)
    #expect(machine.appCheckChanged("c") == [.sendAppCheck("c")])
    machine.appCheckRefused()
    #expect(machine.opened(hello(at: 0), at: 0).count == 3)
  }

  // MARK: Any order of events

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `in any order of events there is at most one connection, and one is on its way unless interrupted`(
    seed: UInt64
  ) {
    var walk = Walk(seed: seed)
    for _ in 0..<800 { walk.step() }
  }

  /// A performer with a clock that only moves forward.
  private struct Walk {
    private var machine: ConnectionMachine
    private var random: SplitMix
    private var now: Int64 = 0
    private var isOpen = false
    private var hasTimer = false
    private var fetching: Int?
    private var attempt = 0
    private var authentications = 0

    init(seed: UInt64) {
      random = SplitMix(seed: seed)
      machine = ConnectionMachine(DatabaseTuning(), needsTokens: Bool.random(using: &random))
      perform(machine.resumed(.waitingForFirstUse, at: 0))
    }

    mutating func step() {
      now += Int64.random(in: 0..<20_000, using: &random)
      let token = Bool.random(using: &random) ? "t\(Int.random(in: 0..<3, using: &random))" : nil
      switch Int.random(in: 0..<14, using: &random) {
      case 0: perform(machine.interrupted(.offline, at: now))
      case 1, 2: perform(machine.resumed(.offline, at: now))
      case 3, 4:
        if hasTimer, machine.phase == .waiting {
          hasTimer = false
          perform(machine.pauseEnded(at: now))
        }
      case 5, 6: if let fetching { perform(machine.gotTokens(token, appCheck: token, attempt: fetching)) }
      case 7: if let fetching { perform(machine.tokensFailed(attempt: fetching, at: now) { 0.5 }) }
      case 8, 9:
        if isOpen, machine.phase == .connecting {
          perform(machine.opened(DatabaseHello(timestamp: now, session: "s"), at: now))
        }
      case 10: if isOpen { perform(machine.ended("lost", at: now)) }
      case 11: perform(machine.tokenChanged(token))
      case 12: if isOpen { perform(machine.refused("full")) }
      default: perform(machine.wanted())
      }
      if authentications > 0, Bool.random(using: &random) {
        authentications -= 1
        let reply = Int.random(in: 0..<4, using: &random) == 0 ? DatabaseReply(.expiredToken) : .ok
        perform(machine.authenticated(reply, isFirst: machine.phase == .authenticating, at: now))
      }
      check()
    }

    private mutating func perform(_ actions: [ConnectionMachine.Action]) {
      for action in actions {
        switch action {
        case .wait(let pause):
          #expect(pause > .zero && pause <= .seconds(30))
          hasTimer = true
        case .cancelTimer: hasTimer = false
        case .fetchTokens(let attempt, _):
          #expect(attempt > self.attempt)
          (self.attempt, fetching) = (attempt, attempt)
        case .open(let attempt, _):
          #expect(!isOpen, "the earlier connection has ended")
          #expect(machine.isCurrent(attempt))
          (isOpen, hasTimer) = (true, true)
        case .close: break
        case .cleanUp:
          (isOpen, authentications) = (false, 0)
          perform(machine.cleanedUp(at: now) { 0.5 })
        case .authenticate(let token, _):
          #expect(isOpen)
          if token != nil { authentications += 1 }
        case .sendAppCheck, .showTimeOffset: #expect(isOpen)
        case .restore: #expect(isOpen && machine.phase == .connected)
        case .refuse: #expect(machine.failure != nil)
        case .note: break
        }
      }
    }

    private func check() {
      switch machine.phase {
      case .disconnected: #expect(machine.interruptions == [.offline] && !isOpen)
      case .waiting: #expect(hasTimer && !isOpen && machine.interruptions.isEmpty)
      case .gettingToken: #expect(!isOpen && fetching != nil && machine.interruptions.isEmpty)
      case .connecting: #expect(isOpen && hasTimer)
      case .authenticating: #expect(isOpen && authentications > 0)
      case .connected: #expect(isOpen)
      }
    }
  }
}

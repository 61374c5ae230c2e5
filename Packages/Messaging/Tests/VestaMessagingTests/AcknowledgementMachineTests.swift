import Testing
import VestaConcurrency
import VestaTesting

@testable import VestaMessaging

/// The decisions about acknowledgements, event by event.
@Suite struct AcknowledgementMachineTests {
  private typealias Action = AcknowledgementMachine.Action

  private static let retry = Retry(initial: .seconds(1), factor: 2, cap: .seconds(4))

  private func machine(batch: Int = 10) -> AcknowledgementMachine {
    var machine = AcknowledgementMachine(batch: batch, retry: Self.retry)
    #expect(machine.tokenChanged("t") == [])
    return machine
  }

  private func send(_ ids: String...) -> Action { .send(token: "t", ids) }

  @Test func `the worked example`() {
    var machine = machine()
    #expect(machine.add(["a"]) == [send("a")])
    #expect(machine.add(["b", "c"]) == [])
    #expect(machine.answered(.acknowledged) == [send("b", "c")])
    #expect(machine.answered(.passing) == [.wait(.pause, .seconds(1))])
    #expect(machine.ended(.pause) == [send("b", "c")])
    #expect(machine.answered(.refused) == [send("b")])
    #expect(machine.answered(.refused) == [.wait(.refused, .seconds(1)), send("c")])
    #expect(machine.answered(.acknowledged) == [])
    #expect(machine.ended(.refused) == [send("b")])
    #expect(machine.answered(.acknowledged) == [])
  }

  @Test func `messages wait for a token, and are forgotten with it`() {
    var machine = AcknowledgementMachine(batch: 10, retry: Self.retry)
    #expect(machine.add(["a"]) == [])
    #expect(machine.tokenChanged("t") == [send("a")])
    #expect(machine.add(["b"]) == [])
    #expect(machine.tokenChanged(nil) == [])
    #expect(machine.answered(.acknowledged) == [])
    #expect(machine.tokenChanged("t") == [])
    #expect(machine.add(["c"]) == [send("c")])
  }

  @Test func `a batch has a limit`() {
    var machine = machine(batch: 2)
    #expect(machine.add(["a", "b", "c"]) == [send("a", "b")])
    #expect(machine.answered(.acknowledged) == [send("c")])
  }

  @Test func `pauses double up to the longest, and begin anew after a success`() {
    var machine = machine()
    _ = machine.add(["a"])
    for pause in [1, 2, 4, 4] {
      #expect(machine.answered(.passing) == [.wait(.pause, .seconds(pause))])
      #expect(machine.add(["b"]) == [], "the pause has not ended")
      #expect(machine.ended(.pause) == [send("a")])
    }
    guard case .send? = machine.answered(.acknowledged).first else {
      Issue.record("What was added in the meantime is not sent.")
      return
    }
    #expect(machine.answered(.passing) == [.wait(.pause, .seconds(1))])
  }

  @Test func `a removed registration has nothing to acknowledge again`() {
    var machine = machine()
    _ = machine.add(["a"])
    #expect(machine.answered(.unregistered) == [])
    #expect(machine.ended(.pause) == [])
  }

  @Test func `one refused message among many keeps no other one`() {
    var machine = machine(batch: 100)
    var (acknowledged, sent): (Set<String>, [Action]) = ([], machine.add((0..<20).map(String.init)))
    var waits = 0
    while let action = sent.popLast() {
      switch action {
      case .send(_, let ids):
        let isRefused = ids.contains("13")
        if !isRefused { acknowledged.formUnion(ids) }
        sent += machine.answered(isRefused ? .refused : .acknowledged)
      case .wait: waits += 1
      }
    }
    #expect(acknowledged == Set((0..<20).map(String.init)).subtracting(["13"]))
    #expect(waits == 1)
    #expect(machine.ended(.refused) == [send("13")])
  }

  @Test func `refused ones wait together, and longer each time`() {
    var machine = machine()
    _ = machine.add(["a"])
    #expect(machine.answered(.refused) == [.wait(.refused, .seconds(1))])
    #expect(machine.add(["b"]) == [send("b")])
    #expect(machine.answered(.refused) == [], "the timer runs already")
    #expect(machine.ended(.refused) == [send("a", "b")])
    #expect(machine.answered(.refused) == [send("a")])
    #expect(machine.answered(.refused) == [.wait(.refused, .seconds(2)), send("b")])
  }

  @Test func `after the end no timer is started, and a late answer is ignored`() {
    var machine = machine()
    _ = machine.add(["a"])
    machine.close()
    #expect(machine.answered(.passing) == [])
    #expect(machine.answered(.acknowledged) == [])
  }

  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func `in any order of events each message is acknowledged, and one acknowledgement is under way`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var machine = AcknowledgementMachine(batch: 3, retry: Self.retry)
    var (added, acknowledged): (Set<String>, Set<String>) = ([], [])
    var underWay: [String]?
    var timers: Set<AcknowledgementMachine.Timer> = []
    func perform(_ actions: [AcknowledgementMachine.Action]) {
      for action in actions {
        switch action {
        case .send(_, let ids):
          #expect(underWay == nil && !ids.isEmpty && ids.count <= 3)
          #expect(acknowledged.isDisjoint(with: ids))
          underWay = ids
        case .wait(let timer, let pause):
          #expect(timers.insert(timer).inserted, "one timer of a kind")
          #expect(pause >= .seconds(1) && pause <= .seconds(4))
        }
      }
    }
    func answer(_ outcome: AcknowledgementMachine.Outcome) {
      guard let ids = underWay else { return }
      underWay = nil
      if case .acknowledged = outcome { acknowledged.formUnion(ids) }
      perform(machine.answered(outcome))
    }
    func fire() {
      guard let timer = timers.randomElement(using: &random) else { return }
      timers.remove(timer)
      perform(machine.ended(timer))
    }
    perform(machine.tokenChanged("t"))
    for number in 0..<300 {
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1:
        added.insert("\(number)")
        perform(machine.add(["\(number)"]))
      case 2: answer(.acknowledged)
      case 3: answer(.refused)
      case 4: answer(.passing)
      default: fire()
      }
    }
    while underWay != nil || !timers.isEmpty {
      answer(.acknowledged)
      if underWay == nil { fire() }
    }
    #expect(acknowledged == added)
  }
}

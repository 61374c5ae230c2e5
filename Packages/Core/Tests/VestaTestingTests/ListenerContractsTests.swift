import Testing
import VestaConcurrency
import VestaTesting

@Suite struct ListenerContractsTests {
  private static func fake(greets: Bool) -> ListenerSubject<Int> {
    let greeting: @Sendable (Int) -> Int = { $0 }
    let source = StateSource<Int, Int>(0, greeting: greets ? greeting : nil)
    let current: @Sendable () -> Int = { source.read { $0 } }
    return ListenerSubject(
      add: source.add,
      greeting: greets ? current : nil,
      callBack: { _ = current() },
      change: { number in
        source.change { state, announce in
          state = number
          announce(number)
        }
        return number
      }
    )
  }

  @Test(arguments: [true, false]) func `the fake keeps every promise`(greets: Bool) async {
    let outcomes = await ListenerContracts.all(greets: greets, source: { $0 }).run { Self.fake(greets: greets) }
    #expect(outcomes.filter { !$0.isKept }.map(\.description) == [])
    #expect(outcomes.count >= 10)
  }

  struct Fault: Sendable, CustomTestStringConvertible {
    let fault: WrongSource.Fault, greets: Bool, broken: String
    var testDescription: String { "\(fault)" }
  }

  static let faults: [Fault] = [
    Fault(fault: .swapsTwoChanges, greets: true, broken: "a listener hears every change once and in order"),
    Fault(fault: .callsNewestFirst, greets: true, broken: "listeners are called in the order in which they were added"),
    Fault(fault: .leavesASlowListenerBehind, greets: true, broken: "a listener is called once at a time"),
    Fault(fault: .cancelsOnlyWithin, greets: true, broken: "nothing is heard after cancel"),
    Fault(
      fault: .deliversWhatWasOnItsWay, greets: true,
      broken: "a listener that cancels itself hears nothing that was on its way"),
    Fault(fault: .cancelRemovesTheOneBefore, greets: false, broken: "cancelling twice removes one listener"),
    Fault(fault: .endsWithItsRegistration, greets: true, broken: "a dropped registration keeps its listener"),
    Fault(fault: .callsWithItsLockHeld, greets: true, broken: "a listener may call back into the seam"),
    Fault(
      fault: .forgetsListenersBeyondThirtyTwo, greets: true, broken: "64 tasks may add, change and cancel at once"),
    Fault(fault: .greetsWithTheFirstState, greets: true, broken: "a new listener first hears the current state"),
    Fault(fault: .callsWithinAdd, greets: true, broken: "adding a listener does not call it"),
    Fault(fault: .greetsUnasked, greets: false, broken: "a new listener hears nothing before the first change"),
  ]

  @Test(arguments: faults) func `a wrong source breaks exactly its promise`(_ fault: Fault) async {
    let outcomes = await ListenerContracts.all(greets: fault.greets, source: { $0 }).run { contract in
      let source = WrongSource(fault.fault, greets: fault.greets)
      let current: @Sendable () -> Int = { source.current }
      return ListenerSubject<Int>(
        patience: contract.name == fault.broken ? .seconds(1) : .seconds(60),
        add: source.add,
        greeting: fault.greets ? current : nil,
        callBack: { source.callBack() },
        change: { number in
          source.set(number)
          return number
        }
      )
    }
    #expect(outcomes.filter { !$0.isKept }.map(\.name) == [fault.broken], "\(outcomes.filter { !$0.isKept })")
  }

  @Test func `every promise has a fault`() {
    let names = [true, false].flatMap { greets in
      ListenerContracts.all(greets: greets, source: { (subject: ListenerSubject<Int>) in subject }).map(\.name)
    }
    #expect(Set(names) == Set(Self.faults.map(\.broken)))
    #expect(Set(Self.faults.map(\.fault)) == Set(WrongSource.Fault.allCases))
  }
}

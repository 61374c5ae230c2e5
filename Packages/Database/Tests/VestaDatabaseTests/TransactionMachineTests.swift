import Testing
import VestaDatabaseBackend
import VestaTesting

@testable import VestaDatabase

/// The states of transactions, event by event.
@Suite struct TransactionMachineTests {
  private typealias Action = TransactionMachine.Action

  private let one = DatabaseNode(.int(1))
  private let two = DatabaseNode(.int(2))

  /// A machine whose transactions at some paths have begun, the first one with number 1 and write 1.
  private func machine(_ paths: DatabasePath..., attempts: Int = 25) -> TransactionMachine {
    var machine = TransactionMachine(attempts: attempts)
    for (index, path) in paths.enumerated() {
      _ = machine.begin(index + 1, at: path, appliesLocally: true)
      _ = machine.ran(index + 1, on: one, .result(two, shown: two, writeID: index + 1))
    }
    return machine
  }

  private func group(_ path: DatabasePath, _ ids: [Int], writes: Set<Int>, _ places: [DatabasePath]) -> Action {
    .send(
      TransactionMachine.Group(
        path: path, transactions: ids, writeIDs: writes, results: places.map { DatabasePathValue($0, two) }))
  }

  @Test func `the worked example`() {
    var machine = TransactionMachine(attempts: 25)
    let (five, six) = (DatabaseNode(.int(5)), DatabaseNode(.int(6)))
    #expect(machine.begin(7, at: "n", appliesLocally: true) == [.run(7, at: "n", excluding: [])])
    #expect(
      machine.ran(7, on: one, .result(two, shown: two, writeID: 1)) == [
        .show("n", two, writeID: 1, isVisible: true), group("n", [7], writes: [1], [.root]),
      ])
    #expect(machine.replied([7], at: "n", DatabaseReply(.dataStale)) == [.run(7, at: "n", excluding: [1])])
    let again = machine.ran(7, on: five, .result(six, shown: six, writeID: 2))
    #expect(again.prefix(2) == [.show("n", six, writeID: 2, isVisible: true), .takeBack(writeID: 1)])
    #expect(again.count == 3)
    #expect(machine.replied([7], at: "n", .ok) == [.end(7, writeID: 2, .committed(six))])
    #expect(machine.transactions.isEmpty)
  }

  @Test func `a first block without a result ends its transaction, and sends nothing`() {
    var machine = TransactionMachine(attempts: 25)
    _ = machine.begin(1, at: "n", appliesLocally: true)
    #expect(machine.ran(1, on: one, .aborted) == [.end(1, writeID: nil, .aborted(one))])
    _ = machine.begin(2, at: "n", appliesLocally: true)
    let error = DatabaseError(.other, "wrong")
    #expect(machine.ran(2, on: one, .invalid("wrong")) == [.end(2, writeID: nil, .failed(error, nil))])
    #expect(machine.transactions.isEmpty)
  }

  @Test func `what was shown is the outcome, and what was resolved is not sent`() {
    var machine = TransactionMachine(attempts: 25)
    _ = machine.begin(1, at: "n", appliesLocally: false)
    #expect(
      machine.ran(1, on: one, .result(two, shown: one, writeID: 4)) == [
        .show("n", one, writeID: 4, isVisible: false), group("n", [1], writes: [4], [.root]),
      ])
    #expect(machine.replied([1], at: "n", .ok) == [.end(1, writeID: 4, .committed(one))])
  }

  @Test func `transactions at and below a path wait for the one that was sent, and are sent together`() {
    var machine = machine("a", "a/b", "c")
    #expect(machine.transactions.map(\.status) == [.sent, .ready, .sent])
    _ = machine.begin(4, at: "a", appliesLocally: true)
    _ = machine.ran(4, on: one, .result(two, shown: two, writeID: 4))
    // 1 is committed: the data of 2 and 4 has changed, and both run again, in order.
    let replied = machine.replied([1], at: "a", .ok)
    #expect(replied == [.end(1, writeID: 1, .committed(two)), .run(2, at: "a/b", excluding: [2, 4])])
    let next = machine.ran(2, on: one, .result(two, shown: two, writeID: 5))
    #expect(next.last == .run(4, at: "a", excluding: [4]))
    let last = machine.ran(4, on: one, .result(two, shown: two, writeID: 6))
    #expect(last.last == group("a", [2, 4], writes: [5, 6], ["b", .root]))
    #expect(machine.transactions.map(\.attempts) == [1, 1, 1])
  }

  @Test func `a transaction above others sends them with it`() {
    var machine = machine("a/b")
    _ = machine.replied([1], at: "a/b", DatabaseReply(.dataStale))
    _ = machine.begin(2, at: "a", appliesLocally: true)
    let actions = machine.ran(2, on: one, .result(two, shown: two, writeID: 2))
    #expect(actions.last == group("a", [1, 2], writes: [1, 2], ["b", .root]))
  }

  @Test func `data that changes while a transaction is sent does not run it again`() {
    var machine = machine("n")
    #expect(machine.rerun(at: "n") == [])
    #expect(machine.transactions.map(\.status) == [.sent])
  }

  @Test func `a refusal ends a transaction with its reason and its input`() {
    var machine = machine("n")
    let reply = DatabaseReply(.permissionDenied, message: "No.")
    let error = DatabaseError(status: .permissionDenied, message: "No.")
    #expect(machine.replied([1], at: "n", reply) == [.end(1, writeID: 1, .failed(error, one))])
  }

  @Test func `one attempt too many ends a transaction`() {
    var machine = machine("n", attempts: 2)
    #expect(machine.replied([1], at: "n", DatabaseReply(.dataStale)) == [.run(1, at: "n", excluding: [1])])
    _ = machine.ran(1, on: one, .result(two, shown: two, writeID: 2))
    let error = DatabaseError(status: .maxRetry)
    #expect(
      machine.replied([1], at: "n", DatabaseReply(.dataStale)) == [.end(1, writeID: 2, .failed(error, one))])
  }

  @Test func `a write ends the transactions above and below it that were not sent`() {
    var machine = machine("a", "a/b", "c")
    let error = DatabaseError(status: .set)
    #expect(machine.overridden(at: "a/b/c", .set) == [.end(2, writeID: 2, .failed(error, nil))])
    #expect(machine.transactions.map(\.status) == [.sentDoomed(.set), .sent])
  }

  @Test(arguments: [DatabaseReply.ok, DatabaseReply(.dataStale), DatabaseReply(.permissionDenied)])
  func `an overridden transaction that was sent ends with the reply`(_ reply: DatabaseReply) {
    var machine = machine("n")
    #expect(machine.overridden(at: "n", .set) == [])
    let ending: TransactionMachine.Ending =
      switch reply.status {
      case .ok: .committed(two)
      case .dataStale: .failed(DatabaseError(status: .set), one)
      default: .failed(DatabaseError(status: .permissionDenied), one)
      }
    #expect(machine.replied([1], at: "n", reply) == [.end(1, writeID: 1, ending)])
  }

  @Test func `failing ends the named transactions, or all`() {
    var machine = machine("a", "b", "c")
    let error = DatabaseError(.unavailable, "over")
    #expect(machine.fail(error, of: [2]) == [.end(2, writeID: 2, .failed(error, nil))])
    #expect(machine.fail(error).count == 2)
    #expect(machine.fail(error) == [])
    #expect(machine.replied([1], at: "a", .ok) == [], "a late reply")
    #expect(machine.ran(1, on: one, .aborted) == [], "a late result")
  }

  // MARK: Any order of events

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `in any order of events each transaction ends once, and nothing waits without a reason`(seed: UInt64) {
    var walk = Walk(seed: seed)
    for _ in 0..<400 { walk.step() }
    walk.finish()
  }

  /// A performer that answers at random, and checks after each event what must always hold.
  private struct Walk {
    private static let paths: [DatabasePath] = [.root, "a", "a/b", "a/b/c", "a/d", "e", "e/f"]

    private var machine = TransactionMachine(attempts: 3)
    private var random: SplitMix
    private var groups: [TransactionMachine.Group] = []
    private var begun: Set<Int> = []
    private var ended: Set<Int> = []
    /// The writes that observers see.
    private var shown: Set<Int> = []
    private var lastID = 0
    private var lastWrite = 0

    init(seed: UInt64) { random = SplitMix(seed: seed) }

    mutating func step() {
      let path = Self.paths.randomElement(using: &random) ?? .root
      switch Int.random(in: 0..<10, using: &random) {
      case 0...3:
        lastID += 1
        begun.insert(lastID)
        perform(machine.begin(lastID, at: path, appliesLocally: Bool.random(using: &random)))
      case 4...6: reply(any: [.ok, DatabaseReply(.dataStale), DatabaseReply(.dataStale), DatabaseReply(.invalid)])
      case 7: perform(machine.overridden(at: path, .set))
      case 8: perform(machine.rerun(at: path))
      default: reply(any: [DatabaseReply(.disconnect)])
      }
      check()
    }

    /// Answers everything: nothing is left.
    mutating func finish() {
      while !groups.isEmpty {
        reply(any: [.ok])
        check()
      }
      #expect(machine.transactions.isEmpty)
      #expect(ended == begun)
      #expect(shown.isEmpty)
    }

    private mutating func reply(any replies: [DatabaseReply]) {
      guard !groups.isEmpty, let reply = replies.randomElement(using: &random) else { return }
      let group = groups.remove(at: Int.random(in: groups.indices, using: &random))
      perform(machine.replied(group.transactions, at: group.path, reply))
    }

    private mutating func perform(_ actions: [TransactionMachine.Action]) {
      for (index, action) in actions.enumerated() {
        switch action {
        case .run(let id, _, let excluded):
          #expect(index == actions.count - 1, "a block is the last action")
          #expect(excluded.isSubset(of: shown))
          run(id)
        case .show(_, _, let writeID, _): #expect(shown.insert(writeID).inserted)
        case .takeBack(let writeID): #expect(shown.remove(writeID) != nil)
        case .send(let group):
          #expect(group.writeIDs.isSubset(of: shown) && group.writeIDs.count == group.transactions.count)
          groups.append(group)
        case .end(let id, let writeID, _):
          #expect(ended.insert(id).inserted, "a transaction ends once")
          if let writeID { #expect(shown.remove(writeID) != nil) }
        }
      }
    }

    private mutating func run(_ id: Int) {
      let node = DatabaseNode(.int(Int64(lastWrite)))
      switch Int.random(in: 0..<8, using: &random) {
      case 0: perform(machine.ran(id, on: node, .aborted))
      case 1: perform(machine.ran(id, on: node, .invalid("wrong")))
      default:
        lastWrite += 1
        perform(machine.ran(id, on: node, .result(node, shown: node, writeID: lastWrite)))
      }
    }

    private func check() {
      let transactions = machine.transactions
      #expect(Set(transactions.map(\.id)) == begun.subtracting(ended))
      #expect(Set(transactions.compactMap(\.writeID)) == shown)
      let sent = Set(groups.flatMap(\.transactions))
      for transaction in transactions {
        switch transaction.status {
        case .starting, .doomed: Issue.record("\(transaction) has been left in between.")
        case .sent, .sentDoomed: #expect(sent.contains(transaction.id))
        case .ready:
          // It waits for one at, above or below its path, directly or over a common path above both.
          #expect(!groups.isEmpty)
          #expect(transaction.attempts <= 3)
        }
      }
      for group in groups {
        let others = groups.filter { $0.path != group.path }
        #expect(others.allSatisfy { !$0.path.contains(group.path) })
      }
    }
  }
}

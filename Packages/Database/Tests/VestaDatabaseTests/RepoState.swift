import VestaDatabaseBackend
import VestaDatabaseModel

@testable import VestaDatabase

/// The state of a repo that tests look at.
extension Repo {
  var tree: SyncTree { data.tree }
  var observers: [Int: Observer] { data.observers }
  var transactions: [TransactionMachine.Transaction] { transactionMachine.transactions }
  var gets: [Int: RequestBook.Read] { requestBook.reads }
}

extension TransactionMachine.Transaction {
  /// The observer that keeps its data current.
  var observer: Int { id }
}

/// The waits between attempts to connect, as the machine of a connection makes them.
struct ReconnectDelay {
  private var machine = ConnectionMachine(DatabaseTuning(), needsTokens: false)
  private var now: Int64 = 0

  /// The wait of the next attempt: of the first one, or after the end of the last one.
  mutating func next(using random: inout some RandomNumberGenerator) -> Duration {
    now += 1
    guard machine.interruptions.isEmpty else {
      _ = machine.resumed(.waitingForFirstUse, at: now)
      return .zero
    }
    _ = machine.ended("lost", at: now)
    let number = Double.random(in: 0..<1, using: &random)
    guard case .wait(let pause)? = machine.cleanedUp(at: now, random: { number }).first else { return .zero }
    _ = machine.pauseEnded(at: now)
    return pause
  }

  /// The last attempt leads to a connection that is good.
  mutating func reset() {
    _ = machine.opened(DatabaseHello(timestamp: now, session: "s"), at: now)
    now += 30_001
  }
}

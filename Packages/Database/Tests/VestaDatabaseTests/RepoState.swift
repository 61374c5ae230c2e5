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

import VestaEngineInterop
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop

/// One call on a database: the engine of the database, and the caller with their deadline.
///
/// The extensions in this folder say what each call does: `ReadCalls`, `ListingCalls`, `QueryCalls`, `PartitionCalls`,
/// `CommitCalls`, `TransactionCalls` and `WriteStreamCalls`. A commit has a second value for what happens within its
/// store transaction: `CommitCall`.
struct FirestoreCall: Sendable {
  let engine: DocumentDatabase
  /// The verified context.
  let context: CallContext

  var boundary: ServiceBoundary<FirestoreServiceError> { engine.frame.boundary }
  var name: DatabaseName { engine.name }
  var keys: DocumentDatabaseKeys { engine.keys }
  var store: any OrderedStore { engine.store }
  var options: FirestoreServiceOptions { engine.options }
  var transactions: TransactionPool { engine.transactions }
  var indexes: IndexKeeper { engine.indexes }

  /// Refuses to continue after the deadline, and for a cancelled task.
  ///
  /// - Parameter transaction: A transaction that the next response announces; it ends with a refusal, since the caller
  ///   is not notified of it.
  func checkDeadline(beginning transaction: [UInt8]? = nil) throws(FirestoreServiceError) {
    guard context.deadline != nil else { return }
    do {
      try boundary.check(context)
    } catch {
      if let transaction { _ = try? transactions.end(transaction) }
      throw error
    }
  }

  /// Refuses a batch with a document twice, and one of a user where the options say so.
  func check(batch writes: [Write]) throws(FirestoreServiceError) {
    try WriteRules.checkDistinct(writes)
    guard context.caller.isOwner || !options.refusesBatchWritesOfUsers else {
      throw FirestoreServiceError(.permissionDenied, "Batch writes require admin authentication.")
    }
  }

  /// The caller to ask the guard about; `nil` where no question is needed.
  var guarded: GuardedCaller? { engine.guarded(context) }

  /// Opens a call that follows targets.
  func listen() -> ListenCall { engine.hub.open(until: context.deadline, guarded: guarded) }
}

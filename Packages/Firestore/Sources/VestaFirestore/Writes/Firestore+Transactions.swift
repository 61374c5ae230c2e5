internal import Foundation
internal import VestaConcurrency
internal import VestaFirestoreBackend
internal import VestaFirestoreModel
internal import VestaFirestoreSync

extension Firestore {
  /// Starts a batch of writes that happen together.
  public func batch() -> WriteBatch { WriteBatch(firestore: self) }

  /// Runs a transaction: the block reads with `getDocument`, then writes, and runs again if others were in the way.
  ///
  /// ```swift
  /// let population = try await db.runTransaction { transaction in
  ///   let old = try await transaction.document(berlin).get("population") as? Int ?? 0
  ///   transaction.updateData(["population": old + 1], forDocument: berlin)
  ///   return old + 1
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - options: How often it runs at most; 5 times unless set.
  ///   - block: Called once for each attempt, one after the other. An error that it throws ends the transaction without
  ///     a write, but for an error of Firestore that says to try again.
  /// - Returns: The result of the last run of the block.
  /// - Throws: The error of the block, or ``FirestoreErrorCode`` of the last attempt.
  public func runTransaction<Value>(
    with options: TransactionOptions? = nil, _ block: (Transaction) async throws -> sending Value
  ) async throws -> sending Value {
    let client = try client()
    var retry = TransactionRetry(attempts: (options ?? TransactionOptions()).maxAttempts)
    while true {
      let transaction = Transaction(firestore: self, client: client)
      do {
        let value = try await block(transaction)
        try await transaction.commit()
        return value
      } catch {
        let error = FirestoreErrorCode.publicError(error)
        guard let pause = retry.pause(after: error, random: .random(in: -0.5...0.5)) else { throw error }
        if pause > .zero { try await client.options.clock.sleep(for: pause) }
      }
    }
  }

  /// Runs a transaction with a block of the Firebase SDK's form: it reads synchronously and reports errors by the
  /// pointer.
  ///
  /// - Returns: The result of the block.
  /// - Throws: The error that the block reports; `CancellationError`, at once, when the task is cancelled: a block that
  ///   runs is completed then, and nothing is committed.
  public func runTransaction(
    _ updateBlock: @escaping @Sendable (Transaction, NSErrorPointer) -> sending Any?
  ) async throws -> sending Any? {
    try await runTransaction(with: nil, blocking: updateBlock)
  }

  /// Runs blocks that wait on the threads of a pool, so that they hold up no task.
  ///
  /// A cancelled task ends its wait at once. A block that runs then runs to its end, and nothing of it is committed.
  func runTransaction(
    with options: TransactionOptions?, blocking block: @escaping @Sendable (Transaction, NSErrorPointer) -> Any?
  ) async throws -> Any? {
    let result = try await runTransaction(with: options) { transaction in
      try await Turn<BlockResult>().wait { turn in
        Firestore.transactionPool.async {
          if turn.isOver { return }
          let result = Result { try BlockResult.run(block, transaction) }
          turn.begin()?.resume(with: result)
        }
      }
    }
    return result.any
  }

  /// Not the pool that receivers share: blocks wait for one another at the backend.
  private static let transactionPool = BlockingPool(limit: 64)
}

/// The value of a block, on its way to the caller.
// Sound as @unchecked Sendable: the block that made the value hands it over and ends.
struct BlockResult: @unchecked Sendable {
  let any: Any?

  init(_ any: Any?) { self.any = any }

  /// Calls a block of the Firebase SDK's form; throws the error that it reports.
  static func run(
    _ block: (Transaction, NSErrorPointer) -> Any?, _ transaction: Transaction
  ) throws -> BlockResult {
    var error: NSError?
    let value = withUnsafeMutablePointer(to: &error) { block(transaction, errorPointer($0)) }
    if let error { throw TransactionRetry.firestoreError(error) ?? error }
    return BlockResult(value)
  }
}

/// Decides whether a transaction runs again, and when.
struct TransactionRetry {
  private let retry: Retry
  private var failures = 0

  /// The pauses of the Firebase SDKs: the second attempt is made at once, the third after a second.
  init(attempts: Int) {
    retry = Retry(
      initial: .seconds(1), factor: 1.5, cap: .seconds(60), jitter: .between(0.5, 1.5), attempts: attempts,
      beginsAtOnce: true)
  }

  /// The pause before the next attempt; `nil` if there is none.
  ///
  /// - Parameters:
  ///   - error: The error that ended the attempt. Errors of other kinds than Firestore's are never tried again.
  ///   - random: From -0.5 to 0.5.
  mutating func pause(after error: any Error, random: Double) -> Duration? {
    failures += 1
    guard let code = (error as? FirestoreErrorCode)?.code, isTransient(code) else { return nil }
    return retry.pause(after: failures) { random + 0.5 }
  }

  /// Codes after which the same transaction may succeed.
  private func isTransient(_ code: FirestoreErrorCode.Code) -> Bool {
    switch code {
    case .aborted, .failedPrecondition, .alreadyExists: true
    case .cancelled, .unknown, .deadlineExceeded, .internal, .unavailable, .unauthenticated, .resourceExhausted: true
    default: false
    }
  }

  /// An error of Firestore that a block reports as `NSError`.
  static func firestoreError(_ error: NSError) -> FirestoreErrorCode? {
    if let error = error as any Error as? FirestoreErrorCode { return error }
    guard error.domain == FirestoreErrorDomain, let code = FirestoreErrorCode.Code(rawValue: error.code) else {
      return nil
    }
    return FirestoreErrorCode(code, error.localizedDescription)
  }
}

import Dispatch

extension Firestore {
  /// Completion form of ``runTransaction(with:_:)``.
  @preconcurrency
  public func runTransaction(
    _ updateBlock: @escaping @Sendable (Transaction, NSErrorPointer) -> Any?,
    completion: @escaping @Sendable (Any?, (any Error)?) -> Void
  ) {
    runTransaction(with: nil, block: updateBlock, completion: completion)
  }

  /// Completion form of ``runTransaction(with:_:)`` with options.
  @preconcurrency
  public func runTransaction(
    with options: TransactionOptions?, block updateBlock: @escaping @Sendable (Transaction, NSErrorPointer) -> Any?,
    completion: @escaping @Sendable (Any?, (any Error)?) -> Void
  ) {
    let queue = callbackQueue
    Task.detached {
      do {
        let value = BlockResult(try await self.runTransaction(with: options, blocking: updateBlock))
        queue.async { completion(value.any, nil) }
      } catch {
        queue.async { completion(nil, error) }
      }
    }
  }
}

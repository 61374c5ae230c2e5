import VestaConcurrency
import VestaStoreInterop

/// Does something long on a dedicated thread, so that it takes none of the few that run tasks.
///
/// - Parameter work: Gets a request that is cancelled with the calling task. An error that it throws after that is
///   reported as `CancellationError`.
func offPool<Result: Sendable>(
  _ work: @escaping @Sendable (_ cancellation: WriteRequest) throws -> Result
) async throws -> Result {
  try Task.checkCancellation()
  let request = WriteRequest { _ in }
  return try await withTaskCancellationHandler {
    do {
      return try await BlockingPool.shared.runToEnd { try work(request) }
    } catch {
      throw request.hasBeenCancelled ? CancellationError() : error
    }
  } onCancel: {
    request.cancel()
  }
}

extension SQLiteStore {
  /// Does something long with a fresh connection, which reads the disk; the store stays open for it.
  func offPool<Result: Sendable>(
    _ work: @escaping @Sendable (Connection, _ cancellation: WriteRequest) throws -> Result
  ) async throws -> Result {
    // A reader of the pool holds the store open.
    let lease = try await readers.acquire(inside: bodies.current())
    defer { readers.release(lease) }
    return try await VestaSQLite.offPool { [path] request in
      let connection = try Connection(path: path, operation: "read")
      defer { connection.close() }
      connection.endStatements(when: request)
      return try work(connection, request)
    }
  }
}

extension StoreError {
  /// Does something with files; an error of the system gets the operation and the path.
  static func translating<Result>(
    _ operation: String, _ path: String, _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch let failure as SystemFailure {
      throw StoreError(system: failure, operation: operation, path: path)
    }
  }
}

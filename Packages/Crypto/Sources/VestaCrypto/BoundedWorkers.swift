import VestaConcurrency

/// Runs slow, blocking work on threads that neither tasks nor queues share, a few pieces at a time, first in, first
/// served.
///
/// A task that is cancelled while it waits for its turn leaves the queue at once with `CancellationError`; work that
/// has begun runs to its end.
final class BoundedWorkers: Sendable {
  private let places: FairQueue

  init(limit: Int) { places = FairQueue(limit: limit) }

  func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await places.run {
      try Task.checkCancellation()
      return try await BlockingPool.shared.run(work)
    }
  }

  /// How many wait for their turn; for tests.
  var waitingCount: Int { places.waitingCount }
}

/// Runs tasks on the threads of a ``BlockingPool``: for asynchronous code of the program that may block.
///
/// Between two suspension points a task has a thread of the pool, so code that blocks there stops none of the threads
/// that other tasks share. Its calls run there too, except calls of actors.
///
/// ```swift
/// let task = Task(executorPreference: BlockingExecutor.shared) { await handler(event) }
/// ```
public final class BlockingExecutor: TaskExecutor {
  /// The executor on the pool that all products of a process share.
  public static let shared = BlockingExecutor(.shared)

  private let pool: BlockingPool

  /// An executor.
  ///
  /// - Parameter pool: The threads.
  public init(_ pool: BlockingPool) { self.pool = pool }

  /// Runs a part of a task, up to its next suspension.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    pool.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

import Dispatch
import VestaConcurrency

/// A single thread for tasks, on which one that does not suspend holds up all others.
///
/// ```swift
/// let visits = try await OneThread.visits { _ = try await engine.query(all) }
/// #expect(visits > 10)
/// ```
public enum OneThread {
  private final class Executor: TaskExecutor {
    let queue = DispatchQueue(label: "one thread")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  /// How often another task runs on the thread while a call is under way there.
  ///
  /// - Parameter call: The call; tasks that it starts are on other threads.
  public static func visits(during call: @escaping @Sendable () async throws -> Void) async throws -> Int {
    let (visits, isOver) = (Locked(0), Locked(false))
    let thread = Executor()
    // Both are there before either runs, the call first.
    thread.queue.suspend()
    let long = Task(executorPreference: thread) {
      defer { isOver.withLock { $0 = true } }
      try await call()
    }
    let other = Task(executorPreference: thread) {
      while !isOver.withLock({ $0 }) {
        visits.withLock { $0 += 1 }
        await Task.yield()
      }
    }
    thread.queue.resume()
    let outcome = await long.result
    await other.value
    try outcome.get()
    return visits.withLock { $0 }
  }
}

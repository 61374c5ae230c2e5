import Dispatch
import VestaConcurrency

/// A single thread for tasks, on which one that does not suspend holds up all others.
///
/// ```swift
/// let visits = try await OneThread.visits { _ = try await engine.query(all) }
/// #expect(visits > 10)
/// ```
public enum OneThread {
  /// The thread, as the preference of tasks.
  public final class Executor: TaskExecutor {
    fileprivate let queue = DispatchQueue(label: "one thread")

    /// A thread without tasks.
    public init() {}

    /// Runs a part of a task after those before it.
    public func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  /// Runs two tasks on the thread; both are there before either runs, and the first begins.
  ///
  /// - Parameters:
  ///   - first: The first task; tasks that it starts are on other threads.
  ///   - second: It runs whenever the first one lets it.
  /// - Returns: The values of both.
  public static func run<First: Sendable, Second: Sendable>(
    _ first: @escaping @Sendable () async -> First, beside second: @escaping @Sendable () async -> Second
  ) async -> (First, Second) {
    let thread = Executor()
    thread.queue.suspend()
    let tasks = (
      Task(executorPreference: thread, operation: first), Task(executorPreference: thread, operation: second)
    )
    thread.queue.resume()
    return (await tasks.0.value, await tasks.1.value)
  }

  /// How often another task runs on the thread while a call is under way there.
  ///
  /// - Parameter call: The call.
  public static func visits(during call: @escaping @Sendable () async throws -> Void) async throws -> Int {
    let isOver = Locked(false)
    let (outcome, visits) = await run {
      defer { isOver.withLock { $0 = true } }
      do { return Result<Void, any Error>.success(try await call()) } catch { return .failure(error) }
    } beside: {
      var visits = 0
      while !isOver.withLock({ $0 }) {
        visits += 1
        await Task.yield()
      }
      return visits
    }
    try outcome.get()
    return visits
  }
}

import Dispatch
import Foundation

/// Dedicated threads of a test, outside the cooperative pool.
public enum TestThreads {
  /// Runs `body` on `count` threads at once and waits for all of them.
  public static func run(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let running = DispatchGroup()
    for index in 0..<count {
      running.enter()
      Thread.detachNewThread {
        body(index)
        running.leave()
      }
    }
    running.wait()
  }

  /// Runs `body` on a dedicated thread, and suspends the task until it has returned.
  public static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: body()) }
    }
  }
}

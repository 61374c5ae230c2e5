import Dispatch
import Foundation
import Synchronization
import VestaConcurrency
import VestaCore

/// A library made of components that a test puts together.
///
/// Each test declares its own type, since libraries are types.
protocol TestLibrary: Library {}

extension TestLibrary {
  static var name: String { "\(Self.self)" }
  static var version: String { "1.2.3" }
}

/// A name that no other test uses.
func uniqueName(_ hint: String = #function) -> String {
  let letters = hint.filter { $0.isLetter || $0.isNumber }
  return "\(letters.prefix(60))-\(UUID().uuidString)"
}

/// Runs the body once on each of several threads that start together, and returns when all are done.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async {
  await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
    let ready = DispatchSemaphore(value: 0)
    let go = DispatchSemaphore(value: 0)
    let left = Locked(count)
    for index in 0..<count {
      Thread.detachNewThread {
        ready.signal()
        go.wait()
        body(index)
        if left.withLock({
          $0 -= 1; return $0
        }) == 0 {
          continuation.resume()
        }
      }
    }
    Thread.detachNewThread {
      for _ in 0..<count { ready.wait() }
      for _ in 0..<count { go.signal() }
    }
  }
}

/// Runs a body that blocks on a separate thread, since the cooperative pool has few.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread { continuation.resume(returning: body()) }
  }
}

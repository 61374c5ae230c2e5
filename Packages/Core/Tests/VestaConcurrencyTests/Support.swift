import Dispatch
import Foundation

/// Runs `body` on `count` separate threads and waits for all of them.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
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

/// Starts `body` on a separate thread; the semaphore is signalled when it has returned.
func startThread(_ body: @escaping @Sendable () -> Void) -> DispatchSemaphore {
  let done = DispatchSemaphore(value: 0)
  Thread.detachNewThread {
    body()
    done.signal()
  }
  return done
}

struct Failure: Error, Equatable {
  let code: Int

  init(_ code: Int = 1) { self.code = code }
}

/// Waits for a semaphore without blocking the thread that the task is on.
func waitFor(_ semaphore: DispatchSemaphore) async {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread {
      semaphore.wait()
      continuation.resume()
    }
  }
}

/// The next element of a stream; its iterators share what they iterate over.
func next<Element: Sendable>(of stream: AsyncThrowingStream<Element, any Error>) async throws -> Element? {
  var iterator = stream.makeAsyncIterator()
  return try await iterator.next()
}

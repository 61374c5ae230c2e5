import Dispatch
import Foundation
import VestaConcurrency

/// Runs `body` on `count` threads of its own and waits for all of them.
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

/// Starts `body` on a thread of its own; the semaphore is signalled when it has returned.
func startThread(_ body: @escaping @Sendable () -> Void) -> DispatchSemaphore {
  let done = DispatchSemaphore(value: 0)
  Thread.detachNewThread {
    body()
    done.signal()
  }
  return done
}

/// A door for tasks: closed until it is opened, then open for good.
final class Gate: Sendable {
  private let state = Locked<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Waits until the door is open; a cancellation does not end the wait.
  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }
}

/// A list that any thread may add to.
final class Log<Entry: Sendable>: Sendable {
  private let list = Locked<[Entry]>([])

  var entries: [Entry] { list.withLock { $0 } }

  func add(_ entry: Entry) { list.withLock { $0.append(entry) } }
}

/// An object whose end can be seen.
final class Witness: Sendable {
  let onDeinit: @Sendable () -> Void

  init(onDeinit: @escaping @Sendable () -> Void = {}) { self.onDeinit = onDeinit }

  deinit { onDeinit() }
}

struct Failure: Error, Equatable {
  let code: Int

  init(_ code: Int = 1) { self.code = code }
}

/// A small generator with a seed, so that a failed property test can be run again.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
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

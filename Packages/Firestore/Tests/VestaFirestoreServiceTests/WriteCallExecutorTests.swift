import Dispatch
import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreService

/// Where the requests of a write call are committed.
@Suite(.timeLimit(.minutes(15)))
struct WriteCallExecutorTests {
  /// A thread that counts what it runs, like the loop of a connection.
  private final class Loop: TaskExecutor {
    let count = Locked(0)
    private let queue = DispatchQueue(label: "loop")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      count.withLock { $0 += 1 }
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  @Test func `a write call commits where the task runs that has opened it`() async throws {
    guard #available(macOS 26.4, iOS 26.4, tvOS 26.4, watchOS 26.4, visionOS 26.4, *) else { return }
    let engine = makeEngine()
    let loop = Loop()
    let call = try await withTaskExecutorPreference(loop) {
      try await engine.write(database: database, context: owner)
    }
    let opened = loop.count.withLock { $0 }
    call.send(WriteRequest(database: database))
    call.send(WriteRequest(writes: [update("rooms/a", ["n": .integer(1)])]))
    var responses = 0
    for try await batch in call.responses {
      responses += batch.count
      if responses == 2 { break }
    }
    #expect(loop.count.withLock { $0 } > opened)
    call.cancel()
  }
}

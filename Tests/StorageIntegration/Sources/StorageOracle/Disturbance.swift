import VestaConcurrency
import VestaStorage
import VestaTesting

/// Calls of a task's members at random, from a task and from observers; a pause is always followed by a resume.
struct Disturbance: Sendable {
  private let random: Locked<SplitMix>
  private let cancels: Bool

  init(_ seed: UInt64, cancels: Bool) {
    random = Locked(SplitMix(seed: seed))
    self.cancels = cancels
  }

  /// Disturbs a task until it is over.
  func end(of task: StorageTask) async -> Result<StorageTaskSnapshot, any Error> {
    let calls = Locked(random.withLock { $0.below(4) })
    let statuses = [StorageTaskStatus.progress, .pause, .resume].filter { _ in random.withLock { $0.oneIn(3) } }
    let observe: @Sendable (StorageTaskStatus) -> Void = { status in
      task.observe(status) { snapshot in
        guard
          calls.withLock({
            $0 -= 1; return $0 >= 0
          })
        else { return }
        disturbOnce(snapshot.task)
      }
    }
    let result: Result<StorageTaskSnapshot, any Error> = await withCheckedContinuation { continuation in
      let isOver = Locked(false)
      let end: @Sendable (Result<StorageTaskSnapshot, any Error>) -> Void = { result in
        if isOver.withLock({
          let before = $0; $0 = true; return !before
        }) {
          continuation.resume(returning: result)
        }
      }
      task.observe(.success) { end(.success($0)) }
      task.observe(.failure) { end(.failure($0.error ?? Unnamed())) }
      // An observer that is added after a cancellation is not called, as in Firebase's SDK.
      for status in statuses { observe(status) }
      Task { await disturb(task) }
    }
    return result
  }

  /// Calls members of a task a few times.
  func disturb(_ task: StorageTask) async {
    for _ in 0..<random.withLock({ $0.below(5) }) {
      for _ in 0..<random.withLock({ $0.below(60) }) { await Task.yield() }
      disturbOnce(task)
    }
  }

  private func disturbOnce(_ task: StorageTask) {
    switch random.withLock({ $0.below(cancels ? 8 : 6) }) {
    case 0...2:
      task.pause()
      let turns = random.withLock { $0.below(40) }
      Task {
        for _ in 0..<turns { await Task.yield() }
        task.resume()
      }
    case 3, 4: task.resume()
    case 5: task.enqueue()
    default: task.cancel()
    }
  }

  /// Runs a call in a task that may be cancelled at any time.
  func cancelling<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) async -> Result<Value, any Error> {
    let task = Task { try await body() }
    if cancels {
      for _ in 0..<random.withLock({ $0.below(150) }) { await Task.yield() }
      task.cancel()
    }
    return await task.result
  }

  private struct Unnamed: Error {}
}

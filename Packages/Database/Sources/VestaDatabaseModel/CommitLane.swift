import VestaConcurrency

/// Carries out the jobs of one database one group after another, in the order in which they were submitted.
///
/// Jobs that wait while a group runs are the next group: many writers share a commit, and one writer has it alone.
public final class CommitLane<Job: Sendable>: Sendable {
  private struct State {
    var waiting: [Job] = []
    var isRunning = false
    var idle = Waiters()
  }

  private let state = Locked(State())
  private let limit: Int

  /// A lane.
  ///
  /// - Parameter limit: The most jobs of one group.
  public init(limit: Int) { self.limit = limit }

  /// Adds a job; returns at once, and the job never runs on the caller's stack.
  ///
  /// - Parameters:
  ///   - job: The job.
  ///   - process: Carries a group out; the same for all jobs of a lane.
  public func submit(_ job: Job, process: @escaping @Sendable ([Job]) async -> Void) {
    let mustStart = state.withLock { state in
      state.waiting.append(job)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if mustStart { Task { await self.run(process) } }
  }

  /// Whether no job runs or waits.
  public var isIdle: Bool { state.withLock { !$0.isRunning } }

  /// Returns when no job runs or waits.
  public func idle() async { await state.wait(in: \.idle) { !$0.isRunning } }

  private func run(_ process: @Sendable ([Job]) async -> Void) async {
    while let group = next() { await process(group) }
  }

  private func next() -> [Job]? {
    let (group, idle) = state.withLock { state -> ([Job]?, Waiters) in
      guard !state.waiting.isEmpty else {
        state.isRunning = false
        return (nil, state.idle.takeAll())
      }
      let group = Array(state.waiting.prefix(limit))
      state.waiting.removeFirst(group.count)
      return (group, Waiters())
    }
    idle.resume()
    return group
  }
}

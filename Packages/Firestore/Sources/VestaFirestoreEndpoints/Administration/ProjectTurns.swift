import VestaConcurrency

/// Lets one caller of each project in at a time, in the order of arrival; callers of other projects wait for none.
///
/// A project has a queue while it has callers.
final class ProjectTurns: Sendable {
  private struct Line {
    let queue = FairQueue(limit: 1)
    var callers = 0
  }

  private let lines = Locked<[String: Line]>([:])

  /// The number of projects with callers, for tests.
  var count: Int { lines.withLock { $0.count } }

  /// Waits for the turn of the caller and runs `body`.
  ///
  /// - Parameters:
  ///   - project: The project of the caller.
  ///   - body: Runs on the calling task.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`, or `CancellationError`.
  func run<Result>(in project: String, _ body: () async throws -> Result) async throws -> Result {
    let queue = lines.withLock { lines in
      var line = lines[project] ?? Line()
      line.callers += 1
      lines[project] = line
      return line.queue
    }
    defer { leave(project) }
    return try await queue.run(body)
  }

  private func leave(_ project: String) {
    lines.withLock { lines in
      guard var line = lines[project] else { return }
      line.callers -= 1
      lines[project] = line.callers == 0 ? nil : line
    }
  }
}

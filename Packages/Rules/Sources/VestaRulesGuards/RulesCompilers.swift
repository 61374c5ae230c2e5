import VestaConcurrency

/// The threads that compile rules: a large file takes a tenth of a second, and no task may wait for it.
enum RulesCompilers {
  private static let threads = BlockingPool(limit: 4, isBackground: true)

  /// Compiles on a separate thread, and returns to the caller's executor.
  static func run<Rules: Sendable, Failure: Error>(
    _ compile: @escaping @Sendable () throws(Failure) -> Rules
  ) async throws(Failure) -> Rules {
    try await threads.runToEnd(compile)
  }
}

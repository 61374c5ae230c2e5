import VestaConcurrency

/// Keeps the exports of a server out of its imports.
///
/// An export in the middle of an import would have a part of the data, and often takes the place of the directory that
/// is being imported.
final class ImportGate: Sendable {
  private struct State {
    var running = 0
    var begun = 0
  }

  private let state = Locked(State())

  /// Imports; meanwhile nothing is exported.
  func importing(_ body: () async throws(ServerError) -> Void) async throws(ServerError) {
    state.withLock { state in
      state.running += 1
      state.begun += 1
    }
    defer { state.withLock { $0.running -= 1 } }
    try await body()
  }

  /// Refuses an export during an import.
  ///
  /// - Parameter start: The result of the check before the export, for the check after it; then an import that has begun
  ///   since is a reason as well.
  /// - Returns: The number of imports that have begun.
  @discardableResult
  func checkExport(since start: Int? = nil) throws(ServerError) -> Int {
    let state = state.withLock { $0 }
    guard state.running == 0, start ?? state.begun == state.begun else {
      throw ServerError("An import is running: nothing is exported before it has ended. Try again then.")
    }
    return state.begun
  }
}

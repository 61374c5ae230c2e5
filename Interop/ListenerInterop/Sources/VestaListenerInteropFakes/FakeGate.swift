/// A door in a fake's asynchronous calls: a test closes it to hold calls back, and opens it again.
///
/// ```swift
/// await gate.close()
/// let call = Task { try await fake.getToken(forcingRefresh: true) }  // waits at the gate
/// await gate.open()
/// ```
public actor FakeGate {
  private var isOpen = true
  private var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
  private var nextID = 0

  /// An open gate.
  public init() {}

  /// Holds back every call that comes from now on.
  public func close() { isOpen = false }

  /// Lets every waiting call go on.
  public func open() {
    isOpen = true
    let released = waiting
    waiting = [:]
    for continuation in released.values { continuation.resume() }
  }

  /// Goes on at once while the gate is open; otherwise waits until it opens.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  public func pass() async throws {
    try Task.checkCancellation()
    guard !isOpen else { return }
    nextID += 1
    let id = nextID
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { wait($0, id: id) }
    } onCancel: {
      Task { await giveUp(id) }
    }
  }

  // The continuation is in place before the check, so a cancellation finds either the one or the other.
  private func wait(_ continuation: CheckedContinuation<Void, any Error>, id: Int) {
    guard !Task.isCancelled else { return continuation.resume(throwing: CancellationError()) }
    waiting[id] = continuation
  }

  private func giveUp(_ id: Int) {
    waiting.removeValue(forKey: id)?.resume(throwing: CancellationError())
  }
}

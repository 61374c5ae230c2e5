/// The admission of a store: any number of readers at once, one writer at a time, and an orderly end.
///
/// - Writers get their turn in order of arrival; one that is cancelled while it waits leaves at once.
/// - A call that would wait for itself, because it is made inside the body of the running writer, is refused.
/// - ``close()`` refuses waiting and later callers, and returns when the last one inside has left.
///
/// ```swift
/// let turns = WriterTurns { refusal, operation in refusal == .closed ? StoreError.closed : StoreError.nested }
/// try await turns.write { try await body(transaction) }
/// ```
public final class WriterTurns: Sendable {
  /// Why a call is refused.
  public enum Refusal: Sendable, Hashable {
    /// The store is closed.
    case closed
    /// The call is made inside the body of a writer of the same store, and would wait for it.
    case nested
  }

  private final class Scope: Sendable {
    let outer: Scope?
    init(outer: Scope?) { self.outer = outer }
  }

  @TaskLocal private static var current: Scope?

  private struct State {
    var readers = 0
    var isClosed = false
    var running: Scope?
    var closers = Waiters()
  }

  private let writers = FairQueue(limit: 1)
  private let state = Locked(State())
  private let error: @Sendable (Refusal, _ operation: String) -> any Error

  /// An open store without readers and writers.
  ///
  /// - Parameter error: The error for a refused call.
  public init(error: @escaping @Sendable (_ refusal: Refusal, _ operation: String) -> any Error) { self.error = error }

  /// The number of writers that wait for their turn.
  public var waitingWriters: Int { writers.waitingCount }

  /// Whether the calling task runs inside the body of the running writer.
  public var isInsideWriter: Bool {
    guard let running = state.withLock({ $0.running }) else { return false }
    var scope = Self.current
    while let next = scope {
      if next === running { return true }
      scope = next.outer
    }
    return false
  }

  /// Runs a reader at once.
  ///
  /// - Throws: The error of `body`, or the error for `closed`.
  public func read<Result>(_ body: () async throws -> Result) async throws -> Result {
    try state.withLock { state in
      if state.isClosed { throw error(.closed, "read") }
      state.readers += 1
    }
    defer { endRead() }
    return try await body()
  }

  /// Waits for the writer's turn and runs a writer.
  ///
  /// - Throws: The error of `body`, `CancellationError` while it waited, or the error for `closed` or `nested`.
  public func write<Result>(_ body: () async throws -> Result) async throws -> Result {
    if isInsideWriter { throw error(.nested, "write") }
    try await writers.enter()
    let scope = Scope(outer: Self.current)
    state.withLock { $0.running = scope }
    defer {
      state.withLock { $0.running = nil }
      writers.leave()
    }
    return try await Self.$current.withValue(scope) { try await body() }
  }

  /// Refuses further calls, and waits until it is empty.
  ///
  /// - Returns: Whether this call has closed the store; the first one frees what the store holds.
  /// - Throws: The error for `nested`.
  @discardableResult
  public func close() async throws -> Bool {
    if isInsideWriter { throw error(.nested, "close") }
    let isFirst = state.withLock { state in
      defer { state.isClosed = true }
      return !state.isClosed
    }
    writers.close(throwing: error(.closed, "write"))
    await writers.drained()
    await state.wait(in: \.closers) { $0.readers == 0 }
    return isFirst
  }

  private func endRead() {
    let closers = state.withLock { state in
      state.readers -= 1
      return state.readers == 0 ? state.closers.takeAll() : Waiters()
    }
    closers.resume()
  }
}

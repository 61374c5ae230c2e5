import VestaConcurrency

/// The error type of a product's service: a canonical code and a message.
public protocol ServiceFailure: Error, Sendable {
  /// A failure with a code that every service has, such as a deadline that has passed.
  init(_ code: ServiceCode, _ message: String)

  /// The failure for an error of something that the engine uses, such as its store; `nil` for an unknown error.
  ///
  /// - Parameter error: Neither a failure of this type nor a `CancellationError`.
  init?(translating error: any Error)
}

/// The edge of an engine: each call of its backend protocol goes through ``serve(_:_:)``.
///
/// - A call whose task is cancelled or whose deadline has passed does not begin.
/// - While the call runs, the deadline cancels it. An engine commits in one transaction, and a store refuses the commit
///   of a cancelled task, so the call then has changed nothing, and fails with `DEADLINE_EXCEEDED`. A call that was
///   done in spite of that returns its result.
/// - Every error comes out as the product's type. Of an unknown error only the type's name is passed on, because its
///   text may hold user data; `report` gets the error itself.
///
/// ```swift
/// func signUp(_ request: SignUpRequest, context: CallContext) async throws(AuthServiceError) -> SignUpResponse {
///   try await boundary.serve(context) { try await AccountCall(…).signUp(request) }
/// }
/// ```
public struct ServiceBoundary<Failure: ServiceFailure>: Sendable {
  private let clock: ServiceClock
  private let report: @Sendable (any Error) -> Void

  /// A boundary.
  ///
  /// - Parameters:
  ///   - clock: The clock of the service, by which deadlines count.
  ///   - report: Logs an error that no `init(translating:)` knows.
  public init(clock: ServiceClock, report: @escaping @Sendable (any Error) -> Void = { _ in }) {
    self.clock = clock
    self.report = report
  }

  /// Refuses a call that is cancelled or late: for calls that hand out responses while they run.
  ///
  /// - Parameter context: Its deadline counts.
  /// - Throws: `CANCELLED` on a cancelled task, `DEADLINE_EXCEEDED` from the deadline on.
  public func check(_ context: CallContext) throws(Failure) {
    if Task.isCancelled { throw Failure(.cancelled, "The call was cancelled.") }
    if let deadline = context.deadline, clock.now() >= deadline { throw Self.late }
  }

  /// Runs a call.
  ///
  /// - Parameters:
  ///   - context: Its deadline counts.
  ///   - body: The call. Without a deadline it runs on the calling task; with one it runs on a child of it, so that the
  ///     deadline can cancel it alone.
  /// - Returns: The result of `body`.
  /// - Throws: The product's failure, whatever `body` threw.
  public func serve<Result: Sendable>(
    _ context: CallContext, _ body: @escaping @Sendable () async throws -> Result
  ) async throws(Failure) -> Result {
    try check(context)
    do {
      guard let deadline = context.deadline else { return try await body() }
      return try await inTime(until: deadline, body)
    } catch {
      throw failure(error, context)
    }
  }

  /// The failure for any error of a call: for calls that report their end otherwise than by returning, such as streams.
  public func failure(_ error: any Error, _ context: CallContext = CallContext()) -> Failure {
    if let failure = error as? Failure { return failure }
    if error is CancellationError {
      if let deadline = context.deadline, clock.now() >= deadline { return Self.late }
      return Failure(.cancelled, "The call was cancelled.")
    }
    if let failure = Failure(translating: error) { return failure }
    report(error)
    return Failure(.internal, "The service failed unexpectedly (\(type(of: error))); its log has more.")
  }

  private func inTime<Result: Sendable>(
    until deadline: Int64, _ body: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    let task = Task { try await body() }
    let timer = clock.schedule(at: deadline) { task.cancel() }
    defer { timer.cancel() }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  private static var late: Failure { Failure(.deadlineExceeded, "The deadline of the call has passed.") }
}

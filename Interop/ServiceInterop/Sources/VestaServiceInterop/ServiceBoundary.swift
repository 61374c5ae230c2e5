import VestaConcurrency

/// The error type of a product's service: a status, and what the product adds.
public protocol ServiceFailure: Error, Sendable {
  /// The failure for a status; it keeps the code, the message and the details.
  init(_ status: ServiceStatus)

  /// The code, the message and the details.
  var status: ServiceStatus { get }
}

extension ServiceFailure {
  /// A failure with a code that every service has, such as a deadline that has passed.
  ///
  /// - Parameters:
  ///   - code: The canonical code.
  ///   - message: The cause, and what to do about it.
  public init(_ code: ServiceCode, _ message: String) { self.init(ServiceStatus(code, message)) }

  /// The time after which the caller should try again; `nil` where the service does not say.
  public var retryAfter: Duration? { status.retryAfter }
}

/// The edge of an engine: each call of its backend protocol passes through ``serve(_:_:)``.
///
/// - A call whose task is cancelled or whose deadline has passed does not begin.
/// - The caller is verified before the call begins, within its deadline; the call gets the verified context.
/// - While the call runs, the deadline cancels it. An engine commits in one transaction, and a store refuses the commit
///   of a cancelled task, so the call then has changed nothing, and fails with `DEADLINE_EXCEEDED`. A call that was
///   done in spite of that returns its result.
/// - Every error leaves as the product's type. Of an unknown error only the type's name is passed on, because its
///   text may hold user data; `report` gets the error itself.
///
/// ```swift
/// func signUp(_ request: SignUpRequest, context: CallContext) async throws(AuthServiceError) -> SignUpResponse {
///   try await boundary.serve(context) { context in try await AccountCall(context, …).signUp(request) }
/// }
/// ```
public struct ServiceBoundary<Failure: ServiceFailure>: Sendable {
  private let clock: ServiceClock
  private let callers: CallerCheck?
  private let report: @Sendable (any Error) -> Void
  private let translate: @Sendable (any Error) -> Failure?

  /// A boundary.
  ///
  /// - Parameters:
  ///   - clock: The clock of the service, by which deadlines count.
  ///   - callers: The check of who calls; `nil` passes every context on as it is.
  ///   - report: Logs an error that is not translated.
  ///   - translate: Returns the failure for an error of something that the engine uses, such as its store; `nil` for an
  ///     unknown error. It is asked neither for a failure of the product nor for a cancellation.
  public init(
    clock: ServiceClock, callers: CallerCheck? = nil, report: @escaping @Sendable (any Error) -> Void = { _ in },
    translate: @escaping @Sendable (any Error) -> Failure? = { _ in nil }
  ) {
    self.clock = clock
    self.callers = callers
    self.report = report
    self.translate = translate
  }

  /// Refuses a call that is cancelled or late: for calls that hand out responses while they run.
  ///
  /// - Parameter context: Its deadline counts.
  /// - Throws: `CANCELLED` on a cancelled task, `DEADLINE_EXCEEDED` from the deadline on.
  public func check(_ context: CallContext) throws(Failure) {
    if Task.isCancelled { throw Failure(.cancelled, "The call was cancelled.") }
    if let deadline = context.deadline, clock.now() >= deadline { throw Self.late }
  }

  /// Verifies the caller of a call that hands out responses while it runs, or outlives its beginning.
  ///
  /// - Parameter context: The context as the caller sent it.
  /// - Returns: The verified context.
  /// - Throws: As ``check(_:)``; `UNAUTHENTICATED` for a credential that is not valid.
  public func admit(_ context: CallContext) async throws(Failure) -> CallContext {
    try check(context)
    guard let callers, callers.concerns(context) else { return context }
    do {
      if let known = try callers.verifiedAtOnce(context) { return known }
      guard let deadline = context.deadline else { return try await callers.verified(context) }
      return try await inTime(until: deadline, context) { try await callers.verified($0) }
    } catch {
      throw failure(error, context)
    }
  }

  /// Runs a call.
  ///
  /// - Parameters:
  ///   - context: Its deadline counts.
  ///   - body: The call; it gets the verified context. Without a deadline it runs on the calling task; with one it
  ///     runs on a child of it, so that the deadline can cancel it alone.
  /// - Returns: The result of `body`.
  /// - Throws: The product's failure, whatever `body` threw.
  public func serve<Result: Sendable>(
    _ context: CallContext, _ body: @escaping @Sendable (CallContext) async throws -> Result
  ) async throws(Failure) -> Result {
    try check(context)
    do {
      var verifier = callers.flatMap { $0.concerns(context) ? $0 : nil }
      let known = try verifier?.verifiedAtOnce(context)
      if known != nil { verifier = nil }
      return try await serve(known ?? context, verifier, body)
    } catch {
      throw failure(error, context)
    }
  }

  private func serve<Result: Sendable>(
    _ context: CallContext, _ verifier: CallerCheck?,
    _ body: @escaping @Sendable (CallContext) async throws -> Result
  ) async throws -> Result {
    guard let deadline = context.deadline else {
      guard let verifier else { return try await body(context) }
      return try await body(try await verifier.verified(context))
    }
    return try await inTime(until: deadline, context) { context in
      guard let verifier else { return try await body(context) }
      return try await body(try await verifier.verified(context))
    }
  }

  /// The failure for any error of a call: for calls that report their end otherwise than by returning, such as streams.
  public func failure(_ error: any Error, _ context: CallContext = CallContext()) -> Failure {
    if let failure = error as? Failure { return failure }
    let status = error as? ServiceStatus
    if error is CancellationError || status?.code == .cancelled {
      if let deadline = context.deadline, clock.now() >= deadline { return Self.late }
      return Failure(.cancelled, "The call was cancelled.")
    }
    if let status { return Failure(status) }
    if let failure = translate(error) { return failure }
    report(error)
    return Failure(.internal, "The service failed unexpectedly (\(type(of: error))); its log has more.")
  }

  private func inTime<Result: Sendable>(
    until deadline: Int64, _ context: CallContext, _ body: @escaping @Sendable (CallContext) async throws -> Result
  ) async throws -> Result {
    let task = Task { try await body(context) }
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

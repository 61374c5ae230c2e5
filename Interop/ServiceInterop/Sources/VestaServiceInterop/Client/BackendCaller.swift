public import VestaAppCheckInterop
public import VestaAuthInterop
public import VestaConcurrency

/// The calls of a client: with the tokens of Auth and App Check, a locale and a deadline, and with retries.
///
/// - The deadline counts from before the tokens are fetched.
/// - A call that fails with `UNAUTHENTICATED` is made once more with a refreshed ID token.
/// - With a ``retry``, a call that fails with a transient code is made again, after the longer of the client's pause
///   and the one that the service asks for.
///
/// ```swift
/// let caller = BackendCaller(auth: auth, appCheck: appCheck, context: CallContext(locale: "de"))
/// let response = try await caller.call(timeout: .seconds(10)) { try await backend.fetch(request, context: $0) }
/// ```
public struct BackendCaller: Sendable {
  /// Auth, where the app has it; calls without it carry no credential.
  public var auth: (any AuthInterop)?

  /// App Check, where the app has it.
  public var appCheck: (any AppCheckInterop)?

  /// The context of every call: project, key, locale, client.
  public var context: CallContext

  /// The clock of deadlines and pauses.
  public var clock: ServiceClock

  /// The pauses between attempts.
  public var retry: Retry

  /// Whether the same call may be made again after a failure with a code.
  public var isRetried: @Sendable (ServiceCode) -> Bool

  /// Returns random numbers from 0 up to 1.
  public var random: @Sendable () -> Double

  /// The product's error for an ID token that cannot be fetched; cancellation is not one.
  public var tokenError: @Sendable (any Error) -> any Error

  /// A caller.
  ///
  /// - Parameters:
  ///   - auth: Auth, where the app has it.
  ///   - appCheck: App Check, where the app has it.
  ///   - context: The context of every call.
  ///   - clock: The clock of deadlines and pauses.
  ///   - retry: The pauses between attempts; one attempt unless given.
  ///   - isRetried: Whether the same call may be made again after a failure with a code.
  ///   - random: Returns random numbers from 0 up to 1.
  ///   - tokenError: The product's error for an ID token that cannot be fetched; that of Auth unless given.
  public init(
    auth: (any AuthInterop)? = nil, appCheck: (any AppCheckInterop)? = nil, context: CallContext = CallContext(),
    clock: ServiceClock = .system, retry: Retry = .never,
    isRetried: @escaping @Sendable (ServiceCode) -> Bool = \.isTransient,
    random: @escaping @Sendable () -> Double = Retry.systemRandom,
    tokenError: @escaping @Sendable (any Error) -> any Error = { $0 }
  ) {
    self.auth = auth
    self.appCheck = appCheck
    self.context = context
    self.clock = clock
    self.retry = retry
    self.isRetried = isRetried
    self.random = random
    self.tokenError = tokenError
  }

  /// The kind of App Check token that a call carries.
  public enum AppCheckUse: Sendable, Hashable {
    /// The current token.
    case current
    /// A token for this call alone, for a service that accepts each token once.
    case limited
  }

  /// The context of one call, with its tokens.
  ///
  /// - Parameters:
  ///   - timeout: The time that the caller waits; `nil` for no deadline.
  ///   - refreshing: Whether the ID token is refreshed.
  ///   - appCheckUse: The kind of App Check token.
  /// - Throws: ``tokenError`` for a user whose token cannot be fetched; `CancellationError`.
  public func context(
    timeout: Duration? = nil, refreshing: Bool = false, appCheckUse: AppCheckUse = .current
  ) async throws -> CallContext {
    let context = timeout.map { self.context.limited(to: $0, by: clock) } ?? context
    return try await tokens(for: context, refreshing: refreshing, appCheckUse)
  }

  private func tokens(
    for context: CallContext, refreshing: Bool, _ appCheckUse: AppCheckUse
  ) async throws -> CallContext {
    var context = context
    if let token = try await idToken(refreshing: refreshing) { context.caller = .credential(.idToken(token)) }
    switch appCheckUse {
    case .current: context.appCheck = AppCheckState(await appCheck?.getToken(forcingRefresh: false).token)
    case .limited: context.appCheck = AppCheckState(await appCheck?.getLimitedUseToken().token)
    }
    return context
  }

  private func idToken(refreshing: Bool) async throws -> String? {
    do {
      return try await auth?.getToken(forcingRefresh: refreshing)
    } catch let error where !(error is CancellationError) {
      throw tokenError(error)
    }
  }

  /// Makes a call.
  ///
  /// - Parameters:
  ///   - timeout: The time that the caller waits, attempts and pauses included; `nil` for no deadline.
  ///   - appCheckUse: The kind of App Check token.
  ///   - operation: Calls the backend.
  /// - Returns: The result of `operation`.
  /// - Throws: The failure of the last attempt; ``tokenError`` for a user whose token cannot be fetched.
  public func call<Response: Sendable>(
    timeout: Duration? = nil, appCheckUse: AppCheckUse = .current,
    _ operation: (CallContext) async throws -> Response
  ) async throws -> Response {
    let base = timeout.map { context.limited(to: $0, by: clock) } ?? context
    var failures = 0
    var (refreshes, hasRefreshed) = (false, false)
    while true {
      let context = try await tokens(for: base, refreshing: refreshes, appCheckUse)
      do {
        return try await operation(context)
      } catch let failure as any ServiceFailure {
        let status = failure.status
        refreshes = status.code == .unauthenticated && !hasRefreshed && auth != nil && context.caller.isCredential
        if refreshes {
          hasRefreshed = true
          continue
        }
        failures += 1
        guard let pause = pause(after: failures, status, until: base.deadline) else { throw failure }
        // A task that is cancelled during the pause gets its `CancellationError`.
        try await clock.sleep(for: pause)
      }
    }
  }

  private func pause(after failures: Int, _ status: ServiceStatus, until deadline: Int64?) -> Duration? {
    guard isRetried(status.code), let pause = retry.pause(after: failures, random: random) else { return nil }
    let longer = max(pause, status.retryAfter ?? .zero)
    if let deadline, longer.microseconds >= deadline - clock.now() { return nil }
    return longer
  }
}

extension CallContext.Caller {
  fileprivate var isCredential: Bool { if case .credential = self { true } else { false } }
}

import VestaBytes
import VestaConcurrency
import VestaCore
import VestaFunctionsBackend
import VestaFunctionsValues
import VestaHTTPFunctionsBackend
import VestaServiceInterop
import VestaTransportInterop

/// The embedded functions service: runs the closures of a ``FunctionRegistry``.
///
/// A call is checked, waits for a place, and runs in a separate task, on threads that the function may block.
/// Functions share the places: one whose calls take long does not hold up the others. A function that calls a
/// function returns its place until that has ended; see ``CallPlace``. The caller waits for the first of three:
/// the function's end, the deadline, its own cancellation. In the latter two the function's task is cancelled and the
/// caller continues at once; the place is given back when the function has really ended, so that functions that ignore
/// their cancellation cannot pile up.
final class FunctionsEngine: FunctionsBackend, HTTPFunctionsBackend {
  let registry: FunctionRegistry
  let options: FunctionsServiceOptions
  /// The functions of other programs that have events; `nil` outside of a server.
  let triggers: RemoteTriggers?
  /// The check of who calls; each function says whether it enforces App Check.
  private let callers: CallerCheck
  /// Whether the verifier of App Check tokens keeps a record of them.
  private let canConsume: Bool
  private let clock: ServiceClock
  private let places: FairShares<String>
  let deadlines: ServiceDeadlines
  /// The number of calls that run or wait.
  private let admitted = Locked(0)
  private let maximumAdmitted: Int

  init(
    registry: FunctionRegistry, options: FunctionsServiceOptions, callers: CallerCheck = CallerCheck(),
    triggers: RemoteTriggers? = nil, clock: ServiceClock = .system
  ) {
    self.registry = registry
    self.triggers = triggers
    self.options = options
    var callers = callers
    if let verify = options.verifyAppCheckToken {
      callers.apps = AppCheckClosure(verify: verify, consume: options.consumeAppCheckToken)
    }
    self.callers = callers
    canConsume = callers.apps != nil && (options.verifyAppCheckToken == nil || options.consumeAppCheckToken != nil)
    self.clock = clock
    places = FairShares(limit: options.maximumConcurrentCalls, bound: .soft)
    deadlines = ServiceDeadlines(clock)
    let (sum, overflows) = max(1, options.maximumConcurrentCalls)
      .addingReportingOverflow(max(0, options.maximumWaitingCalls))
    maximumAdmitted = overflows ? .max : sum
  }

  /// Refuses calls from now on; running ones continue.
  func close() { places.close(throwing: FunctionsServiceError(.unavailable, "The app was deleted.")) }

  /// Ends event functions and schedules: running ones are cancelled, and deliveries are remembered.
  func closeEvents() async {
    await registry.events.close()
    await registry.schedules?.close()
  }

  /// The number of functions that run.
  var runningCount: Int { places.runningCount }

  /// The number of calls that wait for a place.
  var waitingCount: Int { places.waitingCount }

  // MARK: FunctionsBackend

  func call(_ call: FunctionCall, context: CallContext) async throws -> JSONValue {
    do {
      let work = try await prepared(call, context, channel: nil)
      return try await run(work)
    } catch {
      throw failure(error, call.target)
    }
  }

  func stream(_ call: FunctionCall, context: CallContext) -> AsyncThrowingStream<FunctionEvent, any Error> {
    let reader = StreamReader(capacity: options.tuning.unreadMessages) { [self] channel in
      Task {
        do {
          let work = try await prepared(call, context, channel: channel)
          channel.finish(.success(try await run(work)))
        } catch {
          channel.finish(.failure(failure(error, call.target)))
        }
      }
    }
    return AsyncThrowingStream { try await reader.next() }
  }

  // MARK: HTTPFunctionsBackend

  func kind(of target: FunctionTarget) -> FunctionKind? {
    if registry.requestFunction(for: target) != nil { return .request }
    return (try? registry.function(for: target)) == nil ? nil : .callable
  }

  func respond(
    to request: HTTPRequest, by target: FunctionTarget, context: CallContext
  ) async throws -> HTTPResponse {
    do {
      let now = clock.now()
      if let deadline = context.deadline, deadline <= now { throw FailureRules.late }
      guard let function = registry.requestFunction(for: target) else { throw FailureRules.notFound(target) }
      let deadline = limit(function.options.timeout, from: now, context)
      return try await run(Work(name: "\(target)", deadline: deadline) { try await function.respond(to: request) })
    } catch {
      throw failure(error, target)
    }
  }

  // MARK: Running

  /// A call that has been checked.
  private struct Work<Value: Sendable>: Sendable {
    /// The name, for which the place counts.
    let name: String
    /// Microseconds since 1970.
    let deadline: Int64
    let run: @Sendable () async throws -> Value
  }

  /// The end of a call: the function's own time limit, or the caller's if that is earlier.
  private func limit(_ timeout: Duration?, from now: Int64, _ context: CallContext) -> Int64 {
    let (limit, overflows) = now.addingReportingOverflow((timeout ?? options.timeout).microseconds)
    return min(overflows ? .max : limit, context.deadline ?? .max)
  }

  private func prepared(
    _ call: FunctionCall, _ context: CallContext, channel: StreamChannel?
  ) async throws -> Work<JSONValue> {
    let now = clock.now()
    if let deadline = context.deadline, deadline <= now { throw FailureRules.late }
    let function = try registry.function(for: call.target)
    do throws(CallableValue.Failure) {
      try CallableValue.check(call.data)
    } catch {
      throw FunctionsServiceError(.invalidArgument, error.description)
    }
    let caller = try await verified(context, for: function.options)
    return Work(name: "\(call.target)", deadline: limit(function.options.timeout, from: now, context)) { [self] in
      // Consumed by a call that runs: one that is refused, as the engine is full, may be made again.
      let isConsumed = try await isConsumed(caller, sent: context.appCheck, for: function.options)
      let request = CallableRequest(
        auth: caller.user.map { CallableRequest.Auth(uid: $0.uid, token: $0.claims) }, appID: caller.appCheck.appID,
        isAppCheckTokenConsumed: isConsumed, instanceIDToken: call.instanceIDToken,
        acceptsStreaming: channel != nil, rawData: call.data)
      return try await function.run(request, channel)
    }
  }

  /// The context with its caller verified, and with its App Check token where the function enforces App Check.
  private func verified(_ context: CallContext, for options: CallableOptions) async throws -> CallContext {
    if options.consumesAppCheckToken, !canConsume { throw FailureRules.noConsumption }
    var check = callers
    check.enforcesAppCheck = options.enforcesAppCheck
    guard check.concerns(context) else { return context }
    if check.enforcesAppCheck, check.apps == nil, context.appCheck.appID == nil { throw FailureRules.noAppCheck }
    return try await check.verified(context)
  }

  /// Consumes the App Check token of a verified caller where the function asks for it.
  private func isConsumed(
    _ caller: CallContext, sent: AppCheckState, for options: CallableOptions
  ) async throws -> Bool? {
    guard options.consumesAppCheckToken, caller.appCheck.appID != nil else { return nil }
    guard let token = sent.unverifiedToken, let apps = callers.apps else { throw FailureRules.nothingToConsume }
    return try await apps.consume(appCheckToken: token, project: caller.project)
  }

  private func run<Value>(_ work: Work<Value>) async throws -> Value {
    guard let outer = CallPlace.current, outer.isOf(places) else { return try await start(work) }
    return try await outer.lend { try await start(work) }
  }

  private func start<Value>(_ work: Work<Value>) async throws -> Value {
    let running = RunningCall()
    defer { running.finish() }
    return try await Turn<Value>().wait { turn in
      guard admit() else {
        turn.begin()?.resume(throwing: FailureRules.crowded)
        return
      }
      running.begin(Task(executorPreference: BlockingExecutor.shared) { [self] in await perform(work, turn) })
      let timer = deadlines.add(at: work.deadline) {
        guard let caller = turn.begin() else { return }
        running.cancel()
        caller.resume(throwing: FailureRules.late)
      }
      running.watch(timer)
    } onCancel: { _ in
      running.cancel()
    }
  }

  /// Counted here and not in the queue: a flood of calls arrives faster than their tasks reach the queue.
  private func admit() -> Bool {
    admitted.withLock { count in
      guard count < maximumAdmitted else { return false }
      count += 1
      return true
    }
  }

  private func perform<Value>(_ work: Work<Value>, _ turn: Turn<Value>) async {
    let result: Result<Value, any Error>
    do {
      let place = CallPlace(places, work.name)
      try await place.enter()
      defer { place.leave() }
      result = .success(try await CallPlace.$current.withValue(place) { try await work.run() })
    } catch {
      result = .failure(error)
    }
    // The place is free before the caller continues.
    admitted.withLock { $0 -= 1 }
    turn.begin()?.resume(with: result)
  }

  private func failure(_ error: any Error, _ target: FunctionTarget) -> FunctionsServiceError {
    if let failure = FailureRules.failure(for: error) { return failure }
    log.error("I-FUS000001", "The function \(target) failed: \(error)")
    return FailureRules.unexpected
  }
}

private let log = Logger(service: "VestaFunctionsService")

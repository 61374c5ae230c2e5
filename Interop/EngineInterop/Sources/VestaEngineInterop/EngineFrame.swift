import VestaConcurrency
public import VestaEventsInterop
public import VestaServiceInterop
public import VestaStoreInterop

/// The part that all engines have in common: the store, the edge of its calls, its events, and the order of its end.
///
/// - The store is opened by the first call, once, and again by the next call where that failed. Nothing is opened by
///   the initializer.
/// - Each call passes through ``serve(_:_:)``: deadline, cancellation, check of the caller, and one table of errors
///   (``EngineErrorTable``).
/// - Commits are observed from the opening on, including the commits of other engines on the same store.
/// - ``close(_:)`` ends events first, then the observation of commits, then what the engine has open, then the store;
///   later calls are `UNAVAILABLE`.
///
/// ```swift
/// public final class NotesEngine: NotesBackend {
///   let frame: EngineFrame<NotesServiceError>
///
///   public init(callers: CallerCheck, openStore: @escaping @Sendable () async throws -> any OrderedStore) {
///     frame = EngineFrame("Notes", callers: callers, openStore: openStore) { log.error("…", "\($0)") }
///   }
///
///   public func notes(context: CallContext) async throws(NotesServiceError) -> [Note] {
///     try await frame.serve(context) { context in try await NotesCall(self.frame, context).notes() }
///   }
///
///   public func close() async throws { try await frame.close() }
/// }
/// ```
public final class EngineFrame<Failure: ServiceFailure>: Sendable {
  /// The clock of the engine.
  public let clock: ServiceClock

  /// The edge of the engine's calls.
  public let boundary: ServiceBoundary<Failure>

  /// The events of the engine, in its store.
  public let events: EventOutbox

  private let storage: LazyResource<any OrderedStore>
  private let commits: CommitObservation
  private let observer: Locked<(@Sendable (StoreVersion) -> Void)?>

  /// A frame; nothing is opened yet.
  ///
  /// - Parameters:
  ///   - product: The name of the product, for messages, such as "Remote Config".
  ///   - clock: The clock of the engine.
  ///   - callers: The check of who calls.
  ///   - events: The events that the engine offers.
  ///   - translate: Returns the failure for an error that the table does not know, or knows otherwise; asked first.
  ///   - openStore: Opens the store, at the first call.
  ///   - report: Logs an error that nothing translates: an unexpected one.
  public init(
    _ product: String, clock: ServiceClock = .system, callers: CallerCheck, events: EventOffer = .none,
    translate: @escaping @Sendable (any Error) -> Failure? = { _ in nil },
    openStore: @escaping @Sendable () async throws -> any OrderedStore,
    report: @escaping @Sendable (any Error) -> Void
  ) {
    self.clock = clock
    let (commits, observer) = (CommitObservation(), Locked<(@Sendable (StoreVersion) -> Void)?>(nil))
    (self.commits, self.observer) = (commits, observer)
    boundary = ServiceBoundary(clock: clock, callers: callers, report: report) { error in
      translate(error) ?? EngineErrorTable.status(for: error).map { Failure($0) }
    }
    let closed = StoreError(
      .closed, operation: "open", message: "The service of \(product) has been shut down with its app.")
    let storage = LazyResource(whenClosed: closed) {
      let store = try await openStore()
      if let observe = observer.withLock({ $0 }) { commits.begin(store, observe) }
      return store
    } close: {
      try await $0.close()
    }
    self.storage = storage
    self.events = EventOutbox(
      service: events.service, keys: events.keys, types: events.types, limits: events.limits,
      store: { try await storage.get() }, data: events.data)
  }

  /// Has `observe` called with the version of each commit to the store; set in the engine's initializer, once.
  ///
  /// - Parameter observe: Takes the version of each commit; see `CommitObservable`. It must hold the engine weakly.
  public func onCommit(_ observe: @escaping @Sendable (StoreVersion) -> Void) {
    observer.withLock { $0 = observe }
  }

  /// The store, opened if need be.
  ///
  /// - Throws: `StoreError` with `.closed` after the end of the engine; the error of opening it.
  public func store() async throws -> any OrderedStore { try await storage.get() }

  // MARK: Calls

  /// Runs a call: within its deadline, for a verified caller, and with every error as the product's.
  ///
  /// - Parameters:
  ///   - context: The context as the caller sent it.
  ///   - body: The call; it gets the verified context.
  /// - Returns: The result of `body`.
  /// - Throws: The product's failure, whatever `body` threw.
  public func serve<Result: Sendable>(
    _ context: CallContext, _ body: @escaping @Sendable (CallContext) async throws -> Result
  ) async throws(Failure) -> Result {
    try await boundary.serve(context, body)
  }

  /// Verifies the caller of a call that outlives its beginning, such as a stream.
  ///
  /// - Parameter context: The context as the caller sent it.
  /// - Returns: The verified context.
  /// - Throws: The product's failure, with `UNAUTHENTICATED` for a credential that is not valid.
  public func admit(_ context: CallContext) async throws(Failure) -> CallContext {
    try await boundary.admit(context)
  }

  /// The product's failure for any error, for calls that report their end otherwise than by returning.
  ///
  /// - Parameters:
  ///   - error: The error.
  ///   - context: The context of the call, by whose deadline a cancellation is judged.
  public func failure(_ error: any Error, _ context: CallContext = CallContext()) -> Failure {
    boundary.failure(error, context)
  }

  /// Writes in one transaction, and notifies the dispatcher of events after the commit.
  ///
  /// - Parameter body: The writes; it may run again after a conflict.
  /// - Returns: The result of `body`.
  public func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> Result {
    let result = try await storage.get().write(body).value
    if events.interest != nil { events.wake() }
    return result
  }

  // MARK: The end

  /// Ends the engine: its events, the observation of commits, its own connections and jobs, then the store.
  ///
  /// - Parameter endOwn: Ends what the engine has open; the store is still there.
  /// - Throws: `StoreError` when the store could not be closed well; it counts as closed all the same.
  public func close(_ endOwn: () async -> Void = {}) async throws {
    await events.close()
    commits.end()
    await endOwn()
    do { try await storage.close() } catch { throw error }
  }
}

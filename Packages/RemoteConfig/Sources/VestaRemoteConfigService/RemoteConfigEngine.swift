public import VestaConcurrency
import VestaCore
import VestaEventsInterop
public import VestaRemoteConfigBackend
public import VestaServiceInterop
public import VestaStoreInterop

/// The configuration service on any ordered store.
///
/// - All that it knows is in the store: a second engine on the same data, now or after a restart, goes on where this
///   one was. In memory there is the current template in the form in which it is evaluated, and what has been worked
///   out with it; each fetch looks up which version is current.
/// - A publish is one transaction.
/// - Realtime connections are notified of a publish as soon as it is committed; of one by another engine on the same
///   store when the store notifies of its commits.
///
/// ```swift
/// let engine = RemoteConfigEngine(projectID: "demo") { try await provider.openStore(…) }
/// let template = ConfigTemplate(parameters: ["welcome": ConfigParameter(defaultValue: "Hello")])
/// try await engine.publish(PublishRequest(template: template, precondition: .any), context: .owner)
/// ```
public final class RemoteConfigEngine: RemoteConfigBackend, RemoteConfigAdminBackend {
  let projectID: String
  let options: RemoteConfigServiceOptions
  let hub = InvalidationHub()
  /// The events of templates that functions want.
  let events: EventOutbox
  private let storage: LazyResource<any OrderedStore>

  /// The observation of the store's commits, from its start on.
  private struct Observation: Sendable {
    var registration: ListenerRegistration?
  }

  private let observation = Locked<Observation?>(nil)
  private let boundary: ServiceBoundary<RemoteConfigServiceError>
  private let plans = Locked<[String: FetchPlan]>([:])
  private let loads = SingleFlight<String, FetchPlan?>()

  /// An engine; nothing is opened yet.
  ///
  /// - Parameters:
  ///   - projectID: The project, which is part of all ETags.
  ///   - options: How it behaves.
  ///   - openStore: Opens the store, at the first call; called again at the next one when it throws.
  public init(
    projectID: String, options: RemoteConfigServiceOptions = RemoteConfigServiceOptions(),
    openStore: @escaping @Sendable () async throws -> any OrderedStore
  ) {
    self.projectID = projectID
    self.options = options
    boundary = ServiceBoundary(clock: options.clock) { log.error("I-RCS000002", "A call failed unexpectedly: \($0)") }
    let closed = StoreError(
      .closed, operation: "open", message: "The configuration service has been shut down with its app.")
    let storage = LazyResource(whenClosed: closed, open: openStore, close: { try await $0.close() })
    self.storage = storage
    events = ConfigEvents.outbox { try await storage.get() }
  }

  /// Ends all connections and closes the store; every later call fails with `UNAVAILABLE`.
  ///
  /// - Throws: `StoreError` when the store could not be closed well.
  public func close() async throws {
    await events.close()
    hub.close()
    observation.withLock { $0.take() }?.registration?.cancel()
    try await storage.close()
  }

  // MARK: The service as clients see it

  /// Evaluates the template for an instance.
  public func fetch(
    _ request: FetchConfigRequest, context: CallContext
  ) async throws(RemoteConfigServiceError) -> FetchConfigResponse {
    try await answer(context) { try await self.evaluate(request) }
  }

  /// Notifies a client of each published template.
  public func listenForInvalidations(
    _ request: InvalidationsRequest, context: CallContext,
    onEnd: @escaping @Sendable (RemoteConfigServiceError?) -> Void,
    _ receive: @escaping @Sendable (ConfigInvalidation) -> Void
  ) -> ListenerRegistration {
    connect(Connection(lastKnownVersion: request.lastKnownVersion, onEnd: onEnd, receive: receive), request.namespace)
  }

  // MARK: The service as the owner sees it

  /// Returns a version of the template, the current one unless given.
  public func template(
    namespace: String, version: Int64?, context: CallContext
  ) async throws(RemoteConfigServiceError) -> StoredTemplate {
    try await read(namespace, context) { try await self.stored($0, version) }
  }

  /// Publishes a template as the next version.
  public func publish(
    _ request: PublishRequest, context: CallContext
  ) async throws(RemoteConfigServiceError) -> StoredTemplate {
    try Self.check(owner: context)
    let violations = TemplateCheck.violations(in: request.template) + TemplateCheck.violations(in: request.user)
    guard violations.isEmpty else { throw .invalidTemplate(violations) }
    return try await write(request.namespace, context) { try await $0.publish(request) }
  }

  /// Publishes an earlier version again, as the next one.
  public func rollback(
    namespace: String, to version: Int64, user: ConfigVersion.User?, context: CallContext
  ) async throws(RemoteConfigServiceError) -> StoredTemplate {
    let violations = TemplateCheck.violations(in: user)
    guard violations.isEmpty else { throw .invalidTemplate(violations) }
    return try await write(namespace, context) { try await $0.rollback(to: version, user: user) }
  }

  /// Returns the versions, a page at a time, newest first.
  public func listVersions(
    _ request: ListVersionsRequest, context: CallContext
  ) async throws(RemoteConfigServiceError) -> VersionPage {
    try await read(request.namespace, context) { try await ListCall(reader: $0.reader, request: request).page() }
  }

  /// Returns what changed from one version to another.
  public func difference(
    namespace: String, from old: Int64, to new: Int64?, context: CallContext
  ) async throws(RemoteConfigServiceError) -> TemplateDifference {
    try await read(namespace, context) { reader in
      let before = try await self.stored(reader, old).template
      return TemplateDifference(from: before, to: try await self.stored(reader, new).template)
    }
  }

  /// Returns the default values as a file.
  public func downloadDefaults(
    namespace: String, format: DefaultsFormat, context: CallContext
  ) async throws(RemoteConfigServiceError) -> [UInt8] {
    let template = try await template(namespace: namespace, version: nil, context: context).template
    let values = template.allParameters.compactMap { key, parameter in
      if case .value(let text)? = parameter.defaultValue { (key: key, value: text) } else { nil }
    }
    return DefaultsFile.render(values.sorted { $0.key < $1.key }, as: format)
  }

  // MARK: Fetching

  private func evaluate(_ request: FetchConfigRequest) async throws -> FetchConfigResponse {
    try Self.check(request.namespace)
    try InstanceCheck.check(request.instance)
    guard let plan = try await plan(for: request.namespace) else {
      return FetchConfigResponse(state: .noTemplate, etag: ETags.fetch(projectID, request.namespace, 0, "0"))
    }
    let outcome = plan.outcome(for: ConditionEvaluator(instance: request.instance, now: options.clock.now()))
    let etag = ETags.fetch(projectID, request.namespace, plan.version, outcome.digest)
    if etag == request.etag {
      return FetchConfigResponse(state: .noChange, templateVersion: plan.version, etag: etag)
    }
    return FetchConfigResponse(
      state: outcome.entries.isEmpty ? .emptyConfig : .update, entries: outcome.entries, templateVersion: plan.version,
      etag: etag, rollouts: outcome.rollouts)
  }

  /// The plan of the current template; `nil` before the first one is published.
  ///
  /// After a publish all instances fetch at once: the first of them makes the plan, and the others wait for it.
  private func plan(for namespace: String) async throws -> FetchPlan? {
    let current = try await store().read { try await ConfigReader(reader: $0, namespace: namespace).currentVersion() }
    if current == 0 { return nil }
    if let known = plans.withLock({ $0[namespace] }), known.version >= current { return known }
    let made = try await loads.value(for: "\(namespace) \(current)") { try await self.load(namespace) }
    guard let made else { return nil }
    plans.withLock { plans in
      // Names come from clients: plans are kept for namespaces that have a template only.
      if made.version > plans[namespace]?.version ?? 0 { plans[namespace] = made }
    }
    return made
  }

  private func load(_ namespace: String) async throws -> FetchPlan? {
    try await store().read { reader in
      let reader = ConfigReader(reader: reader, namespace: namespace)
      let current = try await reader.currentVersion()
      if current == 0 { return nil }
      guard let template = try await reader.template(current) else {
        throw RemoteConfigServiceError(
          .dataLoss,
          "The current template \(current) of \(namespace) is missing. Roll back to another version, or publish it again."
        )
      }
      return try FetchPlan(template, version: current)
    }
  }

  // MARK: Connections

  private func connect(_ connection: Connection, _ namespace: String) -> ListenerRegistration {
    let isAdded = hub.add(connection, namespace: namespace)
    // Nothing is called before this method has returned: what there is to say is said in a task.
    Task { [self] in
      guard isAdded else { return connection.end(RemoteConfigServiceError(.unavailable, "The service was shut down.")) }
      do {
        try Self.check(namespace)
        connection.offer(
          try await store().read { try await ConfigReader(reader: $0, namespace: namespace).currentVersion() })
      } catch {
        hub.remove(connection, namespace: namespace, ending: self.boundary.failure(error))
      }
    }
    return ListenerRegistration { [weak hub] in hub?.remove(connection, namespace: namespace) }
  }

  /// Looks up what is current, after a commit that may be another engine's.
  private func announceCurrent() async {
    for namespace in hub.namespaces {
      guard
        let current = try? await store().read({ reader in
          try await ConfigReader(reader: reader, namespace: namespace).currentVersion()
        })
      else { continue }
      hub.announce(current, namespace: namespace)
    }
  }

  // MARK: The store

  private func store() async throws -> any OrderedStore {
    let store = try await storage.get()
    observe(store)
    return store
  }

  private func observe(_ store: any OrderedStore) {
    guard let observable = store as? any CommitObservable else { return }
    let isFirst = observation.withLock { observation in
      guard observation == nil else { return false }
      observation = Observation()
      return true
    }
    guard isFirst else { return }
    let registration = observable.observeCommits { [weak self] _ in
      Task { await self?.announceCurrent() }
    }
    let isKept = observation.withLock { observation in
      observation?.registration = registration
      return observation != nil
    }
    if !isKept { registration.cancel() }
  }

  private func stored(_ reader: ConfigReader, _ version: Int64?) async throws -> StoredTemplate {
    let current = try await reader.currentVersion()
    let wanted = version ?? current
    if version == nil, current == 0 {
      return StoredTemplate(template: ConfigTemplate(), etag: ETags.template(projectID, 0))
    }
    guard let template = try await reader.template(wanted) else { throw ETags.unknown(wanted, reader.namespace) }
    return StoredTemplate(template: template, etag: ETags.template(projectID, wanted))
  }

  private func read<Value: Sendable>(
    _ namespace: String, _ context: CallContext, _ body: @escaping @Sendable (ConfigReader) async throws -> Value
  ) async throws(RemoteConfigServiceError) -> Value {
    try await answer(context) {
      try Self.check(owner: context)
      try Self.check(namespace)
      return try await self.store().read { try await body(ConfigReader(reader: $0, namespace: namespace)) }
    }
  }

  private func write(
    _ namespace: String, _ context: CallContext,
    _ body: @escaping @Sendable (PublishCall) async throws -> StoredTemplate
  ) async throws(RemoteConfigServiceError) -> StoredTemplate {
    let (projectID, now, maximum) = (projectID, options.clock.now(), Int64(options.maximumVersions))
    let events = events
    let stored = try await answer(context) {
      try Self.check(owner: context)
      try Self.check(namespace)
      return try await self.store().write { transaction in
        try await body(
          PublishCall(
            transaction: transaction, namespace: namespace, projectID: projectID, now: now, maximumVersions: maximum,
            events: events))
      }.value
    }
    if events.interest != nil { events.wake() }
    if let version = stored.template.version?.versionNumber { hub.announce(version, namespace: namespace) }
    return stored
  }

  /// Runs a call within its deadline, and converts whatever went wrong into the seam's terms.
  private func answer<Value: Sendable>(
    _ context: CallContext, _ call: @escaping @Sendable () async throws -> Value
  ) async throws(RemoteConfigServiceError) -> Value {
    try await boundary.serve(context) {
      do {
        return try await call()
      } catch let error as EventOutboxFull {
        throw RemoteConfigServiceError(.resourceExhausted, error.description)
      } catch let error as StoreError {
        throw RemoteConfigServiceError(.unavailable, "The store failed: \(error.code) (\(error.operation)).")
      }
    }
  }

  private static func check(owner context: CallContext) throws(RemoteConfigServiceError) {
    guard context.isOwner else {
      throw RemoteConfigServiceError(.permissionDenied, "Templates are for the owner: call with CallContext.owner.")
    }
  }

  private static func check(_ namespace: String) throws {
    guard ConfigNamespace.isValid(namespace) else {
      throw RemoteConfigServiceError(.invalidArgument, ConfigNamespace.rule)
    }
  }
}

extension InvalidationHub {
  fileprivate func remove(_ connection: Connection, namespace: String, ending error: RemoteConfigServiceError) {
    connection.end(error)
    remove(connection, namespace: namespace)
  }
}

private let log = Logger(service: "VestaRemoteConfigService")

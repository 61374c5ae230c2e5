public import VestaConcurrency
import VestaCore
import VestaEngineInterop
import VestaEventsInterop
public import VestaRemoteConfigBackend
public import VestaServiceInterop
public import VestaStoreInterop

/// The configuration service on any ordered store.
///
/// - All that it knows is in the store: a second engine on the same data, now or after a restart, continues where this
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
///
/// To read on: `Calls/ConfigOperation.swift`, then the call in question in `Calls/`, the decisions in `Rules/`, the
/// connections in `Realtime/`, and the rows in `Store/Keys.swift`.
public final class RemoteConfigEngine: RemoteConfigBackend, RemoteConfigAdminBackend {
  let projectID: String
  let options: RemoteConfigServiceOptions
  let frame: EngineFrame<RemoteConfigServiceError>
  let hub = InvalidationHub()
  let plans: PlanTable

  /// An engine; nothing is opened yet.
  ///
  /// - Parameters:
  ///   - projectID: The project, which is part of all ETags.
  ///   - options: The settings of the service.
  ///   - callers: The check of who calls; one that refuses every credential unless given.
  ///   - openStore: Opens the store, at the first call; called again at the next one when it throws.
  public init(
    projectID: String, options: RemoteConfigServiceOptions = RemoteConfigServiceOptions(),
    callers: CallerCheck = CallerCheck(), openStore: @escaping @Sendable () async throws -> any OrderedStore
  ) {
    self.projectID = projectID
    self.options = options
    plans = PlanTable(tuning: options.tuning)
    frame = EngineFrame(
      "Remote Config", clock: options.clock, callers: callers, events: ConfigEvents.offer, openStore: openStore
    ) { log.error("I-RCS000002", "A call failed unexpectedly: \($0)") }
    frame.onCommit { [weak self] _ in
      Task { await self?.announceCurrent() }
    }
  }

  /// Ends all connections and closes the store; every later call fails with `UNAVAILABLE`.
  ///
  /// - Throws: `StoreError` when the store could not be closed well.
  public func close() async throws { try await frame.close { hub.close() } }

  /// The events of templates that functions want.
  var events: EventOutbox { frame.events }

  /// Runs a call as the frame does.
  private func serve<Value: Sendable>(
    _ context: CallContext, _ call: @escaping @Sendable (ConfigOperation) async throws -> Value
  ) async throws(RemoteConfigServiceError) -> Value {
    try await frame.serve(context) { [self] context in try await call(ConfigOperation(engine: self, context: context)) }
  }

  // MARK: The service as clients see it

  /// Evaluates the template for an instance.
  public func fetch(
    _ request: FetchConfigRequest, context: CallContext
  ) async throws(RemoteConfigServiceError) -> FetchConfigResponse {
    try await serve(context) { try await $0.fetch(request) }
  }

  /// Notifies a client of each published template.
  public func listenForInvalidations(
    _ request: InvalidationsRequest, context: CallContext,
    onEnd: @escaping @Sendable (RemoteConfigServiceError?) -> Void,
    _ receive: @escaping @Sendable (ConfigInvalidation) -> Void
  ) -> ListenerRegistration {
    connect(
      InvalidationReceiver(lastKnownVersion: request.lastKnownVersion, onEnd: onEnd, receive: receive),
      request.namespace,
      context)
  }

  // MARK: The service as the owner sees it

  /// Returns a version of the template, the current one unless given.
  public func template(
    namespace: String, version: Int64?, context: CallContext
  ) async throws(RemoteConfigServiceError) -> StoredTemplate {
    try await serve(context) { try await $0.template(namespace, version) }
  }

  /// Publishes a template as the next version.
  public func publish(
    _ request: PublishRequest, context: CallContext
  ) async throws(RemoteConfigServiceError) -> StoredTemplate {
    try await serve(context) { try await $0.publish(request) }
  }

  /// Publishes an earlier version again, as the next one.
  public func rollback(
    namespace: String, to version: Int64, user: ConfigVersion.User?, context: CallContext
  ) async throws(RemoteConfigServiceError) -> StoredTemplate {
    try await serve(context) { try await $0.rollback(namespace, to: version, user: user) }
  }

  /// Returns the versions, a page at a time, newest first.
  public func listVersions(
    _ request: ListVersionsRequest, context: CallContext
  ) async throws(RemoteConfigServiceError) -> VersionPage {
    try await serve(context) { try await $0.listVersions(request) }
  }

  /// Returns what changed from one version to another.
  public func difference(
    namespace: String, from old: Int64, to new: Int64?, context: CallContext
  ) async throws(RemoteConfigServiceError) -> TemplateDifference {
    try await serve(context) { try await $0.difference(namespace, from: old, to: new) }
  }

  /// Returns the default values as a file.
  public func downloadDefaults(
    namespace: String, format: DefaultsFormat, context: CallContext
  ) async throws(RemoteConfigServiceError) -> [UInt8] {
    try await serve(context) { try await $0.downloadDefaults(namespace, format) }
  }
}

private let log = Logger(service: "VestaRemoteConfigService")

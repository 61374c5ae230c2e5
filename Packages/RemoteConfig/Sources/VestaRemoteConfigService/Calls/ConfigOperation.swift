import VestaEngineInterop
import VestaEventsInterop
import VestaRemoteConfigBackend
import VestaServiceInterop
import VestaStoreInterop

/// One call of the service, outside of any transaction.
///
/// The methods of the extensions next to this file are the calls of `RemoteConfigEngine`, one for each. Work within
/// a transaction is a method of ``PublishCall``; data that is only read is read through ``ConfigReader``.
///
/// Example: `publish` checks here who calls and what the template holds, stores the next version in a `PublishCall`,
/// and notifies the connections after the commit.
struct ConfigOperation: Sendable {
  let engine: RemoteConfigEngine
  let context: CallContext

  var projectID: String { engine.projectID }

  /// Reads the rows of a namespace at one version of the store.
  func read<Value: Sendable>(
    _ namespace: String, _ body: @escaping @Sendable (ConfigReader) async throws -> Value
  ) async throws -> Value {
    try Self.check(namespace)
    return try await ConfigReader.read(namespace, from: engine.frame.store(), body)
  }

  /// Publishes in one transaction, and notifies the connections.
  func write(
    _ namespace: String, _ body: @escaping @Sendable (PublishCall) async throws -> StoredTemplate
  ) async throws -> StoredTemplate {
    try Self.check(namespace)
    let (projectID, now, maximum) = (projectID, engine.options.clock.now(), Int64(engine.options.maximumVersions))
    let (events, cause) = (engine.events, EventCause(context))
    let stored = try await engine.frame.write { transaction in
      try await body(
        PublishCall(
          transaction: transaction, namespace: namespace, projectID: projectID, now: now, maximumVersions: maximum,
          events: events, cause: cause))
    }
    if let version = stored.template.version?.versionNumber { engine.hub.announce(version, namespace: namespace) }
    return stored
  }

  /// Refuses every caller but the owner.
  func checkOwner() throws {
    guard context.isOwner else {
      throw RemoteConfigServiceError(.permissionDenied, "Templates are for the owner: call with CallContext.owner.")
    }
  }

  static func check(_ namespace: String) throws {
    guard ConfigNamespace.isValid(namespace) else {
      throw RemoteConfigServiceError(.invalidArgument, ConfigNamespace.rule)
    }
  }
}

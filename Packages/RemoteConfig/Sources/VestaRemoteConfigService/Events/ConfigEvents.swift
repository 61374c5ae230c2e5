import VestaBytes
import VestaEngineInterop
import VestaEventsInterop
import VestaRemoteConfigBackend
import VestaStoreInterop

/// The events of templates: the records of a publish, and their form for functions.
enum ConfigEvents {
  /// The events of the service.
  static let offer = EventOffer(
    service: "firebaseremoteconfig.googleapis.com", keys: Keys.outbox, types: [.configUpdated]
  ) { EventData(try JSONObject(json: $0.payload)) }

  /// Records that a version was published.
  static func record(
    _ version: ConfigVersion, _ namespace: String, _ outbox: EventOutbox, _ cause: EventCause,
    in transaction: any StoreTransaction
  ) async throws {
    guard let interest = outbox.interest(in: cause) else { return }
    let functions = interest.functions(for: .configUpdated, scope: namespace, path: "template")
    guard !functions.isEmpty else { return }
    let draft = EventDraft(
      .configUpdated, scope: namespace, path: "template", functions: functions, actor: cause.actor,
      payload: try data(of: version).json())
    try await outbox.append([draft], in: transaction, isOnly: true)
  }

  private static func data(of version: ConfigVersion) -> JSONObject {
    var data: JSONObject = ["versionNumber": .string(String(version.versionNumber ?? 0))]
    data["updateTime"] = version.updateTime.map { .string(RFC3339.text(microseconds: $0)) }
    data["updateOrigin"] = version.updateOrigin.map { .string($0.rawValue) }
    data["updateType"] = version.updateType.map { .string($0.rawValue) }
    data["description"] = version.description.map { .string($0) }
    data["rollbackSource"] = version.rollbackSource.map { .string(String($0)) }
    return data
  }
}

import VestaBytes
import VestaEngineInterop
import VestaEventsInterop
import VestaRemoteConfigBackend
import VestaServiceInterop
import VestaStoreInterop

/// Publishes templates in one transaction.
struct PublishCall {
  let transaction: any StoreTransaction
  let namespace: String
  let projectID: String
  let now: Int64
  let maximumVersions: Int64
  let events: EventOutbox
  let cause: EventCause

  private var reader: ConfigReader { ConfigReader(reader: transaction, namespace: namespace) }

  /// Stores a template that was checked as the next version.
  func publish(_ request: PublishRequest) async throws -> StoredTemplate {
    let current = try await reader.currentVersion()
    try check(request.precondition, current)
    if request.isValidateOnly {
      return StoredTemplate(template: request.template, etag: ETags.template(projectID, 0))
    }
    var version = ConfigVersion(updateOrigin: request.origin, updateUser: request.user)
    version.updateType = request.precondition == .any ? .forced : .incremental
    version.description = request.template.version?.description
    return try await store(request.template, after: current, version)
  }

  /// Stores an earlier version again.
  func rollback(to source: Int64, user: ConfigVersion.User?) async throws -> StoredTemplate {
    let current = try await reader.currentVersion()
    guard source != current else {
      throw RemoteConfigServiceError(.failedPrecondition, "Version \(source) is the current one.")
    }
    guard let template = try await reader.template(source) else { throw ETags.unknown(source, namespace) }
    let version = ConfigVersion(
      updateOrigin: .restAPI, updateType: .rollback, updateUser: user, description: template.version?.description,
      rollbackSource: source)
    return try await store(template, after: current, version)
  }

  private func check(_ precondition: PublishRequest.Precondition, _ current: Int64) throws {
    guard case .etag(let etag) = precondition, etag != ETags.template(projectID, current) else { return }
    throw RemoteConfigServiceError(
      .failedPrecondition,
      """
      [VERSION_MISMATCH]: The template has changed since it was read: its ETag is \
      \(ETags.template(projectID, current)) and not \(etag). Read it again, or publish over any version.
      """)
  }

  private func store(
    _ template: ConfigTemplate, after current: Int64, _ version: ConfigVersion
  ) async throws -> StoredTemplate {
    let number = current + 1
    // A version is not older than the one before it, whatever the clock says.
    let previous = try await reader.version(current)?.updateTime ?? 0
    let record = VersionRecord(number: number, time: max(now, previous), version)
    var plain = template
    plain.version = nil
    try await transaction.put(CurrentRecord(version: number).fieldBytes(), for: Keys.current(namespace))
    try await transaction.put(TemplateRecord(json: plain.json).fieldBytes(), for: Keys.template(namespace, number))
    try await transaction.put(record.fieldBytes(), for: Keys.version(namespace, number))
    try await deleteVersions(upTo: number - maximumVersions)
    try await ConfigEvents.record(record.version, namespace, events, cause, in: transaction)
    plain.version = record.version
    return StoredTemplate(template: plain, etag: ETags.template(projectID, number))
  }

  private func deleteVersions(upTo oldest: Int64) async throws {
    guard oldest > 0 else { return }
    try await transaction.deleteRange(Keys.templates(namespace, upTo: oldest))
    try await transaction.deleteRange(Keys.versions(namespace, upTo: oldest))
  }
}

/// The ETags of templates and of fetched values.
enum ETags {
  static func template(_ projectID: String, _ version: Int64) -> String { "etag-\(projectID)-\(version)" }

  static func fetch(_ projectID: String, _ namespace: String, _ version: Int64, _ digest: String) -> String {
    "etag-\(projectID)-\(namespace)-fetch-\(version)-\(digest)"
  }

  static func unknown(_ version: Int64, _ namespace: String) -> RemoteConfigServiceError {
    RemoteConfigServiceError(.notFound, "There is no version \(version) in \(namespace), or none any more.")
  }
}

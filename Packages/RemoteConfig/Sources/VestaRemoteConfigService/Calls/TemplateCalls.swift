import VestaRemoteConfigBackend
import VestaServiceInterop

// Templates and their versions.
extension ConfigOperation {
  func template(_ namespace: String, _ version: Int64?) async throws -> StoredTemplate {
    try checkOwner()
    return try await read(namespace) { try await stored($0, version) }
  }

  func publish(_ request: PublishRequest) async throws -> StoredTemplate {
    try checkOwner()
    let tuning = engine.options.tuning
    let violations =
      TemplateCheck.violations(in: request.template, namespace: request.namespace, tuning)
      + TemplateCheck.violations(in: request.user, tuning)
    guard violations.isEmpty else { throw RemoteConfigServiceError.invalidTemplate(violations) }
    return try await write(request.namespace) { try await $0.publish(request) }
  }

  func rollback(
    _ namespace: String, to version: Int64, user: ConfigVersion.User?
  ) async throws -> StoredTemplate {
    try checkOwner()
    let violations = TemplateCheck.violations(in: user, engine.options.tuning)
    guard violations.isEmpty else { throw RemoteConfigServiceError.invalidTemplate(violations) }
    return try await write(namespace) { try await $0.rollback(to: version, user: user) }
  }

  func listVersions(_ request: ListVersionsRequest) async throws -> VersionPage {
    try checkOwner()
    return try await read(request.namespace) { try await VersionPages(reader: $0.reader, request: request).page() }
  }

  func difference(_ namespace: String, from old: Int64, to new: Int64?) async throws -> TemplateDifference {
    try checkOwner()
    return try await read(namespace) { reader in
      let before = try await stored(reader, old).template
      return TemplateDifference(from: before, to: try await stored(reader, new).template)
    }
  }

  func downloadDefaults(_ namespace: String, _ format: DefaultsFormat) async throws -> [UInt8] {
    let values = try await template(namespace, nil).template.allParameters.compactMap { key, parameter in
      if case .value(let text)? = parameter.defaultValue { (key: key, value: text) } else { nil }
    }
    return DefaultsFile.render(values.sorted { $0.key < $1.key }, as: format)
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
}

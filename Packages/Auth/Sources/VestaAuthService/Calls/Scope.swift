import VestaAuthBackend
import VestaStoreInterop

/// The project or tenant of a call, with its settings.
struct Scope: Sendable {
  /// The tenant as keys have it.
  let tenant: TenantKey
  let config: ProjectConfig
  let signIn: SignInSettings
  /// Whether the tenant is there because a call names it, and is to be kept by the first write.
  var isNamedAlone = false

  /// The tenant's id; `nil` for the project itself.
  var tenantID: String? { tenant.id }

  /// The keys that the scope of a tenant is read from.
  static func keys(_ tenant: TenantKey) -> [[UInt8]] {
    tenant == .project ? [Keys.config] : [Keys.config, Keys.tenant(tenant)]
  }

  /// Reads the scope of a tenant.
  ///
  /// - Parameters:
  ///   - tenant: The tenant, or the project itself.
  ///   - initial: The settings of a project that has none in the store yet.
  ///   - takesNames: Whether every tenant is there that a call names, with everything allowed, as in local test suites.
  ///   - reader: Where to read.
  static func read(
    _ tenant: TenantKey, initial: ProjectConfig, takesNames: Bool, in reader: any StoreReader
  ) async throws -> Scope {
    if tenant == .project {
      let config = try await config(initial: initial, in: reader)
      return Scope(tenant: .project, config: config, signIn: config.signIn)
    }
    let rows = try await reader.get([Keys.config, Keys.tenant(tenant)])
    let config = try rows[0].map { try RecordCodec.decode(ConfigRecord.self, from: $0).config }
    guard rows[1] != nil || takesNames else { throw AuthServiceError(.tenantNotFound) }
    var signIn = try rows[1].map { try RecordCodec.decode(TenantRecord.self, from: $0).signIn } ?? SignInSettings()
    signIn.allowsPhone = false
    return Scope(tenant: tenant, config: config ?? initial, signIn: signIn, isNamedAlone: rows[1] == nil)
  }

  static func config(initial: ProjectConfig, in reader: any StoreReader) async throws -> ProjectConfig {
    try await reader.record(ConfigRecord.self, Keys.config)?.config ?? initial
  }
}

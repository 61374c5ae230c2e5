import VestaAuthBackend
import VestaStoreInterop

/// The project or tenant of a call, with its settings.
struct Scope: Sendable {
  let tenantID: String?
  let config: ProjectConfig
  let signIn: SignInSettings

  /// The tenant as keys have it.
  var tenant: String { tenantID ?? "" }

  /// The keys that the scope of a tenant is read from.
  static func keys(_ tenantID: String?) -> [[UInt8]] {
    guard let tenantID, !tenantID.isEmpty else { return [Keys.config] }
    return [Keys.config, Keys.tenant(tenantID)]
  }

  /// Reads the scope of a tenant.
  ///
  /// - Parameters:
  ///   - tenantID: The tenant; `nil` and empty are the project itself.
  ///   - initial: The settings of a project that has none in the store yet.
  ///   - reader: Where to read.
  static func read(
    _ tenantID: String?, initial: ProjectConfig, in reader: any StoreReader
  ) async throws -> Scope {
    guard let tenantID, !tenantID.isEmpty else {
      let config = try await config(initial: initial, in: reader)
      return Scope(tenantID: nil, config: config, signIn: config.signIn)
    }
    let rows = try await reader.get([Keys.config, Keys.tenant(tenantID)])
    let config = try rows[0].map { try RecordCodec.decode(ConfigRecord.self, from: $0).config }
    guard let row = rows[1] else { throw AuthServiceError(.tenantNotFound) }
    var signIn = try RecordCodec.decode(TenantRecord.self, from: row).signIn
    signIn.allowsPhone = false
    return Scope(tenantID: tenantID, config: config ?? initial, signIn: signIn)
  }

  static func config(initial: ProjectConfig, in reader: any StoreReader) async throws -> ProjectConfig {
    try await reader.record(ConfigRecord.self, Keys.config)?.config ?? initial
  }
}

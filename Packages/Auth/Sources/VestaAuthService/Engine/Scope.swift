import VestaAuthBackend
import VestaStoreInterop

/// Whose users a call is about, and what is allowed there.
struct Scope: Sendable {
  let tenantID: String?
  let config: ProjectConfig
  let signIn: SignInSettings

  /// The tenant as keys have it.
  var tenant: String { tenantID ?? "" }
}

extension AuthEngine {
  /// The scope of a call.
  ///
  /// - Parameters:
  ///   - tenantID: The tenant; `nil` and empty are the project itself.
  ///   - reader: Where to read.
  ///   - checksDisabled: Whether a project or tenant that is turned off is refused.
  func scope(
    _ tenantID: String?, in reader: any StoreReader, checksDisabled: Bool = true
  ) async throws -> Scope {
    let scope = try await readScope(tenantID, reader)
    if checksDisabled, scope.signIn.isDisabled { throw IdentityError(.projectDisabled) }
    return scope
  }

  private func readScope(_ tenantID: String?, _ reader: any StoreReader) async throws -> Scope {
    guard let tenantID, !tenantID.isEmpty else {
      let config = try await projectConfig(in: reader)
      return Scope(tenantID: nil, config: config, signIn: config.signIn)
    }
    let rows = try await reader.get([Keys.config, Keys.tenant(tenantID)])
    let config = try rows[0].map { try RecordCodec.decode(ConfigRecord.self, from: $0).config }
    guard let row = rows[1] else { throw IdentityError(.tenantNotFound) }
    var signIn = try RecordCodec.decode(TenantRecord.self, from: row).signIn
    signIn.allowsPhone = false
    return Scope(tenantID: tenantID, config: config ?? options.initialConfig, signIn: signIn)
  }

  func projectConfig(in reader: any StoreReader) async throws -> ProjectConfig {
    try await reader.record(ConfigRecord.self, Keys.config)?.config ?? options.initialConfig
  }
}

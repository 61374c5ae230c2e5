public import VestaServiceInterop
public import VestaAuthBackend
import VestaStoreInterop

extension AuthEngine {
  // MARK: The project

  /// The settings of the project.
  public func projectConfig(context: CallContext) async throws(IdentityError) -> ProjectConfig {
    try await answer { try await read { try await self.projectConfig(in: $0) } }
  }

  /// Sets the settings of the project.
  public func setProjectConfig(_ config: ProjectConfig, context: CallContext) async throws(IdentityError) {
    try await answer {
      try config.passwordPolicy.validate()
      try await write { try await $0.put(ConfigRecord(config: config), Keys.config) }
    }
  }

  // MARK: Tenants

  /// Makes a tenant.
  public func createTenant(
    _ request: CreateTenantRequest, context: CallContext
  ) async throws(IdentityError) -> Tenant {
    try await answer {
      let name = try tenantName(request.displayName)
      let record = TenantRecord(displayName: request.displayName, signIn: request.signIn)
      let id = "\(name)-\(try identifier(length: 10).lowercased())"
      try await write { try await $0.put(record, Keys.tenant(id)) }
      return record.tenant(id)
    }
  }

  /// What an id begins with: the display name's letters and digits.
  private func tenantName(_ displayName: String?) throws -> String {
    guard let displayName else { return "tenant" }
    guard (1...256).contains(displayName.utf8.count) else {
      throw IdentityError(.invalidConfig, "A display name has 1 to 256 bytes.")
    }
    let letters = displayName.lowercased().unicodeScalars.filter {
      ("a"..."z").contains($0) || ("0"..."9").contains($0)
    }
    return letters.isEmpty ? "tenant" : String(String.UnicodeScalarView(letters.prefix(17)))
  }

  /// A tenant.
  public func tenant(id: String, context: CallContext) async throws(IdentityError) -> Tenant {
    try await answer {
      try await read { try await self.tenantRecord(id, in: $0) }.tenant(id)
    }
  }

  private func tenantRecord(_ id: String, in reader: any StoreReader) async throws -> TenantRecord {
    guard let record = try await reader.record(TenantRecord.self, Keys.tenant(id)) else {
      throw IdentityError(.tenantNotFound)
    }
    return record
  }

  /// Changes a tenant.
  public func updateTenant(
    _ request: UpdateTenantRequest, context: CallContext
  ) async throws(IdentityError) -> Tenant {
    try await answer {
      if request.displayName != nil { _ = try tenantName(request.displayName) }
      return try await write { transaction in
        var record = try await self.tenantRecord(request.tenantID, in: transaction)
        record.displayName = request.displayName ?? record.displayName
        if let signIn = request.signIn { record.signIn = signIn }
        try await transaction.put(record, Keys.tenant(request.tenantID))
        return record.tenant(request.tenantID)
      }
    }
  }

  /// Deletes a tenant with all its users.
  public func deleteTenant(id: String, context: CallContext) async throws(IdentityError) {
    try await answer {
      try await write { transaction in
        _ = try await self.tenantRecord(id, in: transaction)
        for range in Keys.everything(of: id) { try await transaction.deleteRange(range) }
        try await transaction.delete(Keys.tenant(id))
      }
    }
  }

  /// The tenants page by page.
  public func listTenants(
    _ request: ListTenantsRequest, context: CallContext
  ) async throws(IdentityError) -> ListTenantsResponse {
    try await answer {
      try await read { reader in
        var range = Keys.tenants
        if let last = request.pageToken, !last.isEmpty { range = range.after(Keys.tenant(last)) }
        var ids: [String] = []
        let size = min(max(1, request.pageSize), 1000)
        let tenants = try await reader.entries(in: range, limit: size).compactMap { entry -> Tenant? in
          var key = KeyDecoder(entry.key, from: 1)
          guard let id = try? key.string() else { return nil }
          ids.append(id)
          return try RecordCodec.decode(TenantRecord.self, from: entry.value).tenant(id)
        }
        return ListTenantsResponse(tenants: tenants, nextPageToken: tenants.count < size ? nil : ids.last)
      }
    }
  }
}

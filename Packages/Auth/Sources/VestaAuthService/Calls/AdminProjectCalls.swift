import VestaAuthBackend
import VestaServiceInterop
import VestaStoreInterop

// The settings of the project, and its tenants.

extension AdminOperation {
  // MARK: The project

  func projectConfig() async throws -> ProjectConfig {
    try await core.read { try await Scope.config(initial: options.initialConfig, in: $0) }
  }

  func updateProjectConfig(_ change: ProjectConfigChange) async throws -> ProjectConfig {
    if change.members.contains(.passwordPolicy) { try change.config.passwordPolicy.validate() }
    return try await core.write { transaction in
      var config = try await Scope.config(initial: options.initialConfig, in: transaction)
      config.take(change.members, from: change.config)
      try await transaction.put(ConfigRecord(config: config), Keys.config)
      return config
    }
  }

  // MARK: Tenants

  func createTenant(_ request: CreateTenantRequest) async throws -> Tenant {
    let name = try tenantName(request.displayName)
    let record = TenantRecord(displayName: request.displayName, signIn: request.signIn)
    let id = try request.tenantID.map(checkedID) ?? "\(name)-\(try core.secrets.identifier(length: 10).lowercased())"
    try await core.write { transaction in
      guard try await transaction.record(TenantRecord.self, Keys.tenant(TenantKey(id))) == nil else {
        throw AuthServiceError(.invalidConfig, "The tenant \(id) exists.")
      }
      try await transaction.put(record, Keys.tenant(TenantKey(id)))
    }
    return record.tenant(id)
  }

  /// An id that a caller has chosen: letters, digits and hyphens.
  private func checkedID(_ id: String) throws -> String {
    let isFine = id.utf8.allSatisfy { $0 &- 48 < 10 || ($0 | 32) &- 97 < 26 || $0 == UInt8(ascii: "-") }
    guard isFine, (1...128).contains(id.utf8.count) else {
      throw AuthServiceError(.invalidConfig, "The id of a tenant has 1 to 128 letters, digits and hyphens.")
    }
    return id
  }

  /// The beginning of an id: the display name's letters and digits.
  private func tenantName(_ displayName: String?) throws -> String {
    guard let displayName else { return "tenant" }
    guard (1...256).contains(displayName.utf8.count) else {
      throw AuthServiceError(.invalidConfig, "A display name has 1 to 256 bytes.")
    }
    let letters = displayName.lowercased().unicodeScalars.filter {
      ("a"..."z").contains($0) || ("0"..."9").contains($0)
    }
    return letters.isEmpty ? "tenant" : String(String.UnicodeScalarView(letters.prefix(17)))
  }

  func tenant(id: String) async throws -> Tenant {
    try await core.read { try await $0.tenant(id) }.tenant(id)
  }

  func updateTenant(_ request: UpdateTenantRequest) async throws -> Tenant {
    let id = request.tenant.tenantID
    if request.members.contains(.displayName) { _ = try tenantName(request.tenant.displayName) }
    return try await core.write { transaction in
      var tenant = try await transaction.tenant(id).tenant(id)
      tenant.take(request.members, from: request.tenant)
      let record = TenantRecord(displayName: tenant.displayName, signIn: tenant.signIn)
      try await transaction.put(record, Keys.tenant(TenantKey(id)))
      return tenant
    }
  }

  /// Deletes a tenant with all its users.
  func deleteTenant(id: String) async throws {
    try await core.write { transaction in
      _ = try await transaction.tenant(id)
      for range in Keys.everything(of: TenantKey(id)) { try await transaction.deleteRange(range) }
      try await transaction.delete(Keys.tenant(TenantKey(id)))
    }
  }

  /// The tenants page by page.
  func listTenants(_ request: ListTenantsRequest) async throws -> ListTenantsResponse {
    try await core.read { reader in
      var range = Keys.tenants
      let pages = AccountPages.tenants
      if let last = try pages.id(request.pageToken) { range = range.after(Keys.tenant(TenantKey(last))) }
      var ids: [String] = []
      let size = min(max(1, request.pageSize), options.tuning.page)
      let tenants = try await reader.entries(in: range, limit: size).map { entry in
        var key = KeyDecoder(entry.key, from: 1)
        let id = try RecordCodec.part("tenant") { try key.string() }
        ids.append(id)
        return try RecordCodec.decode(TenantRecord.self, from: entry.value).tenant(id)
      }
      let token = tenants.count < size ? nil : pages.token(after: ids.last)
      return ListTenantsResponse(tenants: tenants, nextPageToken: token)
    }
  }
}

extension StoreReader {
  /// A tenant that has to exist.
  fileprivate func tenant(_ id: String) async throws -> TenantRecord {
    guard let record = try await record(TenantRecord.self, Keys.tenant(TenantKey(id))) else {
      throw AuthServiceError(.tenantNotFound)
    }
    return record
  }
}

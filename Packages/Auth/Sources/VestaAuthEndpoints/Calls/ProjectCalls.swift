import VestaAuthBackend
import VestaAuthWire
import VestaBytes
import VestaServiceInterop
import VestaTransportInterop

// The calls about a project: its settings, its tenants, and the cookies of its sessions.

extension AuthExchange {
  func respond(to call: AuthProjectRoute.Call) async throws -> [UInt8] {
    switch call {
    case .publicConfig:
      return try PublicProjectConfigWire.json(of: try await client.publicProjectConfig(context: context)).json()
    case .createSessionCookie:
      let request = try read(CreateSessionCookieRequestWire.self)
      return try SessionCookieWire.json(of: try await admin.createSessionCookie(request, context: context))
    case .config:
      var config = ProjectConfigWire.json(of: try await admin.projectConfig(context: context), project: project)
      try HashConfigWire.add(try await admin.passwordHashing(context: context), to: &config)
      return try config.json()
    case .updateConfig(let mask):
      return try ProjectConfigWire.json(of: try await updateConfig(mask: mask), project: project).json()
    default: return try await respondToTenant(call)
    }
  }

  /// Changes the settings by the members of the body.
  func updateConfig(mask: [String]? = nil) async throws -> ProjectConfig {
    if let blocking = object["blockingFunctions"]?.object, !Self.hasURLs(BlockingFunctionsWire.settings(blocking)) {
      throw AuthServiceError(
        .invalidBlockingFunction, "((triggers are beforeCreate and beforeSignIn, each with the URL functionUri))")
    }
    let current = try await admin.projectConfig(context: context)
    let change = try ProjectConfigWire.change(object, mask: mask, current: current)
    return try await admin.updateProjectConfig(change, context: context)
  }

  /// Whether requests can be sent to the functions of settings.
  private static func hasURLs(_ settings: BlockingFunctionSettings?) -> Bool {
    guard let settings else { return false }
    return BlockingEvent.allCases.compactMap(settings.url).allSatisfy { HTTPURL($0) != nil }
  }

  private func respondToTenant(_ call: AuthProjectRoute.Call) async throws -> [UInt8] {
    switch call {
    case .createTenant:
      return try json(try await admin.createTenant(try TenantWire.createRequest(object), context: context))
    case .tenant(let id): return try json(try await admin.tenant(id: id, context: context))
    case .updateTenant(let id, let mask):
      let request = try TenantWire.updateRequest(object, tenantID: id, mask: mask)
      return try json(try await admin.updateTenant(request, context: context))
    case .deleteTenant(let id):
      try await admin.deleteTenant(id: id, context: context)
      return Array("{}".utf8)
    case .listTenants(let size, let token):
      return try await tenants(ListTenantsRequest(pageSize: size, pageToken: token))
    default: throw AuthServiceError(.notImplemented)
    }
  }

  private func tenants(_ request: ListTenantsRequest) async throws -> [UInt8] {
    let page = try await admin.listTenants(request, context: context)
    var response = JSONObject()
    let tenants = page.tenants.map { JSONValue.object(TenantWire.json(of: $0, project: project)) }
    if !tenants.isEmpty { response["tenants"] = .array(tenants) }
    response["nextPageToken"] = page.nextPageToken.map { .string($0) }
    return try response.json()
  }

  private func json(_ tenant: Tenant) throws -> [UInt8] { try TenantWire.json(of: tenant, project: project).json() }
}

import VestaAuthBackend
import VestaAuthWire
import VestaBytes
import VestaServiceInterop

// The calls about identity providers.

extension AuthExchange {
  func respond(to route: AuthProviderRoute) async throws -> [UInt8] {
    let settings = try admin.identityProviders
    switch route.call {
    case .create(let id):
      let provider = try newProvider(id, route.kind)
      return try json(try await settings.createProvider(provider, context: context))
    case .get(let id): return try json(try await settings.provider(id: id, context: context))
    case .update(let id, let mask):
      let change = try IdentityProviderWire.change(object, id: id, mask: mask)
      return try json(try await settings.updateProvider(change, context: context))
    case .delete(let id):
      try await settings.deleteProvider(id: id, context: context)
      return Array("{}".utf8)
    case .list(let size, let token):
      let request = ListProvidersRequest(kind: route.kind, pageSize: size, pageToken: token)
      let page = try await settings.listProviders(request, context: context)
      return try IdentityProviderWire.json(
        of: page, kind: route.kind, project: project, tenant: context.tenantID
      ).json()
    }
  }

  private func newProvider(_ id: String, _ kind: IdentityProvider.Kind) throws -> IdentityProvider {
    let provider = try IdentityProviderWire.provider(object, id: id.isEmpty ? nil : id)
    guard provider.kind == kind else {
      throw AuthServiceError(.invalidConfig, "\(provider.id) is no id in \(kind.rawValue).")
    }
    return provider
  }

  private func json(_ provider: IdentityProvider) throws -> [UInt8] {
    try IdentityProviderWire.json(of: provider, project: project, tenant: context.tenantID).json()
  }
}

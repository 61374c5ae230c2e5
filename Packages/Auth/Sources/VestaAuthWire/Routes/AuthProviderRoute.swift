public import VestaAuthBackend
public import VestaBytes

/// A call about the identity providers of a project or a tenant.
///
/// ```
/// /v2/projects/P/oauthIdpConfigs?oauthIdpConfigId=oidc.acme
/// /v2/projects/P/tenants/T/inboundSamlConfigs/saml.acme
/// ```
public struct AuthProviderRoute: Sendable, Hashable {
  /// The calls.
  public enum Call: Sendable, Hashable {
    /// Adds a provider.
    case create(String)
    /// Reads a provider.
    case get(String)
    /// Changes a provider; the mask has the paths that count.
    case update(String, mask: [String]?)
    /// Removes a provider.
    case delete(String)
    /// Reads the providers, a page at a time.
    case list(pageSize: Int, pageToken: String?)
  }

  /// The project of the path.
  public var project: String
  /// The tenant of the path; `nil` for the project itself.
  public var tenant: String?
  /// The kind of provider.
  public var kind: IdentityProvider.Kind
  /// The call.
  public var call: Call

  /// A route.
  public init(_ call: Call, kind: IdentityProvider.Kind, project: String, tenant: String? = nil) {
    self.call = call
    self.kind = kind
    self.project = project
    self.tenant = tenant
  }

  /// Reads a route.
  ///
  /// - Parameters:
  ///   - method: The method of HTTP.
  ///   - target: The path and the query; the path may begin with the host that it stands for.
  /// - Returns: The route; `nil` for another target, also for the id of a provider of another kind.
  /// - Throws: `BytesError` with `.malformed`.
  public init?(method: String, target: String) throws(BytesError) {
    var (path, fields) = try AuthRoute.parts(of: target)
    guard path.count > 3, path[0] == "v2", path[1] == "projects" else { return nil }
    project = path[2]
    path.removeFirst(3)
    tenant = AuthRoute.takeTenant(from: &path)
    guard path.count <= 2, let kind = IdentityProvider.Kind(rawValue: path[0]),
      path.count == 1 || IdentityProvider.Kind(providerID: path[1]) == kind,
      let call = Self.call(method, path, fields, kind)
    else { return nil }
    (self.kind, self.call) = (kind, call)
  }

  /// The call of a path that begins with a kind of providers.
  private static func call(
    _ method: String, _ path: [String], _ fields: FormFields, _ kind: IdentityProvider.Kind
  ) -> Call? {
    switch (method, path.count) {
    case ("POST", 1): return .create(fields[idField(kind)] ?? "")
    case ("GET", 1):
      let token = fields["pageToken"]
      return .list(
        pageSize: fields["pageSize"].flatMap { Int($0) } ?? 20, pageToken: token?.isEmpty == true ? nil : token)
    case ("GET", 2): return .get(path[1])
    case ("PATCH", 2):
      let mask = fields["updateMask"].flatMap { $0.isEmpty ? nil : $0.split(separator: ",").map(String.init) }
      return .update(path[1], mask: mask)
    case ("DELETE", 2): return .delete(path[1])
    default: return nil
    }
  }

  /// The method of HTTP.
  public var method: String {
    switch call {
    case .create: "POST"
    case .get, .list: "GET"
    case .update: "PATCH"
    case .delete: "DELETE"
    }
  }

  /// The path and the query, without the host.
  public var target: String {
    let encode = { (text: String) in PercentEncoding.unreserved.encode(text) }
    let parent = "/v2/projects/\(encode(project))" + (tenant.map { "/tenants/\(encode($0))" } ?? "")
    let path = "\(parent)/\(kind.rawValue)"
    var fields = FormFields()
    switch call {
    case .create(let id):
      fields.append(Self.idField(kind), id)
      return "\(path)?\(fields.text)"
    case .list(let size, let token):
      fields.append("pageSize", "\(size)")
      fields.append("pageToken", token)
      return "\(path)?\(fields.text)"
    case .get(let id), .delete(let id): return "\(path)/\(encode(id))"
    case .update(let id, let mask):
      return "\(path)/\(encode(id))" + (mask.map { "?updateMask=\($0.joined(separator: ","))" } ?? "")
    }
  }

  /// The field of the query that names a new provider.
  private static func idField(_ kind: IdentityProvider.Kind) -> String {
    switch kind {
    case .standard: "idpId"
    case .openIDConnect: "oauthIdpConfigId"
    case .saml: "inboundSamlConfigId"
    }
  }
}

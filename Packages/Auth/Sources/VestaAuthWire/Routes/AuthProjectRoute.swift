public import VestaBytes

/// A call about a project: its settings, its tenants, and the cookies of its sessions.
public struct AuthProjectRoute: Sendable, Hashable {
  /// The calls.
  public enum Call: Sendable, Hashable {
    /// Makes a cookie of an ID token.
    case createSessionCookie
    /// Reads what clients may read of the settings.
    case publicConfig
    /// Reads the settings.
    case config
    /// Changes the settings; the mask has the paths that count.
    case updateConfig(mask: [String]?)
    /// Makes a tenant.
    case createTenant
    /// Reads the tenants, a page at a time.
    case listTenants(pageSize: Int, pageToken: String?)
    /// Reads a tenant.
    case tenant(String)
    /// Changes a tenant; the mask has the paths that count.
    case updateTenant(String, mask: [String]?)
    /// Deletes a tenant.
    case deleteTenant(String)
  }

  /// The project of the path; `nil` for that of the API key.
  public var project: String?
  /// The tenant whose users the call is about.
  public var tenant: String?
  /// The call.
  public var call: Call

  /// A route.
  public init(_ call: Call, project: String? = nil, tenant: String? = nil) {
    self.call = call
    self.project = project
    self.tenant = tenant
  }

  /// Reads a route.
  ///
  /// - Parameters:
  ///   - method: The method of HTTP.
  ///   - target: The path and the query; the path may begin with the host that it stands for.
  /// - Returns: The route; `nil` for another target.
  /// - Throws: `BytesError` with `.malformed`.
  public init?(method: String, target: String) throws(BytesError) {
    var (path, fields) = try AuthRoute.parts(of: target)
    guard let version = path.first, version == "v1" || version == "v2", path.count > 1, path[1] == "projects" else {
      return nil
    }
    if path.count == 2 {
      guard method == "GET", version == "v1" else { return nil }
      call = .publicConfig
      return
    }
    path.removeFirst(2)
    if let found = Self.cookie(method, path) {
      (project, tenant, call) = (found.project, found.tenant, .createSessionCookie)
      return
    }
    project = path.removeFirst()
    guard let call = Self.call(method, path, fields) else { return nil }
    self.call = call
  }

  /// The call of a path below a project.
  private static func call(_ method: String, _ path: [String], _ fields: FormFields) -> Call? {
    // Without a mask everything counts that is there.
    let mask = fields["updateMask"].flatMap { $0.isEmpty ? nil : $0.split(separator: ",").map(String.init) }
    switch (method, path.first ?? "", path.count) {
    case ("GET", "config", 1): return .config
    case ("PATCH", "config", 1): return .updateConfig(mask: mask)
    case ("POST", "tenants", 1): return .createTenant
    case ("GET", "tenants", 1):
      let size = fields["pageSize"].flatMap { Int($0) } ?? 20
      let token = fields["pageToken"]
      return .listTenants(pageSize: size, pageToken: token?.isEmpty == true ? nil : token)
    case ("GET", "tenants", 2): return .tenant(path[1])
    case ("PATCH", "tenants", 2): return .updateTenant(path[1], mask: mask)
    case ("DELETE", "tenants", 2): return .deleteTenant(path[1])
    default: return nil
    }
  }

  /// `P:createSessionCookie`, or the same of a tenant: `P/tenants/T:createSessionCookie`.
  private static func cookie(_ method: String, _ path: [String]) -> (project: String, tenant: String?)? {
    let verb = ":createSessionCookie"
    guard method == "POST", let last = path.last, last.hasSuffix(verb) else { return nil }
    let name = String(last.dropLast(verb.count))
    if path.count == 1 { return (name, nil) }
    return path.count == 3 && path[1] == "tenants" ? (path[0], name) : nil
  }

  /// The method of HTTP.
  public var method: String {
    switch call {
    case .createSessionCookie, .createTenant: "POST"
    case .publicConfig, .config, .listTenants, .tenant: "GET"
    case .updateConfig, .updateTenant: "PATCH"
    case .deleteTenant: "DELETE"
    }
  }

  /// The path and the query, without the host.
  public var target: String {
    let encode = { (text: String) in PercentEncoding.unreserved.encode(text) }
    let project = encode(project ?? "")
    switch call {
    case .publicConfig: return "/v1/projects"
    case .createSessionCookie:
      let tenant = tenant.map { "/tenants/\(encode($0))" } ?? ""
      return "/v1/projects/\(project)\(tenant):createSessionCookie"
    case .config: return "/v2/projects/\(project)/config"
    case .updateConfig(let mask): return "/v2/projects/\(project)/config" + Self.query(mask)
    case .createTenant: return "/v2/projects/\(project)/tenants"
    case .listTenants(let size, let token):
      var fields = FormFields()
      fields.append("pageSize", "\(size)")
      fields.append("pageToken", token)
      return "/v2/projects/\(project)/tenants?\(fields.text)"
    case .tenant(let id), .deleteTenant(let id): return "/v2/projects/\(project)/tenants/\(encode(id))"
    case .updateTenant(let id, let mask): return "/v2/projects/\(project)/tenants/\(encode(id))" + Self.query(mask)
    }
  }

  private static func query(_ mask: [String]?) -> String {
    mask.map { "?updateMask=\($0.joined(separator: ","))" } ?? ""
  }
}

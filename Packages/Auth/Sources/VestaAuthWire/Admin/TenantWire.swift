public import VestaAuthBackend
public import VestaBytes

/// Tenants as `projects.tenants` has them.
public enum TenantWire {
  private static let table: [(member: Tenant.Member, json: JSONMember<Tenant>)] = [
    (.displayName, .text("displayName", \.displayName)),
    (.signIn(.allowsPasswords), .flag("allowPasswordSignup", \.signIn.allowsPasswords)),
    (.signIn(.allowsEmailLinks), .flag("enableEmailLinkSignin", \.signIn.allowsEmailLinks)),
    (.signIn(.allowsAnonymous), .flag("enableAnonymousUser", \.signIn.allowsAnonymous)),
    (.signIn(.isDisabled), .flag("disableAuth", \.signIn.isDisabled)),
    (.signIn(.mfaState), .mfaState("mfaConfig.state", \.signIn)),
    (.signIn(.allowsPhoneFactors), .phoneFactors("mfaConfig.enabledProviders", \.signIn)),
    (.signIn(.allowsTotpFactors), .totpFactors("mfaConfig.providerConfigs", \.signIn)),
  ]

  private static let members = table.map(\.json)

  /// A tenant as JSON.
  public static func json(of tenant: Tenant, project: String) -> JSONObject {
    var object: JSONObject = [
      "name": .string("projects/\(project)/tenants/\(tenant.tenantID)"), "tenantId": .string(tenant.tenantID),
    ]
    for member in JSONMembers.json(of: tenant, members).members { object[member.name] = member.value }
    return object
  }

  /// The paths of some properties; phone numbers of a tenant have none.
  public static func mask(of changed: Set<Tenant.Member>) -> [String] {
    table.filter { changed.contains($0.member) }.map(\.json.path)
  }

  /// Reads the request for a new tenant: what it does not say is not allowed.
  public static func createRequest(_ object: JSONObject) throws(BytesError) -> CreateTenantRequest {
    let tenant = try tenant(object)
    return CreateTenantRequest(displayName: tenant.displayName, signIn: tenant.signIn)
  }

  /// The request for a new tenant as JSON.
  public static func json(of request: CreateTenantRequest) -> JSONObject {
    JSONMembers.json(
      of: Tenant(tenantID: "", displayName: request.displayName, signIn: request.signIn), members)
  }

  /// Reads a tenant: what it does not say is not allowed; phone numbers never are, as tenants have no sign-in by phone.
  public static func tenant(_ object: JSONObject) throws(BytesError) -> Tenant {
    let name = object["name"]?.string.flatMap { $0.parts(at: "/", omittingEmpty: true).last.map(String.init) }
    var tenant = Tenant(tenantID: object["tenantId"]?.string ?? name ?? "", signIn: nothing)
    try JSONMembers.merge(object, into: &tenant, members)
    return tenant
  }

  /// Reads the request to change a tenant.
  ///
  /// - Parameters:
  ///   - object: The members.
  ///   - tenantID: The tenant.
  ///   - mask: The paths that count, each with everything below it: a path that the object lacks is reset. `nil` for
  ///     what the object has.
  public static func updateRequest(
    _ object: JSONObject, tenantID: String, mask: [String]?
  ) throws(BytesError) -> UpdateTenantRequest {
    var tenant = Tenant(tenantID: tenantID, signIn: nothing)
    let changed = try JSONMembers.merge(object, into: &tenant, mask: mask, members)
    return UpdateTenantRequest(tenant, members: Set(table.filter { changed.contains($0.json.path) }.map(\.member)))
  }

  private static let nothing = SignInSettings(
    allowsPasswords: false, allowsEmailLinks: false, allowsAnonymous: false, allowsPhone: false, mfaState: .disabled,
    allowsPhoneFactors: false, allowsTotpFactors: false)
}

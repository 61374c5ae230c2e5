public import VestaAuthBackend
public import VestaBytes

/// The settings of a project, as `projects.config` has them.
public enum ProjectConfigWire {
  private static let members: [JSONMember<ProjectConfig>] = [
    .flag("signIn.allowDuplicateEmails", \.allowsDuplicateEmails),
    .flag("signIn.email.enabled", \.signIn.allowsPasswords),
    .flag("signIn.anonymous.enabled", \.signIn.allowsAnonymous),
    .flag("signIn.phoneNumber.enabled", \.signIn.allowsPhone),
    .flag("emailPrivacyConfig.enableImprovedEmailPrivacy", \.hidesEmails),
    JSONMember(path: "authorizedDomains") {
      .array($0.authorizedDomains.map { .string($0) })
    } write: { config, json in
      guard let names = json.array, names.allSatisfy({ $0.string != nil }) else { return false }
      config.authorizedDomains = names.compactMap(\.string)
      return true
    },
    .mfaState("mfa.state", \.signIn),
    JSONMember(path: "blockingFunctions") {
      BlockingFunctionsWire.json(of: $0.blockingFunctions).map { .object($0) }
    } write: { config, json in
      guard let settings = json.object.flatMap(BlockingFunctionsWire.settings) else { return false }
      config.blockingFunctions = settings
      return true
    },
  ]

  /// The members that local test suites read and write.
  private static let emulated: Set<String> = [
    "signIn.allowDuplicateEmails", "emailPrivacyConfig.enableImprovedEmailPrivacy",
  ]

  /// The settings as JSON.
  ///
  /// - Parameters:
  ///   - config: The settings.
  ///   - project: The project, which is part of the name.
  public static func json(of config: ProjectConfig, project: String) -> JSONObject {
    var object = JSONMembers.json(of: config, members)
    object["name"] = .string("projects/\(project)/config")
    return object
  }

  /// The part of the settings that local test suites have.
  public static func emulatorJSON(of config: ProjectConfig) -> JSONObject {
    JSONMembers.json(of: config, members.filter { emulated.contains($0.path) })
  }

  /// Changes settings by the members that an object has.
  ///
  /// - Parameters:
  ///   - object: The object; members that this does not know are ignored.
  ///   - config: The settings.
  ///   - mask: The paths that count, each with everything below it; `nil` for all.
  /// - Throws: `BytesError` with `.malformed` for a member of the wrong type.
  public static func merge(
    _ object: JSONObject, into config: inout ProjectConfig, mask: [String]? = nil
  ) throws(BytesError) {
    try JSONMembers.merge(object, into: &config, mask: mask, members)
  }

  /// The paths of all members, for a change that replaces them.
  public static var mask: [String] { members.map(\.path) }

  /// Whether the members say everything by which a value differs from another; a change cannot be sent otherwise.
  public static func canState(_ config: ProjectConfig, insteadOf current: ProjectConfig) -> Bool {
    var read = current
    return (try? merge(json(of: config, project: ""), into: &read)) != nil && read == config
  }
}

/// Tenants as `projects.tenants` has them.
public enum TenantWire {
  private static let members: [JSONMember<Tenant>] = [
    .text("displayName", \.displayName),
    .flag("allowPasswordSignup", \.signIn.allowsPasswords),
    .flag("enableEmailLinkSignin", \.signIn.allowsEmailLinks),
    .flag("enableAnonymousUser", \.signIn.allowsAnonymous),
    .flag("disableAuth", \.signIn.isDisabled),
    .mfaState("mfaConfig.state", \.signIn),
    JSONMember(path: "mfaConfig.enabledProviders") {
      .array($0.signIn.allowsPhoneFactors ? ["PHONE_SMS"] : [])
    } write: { tenant, json in
      guard let names = json.array else { return false }
      tenant.signIn.allowsPhoneFactors = names.contains { $0.string == "PHONE_SMS" }
      return true
    },
    JSONMember(path: "mfaConfig.providerConfigs") {
      let state: JSONValue = $0.signIn.allowsTotpFactors ? "ENABLED" : "DISABLED"
      return .array([["state": state, "totpProviderConfig": [:]]])
    } write: { tenant, json in
      guard let configs = json.array else { return false }
      tenant.signIn.allowsTotpFactors = configs.contains { config in
        config.object?["totpProviderConfig"] != nil && config.object?["state"]?.string != "DISABLED"
      }
      return true
    },
  ]

  /// A tenant as JSON.
  public static func json(of tenant: Tenant, project: String) -> JSONObject {
    var object: JSONObject = [
      "name": .string("projects/\(project)/tenants/\(tenant.tenantID)"), "tenantId": .string(tenant.tenantID),
    ]
    for member in JSONMembers.json(of: tenant, members).members { object[member.name] = member.value }
    return object
  }

  /// The paths of all members, for a change that replaces them.
  public static var mask: [String] { members.map(\.path) }

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
    let nothing = SignInSettings(
      allowsPasswords: false, allowsEmailLinks: false, allowsAnonymous: false, allowsPhone: false, mfaState: .disabled,
      allowsPhoneFactors: false, allowsTotpFactors: false)
    let name = object["name"]?.string.flatMap { $0.split(separator: "/").last.map(String.init) }
    var tenant = Tenant(tenantID: object["tenantId"]?.string ?? name ?? "", signIn: nothing)
    try JSONMembers.merge(object, into: &tenant, members)
    return tenant
  }

  /// Reads the request to change a tenant.
  ///
  /// - Parameters:
  ///   - object: The members.
  ///   - tenant: The tenant as it is.
  ///   - mask: The paths that count; `nil` for all.
  public static func updateRequest(
    _ object: JSONObject, _ tenant: Tenant, mask: [String]?
  ) throws(BytesError) -> UpdateTenantRequest {
    var tenant = tenant
    try JSONMembers.merge(object, into: &tenant, mask: mask, members)
    return UpdateTenantRequest(tenantID: tenant.tenantID, displayName: tenant.displayName, signIn: tenant.signIn)
  }
}

/// The part of a project's settings that clients may read.
public enum PublicProjectConfigWire {
  /// The settings as JSON.
  public static func json(of config: PublicProjectConfig) -> JSONObject {
    [
      "projectId": .string(config.projectID), "authorizedDomains": .array(config.authorizedDomains.map { .string($0) }),
    ]
  }

  /// Reads the settings.
  public static func config(_ object: JSONObject) -> PublicProjectConfig {
    PublicProjectConfig(
      projectID: object["projectId"]?.string ?? "",
      authorizedDomains: (object["authorizedDomains"]?.array ?? []).compactMap(\.string))
  }
}

/// The rules of passwords, as `passwordPolicy` has them.
public enum PasswordPolicyWire {
  private static let members: [JSONMember<PasswordPolicy>] = [
    .number("customStrengthOptions.minPasswordLength", \.minimumLength),
    .number("customStrengthOptions.maxPasswordLength", \.maximumLength),
    .flag("customStrengthOptions.containsLowercaseCharacter", \.requiresLowercase),
    .flag("customStrengthOptions.containsUppercaseCharacter", \.requiresUppercase),
    .flag("customStrengthOptions.containsNumericCharacter", \.requiresNumeric),
    .flag("customStrengthOptions.containsNonAlphanumericCharacter", \.requiresNonAlphanumeric),
    .flag("forceUpgradeOnSignin", \.forcesUpgradeOnSignIn),
    .number("schemaVersion", \.schemaVersion),
    JSONMember(path: "enforcementState") {
      .string($0.isEnforced ? "ENFORCE" : "OFF")
    } write: { policy, json in
      policy.isEnforced = json.string == "ENFORCE"
      return json.string != nil
    },
    JSONMember(path: "allowedNonAlphanumericCharacters") {
      .array($0.allowedNonAlphanumericCharacters.map { .string(String($0)) })
    } write: { policy, json in
      guard let characters = json.array else { return false }
      policy.allowedNonAlphanumericCharacters = characters.compactMap(\.string).joined()
      return true
    },
  ]

  /// The rules as JSON.
  public static func json(of policy: PasswordPolicy) -> JSONObject { JSONMembers.json(of: policy, members) }

  /// Reads rules; what is not said is as in a new project.
  public static func policy(_ object: JSONObject) throws(BytesError) -> PasswordPolicy {
    var policy = PasswordPolicy()
    try JSONMembers.merge(object, into: &policy, members)
    return policy
  }
}

extension JSONMember {
  /// Whether second factors are allowed, by name.
  fileprivate static func mfaState(_ path: String, _ part: Part<SignInSettings>)
    -> JSONMember
  {
    JSONMember(path: path) {
      .string($0[keyPath: part].mfaState.rawValue)
    } write: { root, json in
      guard let state = json.string.flatMap(MfaState.init) else { return false }
      root[keyPath: part].mfaState = state
      return true
    }
  }
}

public import VestaAuthBackend
public import VestaBytes

/// The settings of a project, as `projects.config` has them.
public enum ProjectConfigWire {
  private static let table: [(member: ProjectConfig.Member, json: JSONMember<ProjectConfig>)] = [
    (.allowsDuplicateEmails, .flag("signIn.allowDuplicateEmails", \.allowsDuplicateEmails)),
    (.signIn(.allowsPasswords), .flag("signIn.email.enabled", \.signIn.allowsPasswords)),
    (.signIn(.allowsEmailLinks), .emailLinks("signIn.email.passwordRequired", \.signIn)),
    (.signIn(.allowsAnonymous), .flag("signIn.anonymous.enabled", \.signIn.allowsAnonymous)),
    (.signIn(.allowsPhone), .flag("signIn.phoneNumber.enabled", \.signIn.allowsPhone)),
    (.hidesEmails, .flag("emailPrivacyConfig.enableImprovedEmailPrivacy", \.hidesEmails)),
    (.authorizedDomains, .texts("authorizedDomains", \.authorizedDomains)),
    (.signIn(.mfaState), .mfaState("mfa.state", \.signIn)),
    (.signIn(.allowsPhoneFactors), .phoneFactors("mfa.enabledProviders", \.signIn)),
    (.signIn(.allowsTotpFactors), .totpFactors("mfa.providerConfigs", \.signIn)),
    (.passwordPolicy, .passwordPolicy("passwordPolicyConfig", \.passwordPolicy)),
    (.blockingFunctions, .blockingFunctions("blockingFunctions", \.blockingFunctions)),
  ]

  private static let members = table.map(\.json)

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
  /// - Throws: `BytesError` with `.malformed` for a member of the wrong type.
  public static func merge(_ object: JSONObject, into config: inout ProjectConfig) throws(BytesError) {
    try JSONMembers.merge(object, into: &config, members)
  }

  /// Reads a change of some settings.
  ///
  /// - Parameters:
  ///   - object: The object; members that this does not know are ignored.
  ///   - mask: The paths that count, each with everything below it: a path that the object lacks is reset. `nil` for
  ///     what the object has.
  ///   - current: The settings as they were read, for the parts of a password policy that the object does not have.
  /// - Throws: `BytesError` with `.malformed` for a member of the wrong type.
  public static func change(
    _ object: JSONObject, mask: [String]?, current: ProjectConfig
  ) throws(BytesError) -> ProjectConfigChange {
    var config = current
    let changed = try JSONMembers.merge(object, into: &config, mask: mask, members)
    return ProjectConfigChange(config, members: Set(table.filter { changed.contains($0.json.path) }.map(\.member)))
  }

  /// The paths of some settings; `signIn.isDisabled` of a project has none.
  public static func mask(of changed: Set<ProjectConfig.Member>) -> [String] {
    table.filter { changed.contains($0.member) }.map(\.json.path)
  }

  /// Whether the members say everything by which a value differs from another; a change cannot be sent otherwise.
  public static func canState(_ config: ProjectConfig, insteadOf current: ProjectConfig) -> Bool {
    var read = current
    return (try? merge(json(of: config, project: ""), into: &read)) != nil && read == config
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

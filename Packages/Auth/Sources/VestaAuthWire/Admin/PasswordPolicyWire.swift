public import VestaAuthBackend
public import VestaBytes

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
    } clear: {
      $0.isEnforced = false
    },
    JSONMember(path: "allowedNonAlphanumericCharacters") {
      .array($0.allowedNonAlphanumericCharacters.map { .string(String($0)) })
    } write: { policy, json in
      guard let characters = json.array else { return false }
      policy.allowedNonAlphanumericCharacters = characters.compactMap(\.string).joined()
      return true
    } clear: {
      $0.allowedNonAlphanumericCharacters = PasswordPolicy().allowedNonAlphanumericCharacters
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

  /// The rules as the settings of a project have them.
  static func configJSON(of policy: PasswordPolicy) -> JSONObject {
    let all = json(of: policy)
    return [
      "passwordPolicyEnforcementState": all["enforcementState"] ?? "OFF",
      "forceUpgradeOnSignin": all["forceUpgradeOnSignin"] ?? false,
      "passwordPolicyVersions": [
        ["customStrengthOptions": all["customStrengthOptions"] ?? [:], "schemaVersion": all["schemaVersion"] ?? 1]
      ],
    ]
  }

  /// Changes rules by what the settings of a project say.
  static func merge(config: JSONObject, into policy: inout PasswordPolicy) throws(BytesError) {
    var object = JSONObject()
    object["enforcementState"] = config["passwordPolicyEnforcementState"]
    object["forceUpgradeOnSignin"] = config["forceUpgradeOnSignin"]
    if let version = config["passwordPolicyVersions"]?.array?.last?.object {
      object["customStrengthOptions"] = version["customStrengthOptions"]
      object["schemaVersion"] = version["schemaVersion"]
    }
    try JSONMembers.merge(object, into: &policy, members)
  }
}

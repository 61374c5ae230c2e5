import VestaAuthBackend
import VestaBytes

// The members that settings of projects and of tenants share.

extension JSONMember {
  /// Whether second factors are allowed, by name.
  static func mfaState(_ path: String, _ part: Part<SignInSettings>) -> JSONMember {
    JSONMember(path: path) {
      .string($0[keyPath: part].mfaState.rawValue)
    } write: { root, json in
      guard let state = json.string.flatMap(MfaState.init) else { return false }
      root[keyPath: part].mfaState = state
      return true
    } clear: {
      $0[keyPath: part].mfaState = .disabled
    }
  }

  /// Whether phones can be second factors: one name in a list.
  static func phoneFactors(_ path: String, _ part: Part<SignInSettings>) -> JSONMember {
    JSONMember(path: path) {
      .array($0[keyPath: part].allowsPhoneFactors ? ["PHONE_SMS"] : [])
    } write: { root, json in
      guard let names = json.array else { return false }
      root[keyPath: part].allowsPhoneFactors = names.contains { $0.string == "PHONE_SMS" }
      return true
    } clear: {
      $0[keyPath: part].allowsPhoneFactors = false
    }
  }

  /// Whether apps can be second factors: the state of a provider in a list.
  static func totpFactors(_ path: String, _ part: Part<SignInSettings>) -> JSONMember {
    JSONMember(path: path) {
      let state: JSONValue = $0[keyPath: part].allowsTotpFactors ? "ENABLED" : "DISABLED"
      return .array([["state": state, "totpProviderConfig": [:]]])
    } write: { root, json in
      guard let configs = json.array else { return false }
      root[keyPath: part].allowsTotpFactors = configs.contains { config in
        config.object?["totpProviderConfig"] != nil && config.object?["state"]?.string != "DISABLED"
      }
      return true
    } clear: {
      $0[keyPath: part].allowsTotpFactors = false
    }
  }

  /// Whether users may sign in by e-mail link: the opposite of a member.
  static func emailLinks(_ path: String, _ part: Part<SignInSettings>) -> JSONMember {
    JSONMember(path: path) {
      .bool(!$0[keyPath: part].allowsEmailLinks)
    } write: { root, json in
      guard case .bool(let isPasswordRequired) = json else { return false }
      root[keyPath: part].allowsEmailLinks = !isPasswordRequired
      return true
    } clear: {
      $0[keyPath: part].allowsEmailLinks = true
    }
  }

  /// A list of strings.
  static func texts(_ path: String, _ part: Part<[String]>) -> JSONMember {
    JSONMember(path: path) {
      .array($0[keyPath: part].map { .string($0) })
    } write: { root, json in
      guard let texts = json.array, texts.allSatisfy({ $0.string != nil }) else { return false }
      root[keyPath: part] = texts.compactMap(\.string)
      return true
    } clear: {
      $0[keyPath: part] = []
    }
  }

  /// The rules of passwords, with a list of versions of which the last one counts.
  static func passwordPolicy(_ path: String, _ part: Part<PasswordPolicy>) -> JSONMember {
    JSONMember(path: path) {
      .object(PasswordPolicyWire.configJSON(of: $0[keyPath: part]))
    } write: { root, json in
      guard let object = json.object else { return false }
      return (try? PasswordPolicyWire.merge(config: object, into: &root[keyPath: part])) != nil
    } clear: {
      $0[keyPath: part] = PasswordPolicy()
    }
  }

  /// The functions that are asked before accounts are created and before users sign in, as a whole.
  static func blockingFunctions(_ path: String, _ part: Part<BlockingFunctionSettings>) -> JSONMember {
    JSONMember(path: path) {
      BlockingFunctionsWire.json(of: $0[keyPath: part]).map { .object($0) }
    } write: { root, json in
      guard let settings = json.object.flatMap(BlockingFunctionsWire.settings) else { return false }
      root[keyPath: part] = settings
      return true
    } clear: {
      $0[keyPath: part] = BlockingFunctionSettings()
    }
  }
}

import VestaAuthBackend

/// The checks of an identity provider's settings, without the store.
enum IdentityProviderCheck {
  private static let longestText = 4_096
  private static let longestKey = 1 << 14
  private static let longestList = 20

  /// The ids of ways to sign in that are no providers.
  static let reserved: Set<String> = ["", "password", "phone", "anonymous", "custom", "emailLink", "firebase"]

  static func check(_ provider: IdentityProvider) throws(AuthServiceError) {
    try checkID(provider.id)
    try checkLengths(provider)
    switch provider.kind {
    case .standard: break
    case .openIDConnect:
      try require(provider.clientID, "clientId", provider)
      try require(provider.issuer, "issuer", provider)
      guard let issuer = provider.issuer, issuer.hasPrefix("https://") || issuer.hasPrefix("http://") else {
        throw invalid("The issuer of \(provider.id) is no URL.")
      }
    case .saml:
      try require(provider.saml.entityID, "idpConfig.idpEntityId", provider)
      try require(provider.saml.signInURL, "idpConfig.ssoUrl", provider)
      try require(provider.saml.certificates.first, "idpConfig.idpCertificates", provider)
      try require(provider.saml.serviceEntityID, "spConfig.spEntityId", provider)
      try require(provider.saml.callbackURL, "spConfig.callbackUri", provider)
    }
  }

  private static func checkLengths(_ provider: IdentityProvider) throws(AuthServiceError) {
    let texts = [
      provider.displayName, provider.clientID, provider.clientSecret, provider.issuer, provider.saml.entityID,
      provider.saml.signInURL, provider.saml.serviceEntityID, provider.saml.callbackURL, provider.apple.teamID,
      provider.apple.keyID,
    ]
    let keys = provider.saml.certificates + [provider.apple.privateKey].compactMap { $0 }
    guard texts.allSatisfy({ ($0?.utf8.count ?? 0) <= longestText }),
      keys.allSatisfy({ $0.utf8.count <= longestKey }), keys.count <= longestList,
      provider.apple.bundleIDs.count <= longestList,
      provider.apple.bundleIDs.allSatisfy({ $0.utf8.count <= longestText })
    else { throw invalid("A setting of \(provider.id) is too long.") }
  }

  private static func checkID(_ id: String) throws(AuthServiceError) {
    let isFine = id.utf8.allSatisfy { byte in
      byte &- 48 < 10 || (byte | 32) &- 97 < 26 || [UInt8](".-_".utf8).contains(byte)
    }
    guard isFine, !reserved.contains(id), (1...128).contains(id.utf8.count), id != "oidc.", id != "saml." else {
      throw invalid("\(id.prefix(128)) is no id of an identity provider.")
    }
  }

  private static func require(
    _ value: String?, _ name: String, _ provider: IdentityProvider
  ) throws(AuthServiceError) {
    guard value?.isEmpty == false else { throw invalid("\(provider.id) needs \(name).") }
  }

  static func invalid(_ why: String) -> AuthServiceError { AuthServiceError(.invalidConfig, why) }
}

extension IdentityProvider {
  /// The issuers that the provider's ID tokens may have; none for a provider without ID tokens.
  var issuers: [String] {
    switch id {
    case "google.com": ["https://accounts.google.com", "accounts.google.com"]
    case "apple.com": ["https://appleid.apple.com"]
    default: kind == .openIDConnect ? [issuer].compactMap { $0 } : []
    }
  }

  /// The audiences that the provider's ID tokens may have.
  var audiences: Set<String> {
    Set([clientID].compactMap { $0 } + apple.bundleIDs).subtracting([""])
  }
}

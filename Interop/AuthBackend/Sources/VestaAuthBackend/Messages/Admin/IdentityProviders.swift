/// An identity provider in the settings of a project or of a tenant.
///
/// The id says which settings count: an OpenID Connect provider begins with `oidc.`, a SAML provider with `saml.`, and
/// every other id is that of a provider whose addresses are known, such as `google.com`. Settings that do not count
/// are not kept (``members(ofID:)``).
public struct IdentityProvider: AuthMessage {
  /// The kinds of providers, by the name of their collection on the wire.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A provider whose addresses are known, such as `google.com`.
    case standard = "defaultSupportedIdpConfigs"
    /// A provider of OpenID Connect with an issuer.
    case openIDConnect = "oauthIdpConfigs"
    /// A provider of SAML 2.0. Its settings are kept; its responses are not verified, so no user signs in with it.
    case saml = "inboundSamlConfigs"

    /// The kind of an id.
    public init(providerID: String) {
      self = providerID.hasPrefix("oidc.") ? .openIDConnect : providerID.hasPrefix("saml.") ? .saml : .standard
    }
  }

  /// The parts of the response that an OpenID Connect provider is asked for.
  public enum ResponseType: String, Sendable, Hashable, CaseIterable {
    /// An ID token.
    case idToken
    /// A code that is exchanged with the client secret.
    case code
    /// An access token.
    case token
  }

  /// Names the provider, such as `google.com`, `oidc.acme` or `saml.acme`.
  public var id: String

  /// The name that is shown to users.
  public var displayName: String?

  /// Whether users can sign in with it.
  public var isEnabled: Bool

  /// The id of the project at the provider: the audience of its ID tokens.
  public var clientID: String?

  /// The secret of the project at the provider, for the exchange of codes, which clients or a server make.
  public var clientSecret: String?

  /// The issuer of an OpenID Connect provider.
  public var issuer: String?

  /// The parts of the response of an OpenID Connect provider.
  public var responseTypes: Set<ResponseType>

  /// The settings of a SAML provider.
  public var saml: SAMLSettings

  /// The settings of `apple.com`.
  public var apple: AppleSettings

  /// The kind, by the id.
  public var kind: Kind { Kind(providerID: id) }

  /// Creates a value with these properties.
  public init(
    id: String, displayName: String? = nil, isEnabled: Bool = false, clientID: String? = nil,
    clientSecret: String? = nil, issuer: String? = nil, responseTypes: Set<ResponseType> = [],
    saml: SAMLSettings = SAMLSettings(), apple: AppleSettings = AppleSettings()
  ) {
    self.id = id
    self.displayName = displayName
    self.isEnabled = isEnabled
    self.clientID = clientID
    self.clientSecret = clientSecret
    self.issuer = issuer
    self.responseTypes = responseTypes
    self.saml = saml
    self.apple = apple
  }
}

/// The two sides of a SAML provider.
public struct SAMLSettings: AuthMessage {
  /// The entity id of the provider.
  public var entityID: String?
  /// The URL to which sign-ins are sent.
  public var signInURL: String?
  /// The certificates of the provider, in PEM.
  public var certificates: [String]
  /// Whether requests to the provider are signed.
  public var signsRequests: Bool
  /// The entity id of the project.
  public var serviceEntityID: String?
  /// The URL to which the provider returns.
  public var callbackURL: String?

  /// Creates a value with these properties.
  public init(
    entityID: String? = nil, signInURL: String? = nil, certificates: [String] = [], signsRequests: Bool = false,
    serviceEntityID: String? = nil, callbackURL: String? = nil
  ) {
    self.entityID = entityID
    self.signInURL = signInURL
    self.certificates = certificates
    self.signsRequests = signsRequests
    self.serviceEntityID = serviceEntityID
    self.callbackURL = callbackURL
  }
}

/// The settings of `apple.com`: the key of its code flow, and the apps whose tokens are accepted.
public struct AppleSettings: AuthMessage {
  /// The id of the team.
  public var teamID: String?
  /// The id of the key.
  public var keyID: String?
  /// The private key, in PEM.
  public var privateKey: String?
  /// The bundle ids of apps, which are audiences in addition to the client id.
  public var bundleIDs: [String]

  /// Creates a value with these properties.
  public init(
    teamID: String? = nil, keyID: String? = nil, privateKey: String? = nil, bundleIDs: [String] = []
  ) {
    self.teamID = teamID
    self.keyID = keyID
    self.privateKey = privateKey
    self.bundleIDs = bundleIDs
  }
}

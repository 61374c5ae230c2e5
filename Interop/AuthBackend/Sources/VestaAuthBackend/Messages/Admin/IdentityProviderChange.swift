extension IdentityProvider {
  /// One property of a provider, for a change of some of them.
  public enum Member: Sendable, Hashable, CaseIterable {
    /// ``IdentityProvider/displayName``.
    case displayName
    /// ``IdentityProvider/isEnabled``.
    case isEnabled
    /// ``IdentityProvider/clientID``.
    case clientID
    /// ``IdentityProvider/clientSecret``.
    case clientSecret
    /// ``IdentityProvider/issuer``.
    case issuer
    /// Whether ``IdentityProvider/responseTypes`` has the ID token.
    case responseIDToken
    /// Whether ``IdentityProvider/responseTypes`` has the code.
    case responseCode
    /// Whether ``IdentityProvider/responseTypes`` has the access token.
    case responseToken
    /// ``SAMLSettings/entityID``.
    case samlEntityID
    /// ``SAMLSettings/signInURL``.
    case samlSignInURL
    /// ``SAMLSettings/certificates`` as a whole.
    case samlCertificates
    /// ``SAMLSettings/signsRequests``.
    case samlSignsRequests
    /// ``SAMLSettings/serviceEntityID``.
    case samlServiceEntityID
    /// ``SAMLSettings/callbackURL``.
    case samlCallbackURL
    /// The key of ``IdentityProvider/apple`` as a whole: team, id and private key.
    case appleKey
    /// ``AppleSettings/bundleIDs`` as a whole.
    case appleBundleIDs
  }

  /// The properties that the provider of an id has; the others are not kept.
  public static func members(ofID id: String) -> Set<Member> {
    switch Kind(providerID: id) {
    case .standard where id == "apple.com": [.isEnabled, .clientID, .clientSecret, .appleKey, .appleBundleIDs]
    case .standard: [.isEnabled, .clientID, .clientSecret]
    case .openIDConnect:
      [
        .displayName, .isEnabled, .clientID, .clientSecret, .issuer, .responseIDToken, .responseCode, .responseToken,
      ]
    case .saml:
      [
        .displayName, .isEnabled, .samlEntityID, .samlSignInURL, .samlCertificates, .samlSignsRequests,
        .samlServiceEntityID, .samlCallbackURL,
      ]
    }
  }

  /// The provider with the properties that its id has, and no others.
  public var restricted: IdentityProvider {
    var provider = IdentityProvider(id: id)
    provider.take(Self.members(ofID: id), from: self)
    return provider
  }

  /// Takes some properties from another provider.
  ///
  /// - Parameters:
  ///   - members: The properties to take.
  ///   - other: Has their values.
  public mutating func take(_ members: Set<Member>, from other: IdentityProvider) {
    for member in members {
      switch member {
      case .displayName: displayName = other.displayName
      case .isEnabled: isEnabled = other.isEnabled
      case .clientID: clientID = other.clientID
      case .clientSecret: clientSecret = other.clientSecret
      case .issuer: issuer = other.issuer
      case .responseIDToken: take(.idToken, from: other)
      case .responseCode: take(.code, from: other)
      case .responseToken: take(.token, from: other)
      case .samlEntityID: saml.entityID = other.saml.entityID
      case .samlSignInURL: saml.signInURL = other.saml.signInURL
      case .samlCertificates: saml.certificates = other.saml.certificates
      case .samlSignsRequests: saml.signsRequests = other.saml.signsRequests
      case .samlServiceEntityID: saml.serviceEntityID = other.saml.serviceEntityID
      case .samlCallbackURL: saml.callbackURL = other.saml.callbackURL
      case .appleKey:
        (apple.teamID, apple.keyID) = (other.apple.teamID, other.apple.keyID)
        apple.privateKey = other.apple.privateKey
      case .appleBundleIDs: apple.bundleIDs = other.apple.bundleIDs
      }
    }
  }
}

extension IdentityProvider {
  private mutating func take(_ type: ResponseType, from other: IdentityProvider) {
    if other.responseTypes.contains(type) { responseTypes.insert(type) } else { responseTypes.remove(type) }
  }
}

/// A change of some properties of a provider; all others stay as they are when the change is made.
public struct IdentityProviderChange: AuthMessage {
  /// Names the provider, and has the new values.
  public var provider: IdentityProvider

  /// The properties that are changed.
  public var members: Set<IdentityProvider.Member>

  /// Creates a value with these properties.
  public init(_ provider: IdentityProvider, members: Set<IdentityProvider.Member>) {
    self.provider = provider
    self.members = members
  }
}

/// A page of the providers of one kind.
public struct ListProvidersRequest: AuthMessage {
  /// The kind.
  public var kind: IdentityProvider.Kind

  /// How many providers, 1 to 100.
  public var pageSize: Int

  /// The token of the page before.
  public var pageToken: String?

  /// Creates a value with these properties.
  public init(kind: IdentityProvider.Kind, pageSize: Int = 20, pageToken: String? = nil) {
    self.kind = kind
    self.pageSize = pageSize
    self.pageToken = pageToken
  }
}

/// A page of the providers of one kind.
public struct ListProvidersResponse: AuthMessage {
  /// The providers by id.
  public var providers: [IdentityProvider]

  /// Gives the next page; `nil` after the last one.
  public var nextPageToken: String?

  /// Creates a value with these properties.
  public init(providers: [IdentityProvider], nextPageToken: String? = nil) {
    self.providers = providers
    self.nextPageToken = nextPageToken
  }
}

public import VestaBytes

/// The functions that a project asks before accounts are created and before users sign in.
public struct BlockingFunctionSettings: AuthMessage {
  /// The URL of the function that is asked before an account is created; `nil` for none.
  public var beforeCreate: String?
  /// The URL of the function that is asked before a user signs in; `nil` for none.
  public var beforeSignIn: String?
  /// Whether functions get the access token of an identity provider.
  public var forwardsAccessTokens: Bool
  /// Whether functions get the ID token of an identity provider.
  public var forwardsIDTokens: Bool
  /// Whether functions get the refresh token of an identity provider.
  public var forwardsRefreshTokens: Bool

  /// Creates a value with these properties.
  public init(
    beforeCreate: String? = nil, beforeSignIn: String? = nil, forwardsAccessTokens: Bool = false,
    forwardsIDTokens: Bool = false, forwardsRefreshTokens: Bool = false
  ) {
    self.beforeCreate = beforeCreate
    self.beforeSignIn = beforeSignIn
    self.forwardsAccessTokens = forwardsAccessTokens
    self.forwardsIDTokens = forwardsIDTokens
    self.forwardsRefreshTokens = forwardsRefreshTokens
  }

  /// The URL of the function for an event.
  public func url(of event: BlockingEvent) -> String? {
    switch event {
    case .beforeCreate: beforeCreate
    case .beforeSignIn: beforeSignIn
    }
  }
}

/// The steps of a sign-up or a sign-in before which blocking functions are asked.
public enum BlockingEvent: String, Sendable, Hashable, CaseIterable {
  /// An account is about to be created.
  case beforeCreate
  /// A user is about to sign in.
  case beforeSignIn
}

/// A question to a blocking function.
public struct BlockingQuestion: AuthMessage {
  /// The step.
  public var event: BlockingEvent
  /// The URL of the function.
  public var url: String
  /// The project.
  public var project: String
  /// The account as it would be kept.
  public var user: AuthUser
  /// How the user signs in: `password`, `emailLink`, `phone`, or the id of an identity provider.
  public var signInMethod: String
  /// The kind of the second factor that was used; `nil` for none.
  public var secondFactor: String?
  /// The credential of the identity provider, with what the settings let functions see.
  public var credential: IdpCredential?
  /// The identity provider's statements about the user, as the text of `IdpSignInResponse.rawUserInfo`.
  public var rawUserInfo: String?
  /// The claims of a token by OpenID Connect, or the attributes of a response by SAML; `nil` for other providers.
  public var signInAttributes: JSONObject?
  /// For how many seconds the token of the identity provider is valid from now on.
  public var credentialLifetime: Int64?
  /// The address of the client.
  public var clientAddress: String?
  /// The language of the client.
  public var locale: String?
  /// How the client's program calls itself; `nil` where that is not known.
  public var userAgent: String?

  /// Creates a value with these properties.
  public init(
    event: BlockingEvent, url: String, project: String, user: AuthUser, signInMethod: String,
    secondFactor: String? = nil, credential: IdpCredential? = nil, rawUserInfo: String? = nil,
    signInAttributes: JSONObject? = nil, credentialLifetime: Int64? = nil, clientAddress: String? = nil,
    locale: String? = nil, userAgent: String? = nil
  ) {
    self.event = event
    self.url = url
    self.project = project
    self.user = user
    self.signInMethod = signInMethod
    self.secondFactor = secondFactor
    self.credential = credential
    self.rawUserInfo = rawUserInfo
    self.signInAttributes = signInAttributes
    self.credentialLifetime = credentialLifetime
    self.clientAddress = clientAddress
    self.locale = locale
    self.userAgent = userAgent
  }
}

/// The changes that a blocking function has made; a member that is `nil` stays as it is.
public struct BlockingAnswer: AuthMessage {
  /// The name; "" for none.
  public var displayName: String?
  /// The URL of the picture; "" for none.
  public var photoURL: String?
  /// Whether the account is disabled.
  public var disabled: Bool?
  /// Whether the address has been proven.
  public var emailVerified: Bool?
  /// The claims of the account.
  public var customClaims: JSONObject?
  /// The claims of this session alone.
  public var sessionClaims: JSONObject?

  /// Creates a value with these properties.
  public init(
    displayName: String? = nil, photoURL: String? = nil, disabled: Bool? = nil, emailVerified: Bool? = nil,
    customClaims: JSONObject? = nil, sessionClaims: JSONObject? = nil
  ) {
    self.displayName = displayName
    self.photoURL = photoURL
    self.disabled = disabled
    self.emailVerified = emailVerified
    self.customClaims = customClaims
    self.sessionClaims = sessionClaims
  }
}

/// Asks blocking functions; a server provides it as a component.
///
/// The engine asks outside of its transactions, and never for calls of owners, for anonymous accounts and for custom
/// tokens.
public protocol AuthBlockingFunctions: Sendable {
  /// Asks a function.
  ///
  /// - Returns: The changes that the function has made.
  /// - Throws: `BLOCKING_FUNCTION_ERROR_RESPONSE` where the function refuses or does not answer: nothing happens then.
  func answer(to question: BlockingQuestion) async throws(AuthServiceError) -> BlockingAnswer
}

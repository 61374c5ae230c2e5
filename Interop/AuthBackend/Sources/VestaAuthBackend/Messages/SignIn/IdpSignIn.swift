/// The credential of an identity provider.
///
/// The provider decides which properties are set.
public struct IdpCredential: AuthMessage {
  /// The provider, such as "google.com".
  public var providerID: String

  /// The provider's ID token.
  public var idToken: String?

  /// The provider's access token.
  public var accessToken: String?

  /// The secret of an OAuth 1 token.
  public var oauthTokenSecret: String?

  /// The nonce; the ID token has it or its SHA-256.
  public var rawNonce: String?

  /// A code that the backend can exchange for tokens.
  public var authorizationCode: String?

  /// The pending token of an earlier response.
  public var pendingToken: String?

  /// The provider's SAML response.
  public var samlResponse: String?

  /// The credential of Game Center, as the wire's JSON.
  public var gameCenterSignature: String?

  /// The given name, where the provider returns it once and not in the token.
  public var givenName: String?

  /// The family name, where the provider returns it once and not in the token.
  public var familyName: String?

  /// Creates a value with these properties.
  public init(
    providerID: String,
    idToken: String? = nil,
    accessToken: String? = nil,
    oauthTokenSecret: String? = nil,
    rawNonce: String? = nil,
    authorizationCode: String? = nil,
    pendingToken: String? = nil,
    samlResponse: String? = nil,
    gameCenterSignature: String? = nil,
    givenName: String? = nil,
    familyName: String? = nil
  ) {
    self.providerID = providerID
    self.idToken = idToken
    self.accessToken = accessToken
    self.oauthTokenSecret = oauthTokenSecret
    self.rawNonce = rawNonce
    self.authorizationCode = authorizationCode
    self.pendingToken = pendingToken
    self.samlResponse = samlResponse
    self.gameCenterSignature = gameCenterSignature
    self.givenName = givenName
    self.familyName = familyName
  }
}

/// The credential of an identity provider, to sign in with or to link.
public struct IdpSignInRequest: AuthMessage {
  /// The credential of the provider.
  public var credential: IdpCredential

  /// The address to which the provider sent the user.
  public var requestURI: String

  /// The ID token of the account to link to; `nil` to sign in.
  public var idToken: String?

  /// Whether refusals are returned as `errorMessage`, with the provider's answer.
  public var returnIdpCredential: Bool

  /// Whether an account is made where there is none.
  public var autoCreate: Bool

  /// The session in which the request to the provider was made.
  public var sessionID: String?

  /// Creates a value with these properties.
  public init(
    credential: IdpCredential,
    requestURI: String = "http://localhost",
    idToken: String? = nil,
    returnIdpCredential: Bool = true,
    autoCreate: Bool = true,
    sessionID: String? = nil
  ) {
    self.credential = credential
    self.requestURI = requestURI
    self.idToken = idToken
    self.returnIdpCredential = returnIdpCredential
    self.autoCreate = autoCreate
    self.sessionID = sessionID
  }
}

/// The provider's assertion and its outcome.
public struct IdpSignInResponse: AuthMessage {
  /// The provider.
  public var providerID: String

  /// The user's id at the provider, as listed in `providerUserInfo`.
  public var federatedID: String

  /// The user's id at the provider.
  public var rawID: String

  /// The user's id; of the account that is in the way, where `needsConfirmation`.
  public var localID: String?

  /// The e-mail address that the provider knows.
  public var email: String?

  /// Whether the provider has verified that address.
  public var emailVerified: Bool

  /// The display name.
  public var displayName: String?

  /// The full name.
  public var fullName: String?

  /// The given name.
  public var firstName: String?

  /// The family name.
  public var lastName: String?

  /// The user's name at the provider.
  public var screenName: String?

  /// The URL of the user's picture.
  public var photoURL: String?

  /// All that the provider said of the user, as JSON text.
  public var rawUserInfo: String?

  /// Whether the account was made by this call.
  public var isNewUser: Bool

  /// The provider's ID token.
  public var oauthIDToken: String?

  /// The provider's access token.
  public var oauthAccessToken: String?

  /// For how many seconds the access token is valid.
  public var oauthExpiresIn: Int64?

  /// The secret of an OAuth 1 token.
  public var oauthTokenSecret: String?

  /// The token to sign in or link with later, instead of the credential.
  public var pendingToken: String?

  /// The nonce of the provider's ID token.
  public var nonce: String?

  /// Whether an account with the same address is in the way: the user has to sign in to that one and link.
  public var needsConfirmation: Bool

  /// The ways to sign in to the account that is in the way.
  public var verifiedProviders: [String]

  /// Why the account refused the credential, as the service writes errors.
  public var errorMessage: String?

  /// The session, or what a second factor needs; `nil` after a refusal.
  public var outcome: SignInOutcome?

  /// Creates a value with these properties.
  public init(
    providerID: String,
    federatedID: String,
    rawID: String,
    localID: String? = nil,
    email: String? = nil,
    emailVerified: Bool = false,
    displayName: String? = nil,
    fullName: String? = nil,
    firstName: String? = nil,
    lastName: String? = nil,
    screenName: String? = nil,
    photoURL: String? = nil,
    rawUserInfo: String? = nil,
    isNewUser: Bool = false,
    oauthIDToken: String? = nil,
    oauthAccessToken: String? = nil,
    oauthExpiresIn: Int64? = nil,
    oauthTokenSecret: String? = nil,
    pendingToken: String? = nil,
    nonce: String? = nil,
    needsConfirmation: Bool = false,
    verifiedProviders: [String] = [],
    errorMessage: String? = nil,
    outcome: SignInOutcome? = nil
  ) {
    self.providerID = providerID
    self.federatedID = federatedID
    self.rawID = rawID
    self.localID = localID
    self.email = email
    self.emailVerified = emailVerified
    self.displayName = displayName
    self.fullName = fullName
    self.firstName = firstName
    self.lastName = lastName
    self.screenName = screenName
    self.photoURL = photoURL
    self.rawUserInfo = rawUserInfo
    self.isNewUser = isNewUser
    self.oauthIDToken = oauthIDToken
    self.oauthAccessToken = oauthAccessToken
    self.oauthExpiresIn = oauthExpiresIn
    self.oauthTokenSecret = oauthTokenSecret
    self.pendingToken = pendingToken
    self.nonce = nonce
    self.needsConfirmation = needsConfirmation
    self.verifiedProviders = verifiedProviders
    self.errorMessage = errorMessage
    self.outcome = outcome
  }
}

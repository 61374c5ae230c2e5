/// An ID token to make a session cookie of.
public struct CreateSessionCookieRequest: AuthMessage {
  /// The ID token.
  public var idToken: String

  /// For how many seconds it is to be valid: 300 to 1,209,600.
  public var validDuration: Int64

  /// Creates a value with these properties.
  public init(idToken: String, validDuration: Int64 = 1_209_600) {
    self.idToken = idToken
    self.validDuration = validDuration
  }
}

/// An ID token or a session cookie to verify.
public struct VerifyTokenRequest: AuthMessage {
  /// The token.
  public var token: String

  /// Whether the account is looked at too: is it there, enabled, and not signed out everywhere.
  public var checksRevocation: Bool

  /// Creates a value with these properties.
  public init(token: String, checksRevocation: Bool = false) {
    self.token = token
    self.checksRevocation = checksRevocation
  }
}

/// A verified token.
public struct VerifiedToken: AuthMessage {
  /// The user's id.
  public var localID: String

  /// All claims, as JSON text.
  public var claims: String

  /// The time of the sign-in, in seconds since 1970.
  public var authTime: Int64

  /// Until when it is valid, in seconds since 1970.
  public var expiresAt: Int64

  /// The user's tenant.
  public var tenantID: String?

  /// Creates a value with these properties.
  public init(localID: String, claims: String, authTime: Int64, expiresAt: Int64, tenantID: String? = nil) {
    self.localID = localID
    self.claims = claims
    self.authTime = authTime
    self.expiresAt = expiresAt
    self.tenantID = tenantID
  }
}

/// The request for a custom token.
public struct CreateCustomTokenRequest: AuthMessage {
  /// The user's id, 1 to 128 characters.
  public var localID: String

  /// Claims for the session, as JSON text.
  public var claims: String?

  /// Creates a value with these properties.
  public init(localID: String, claims: String? = nil) {
    self.localID = localID
    self.claims = claims
  }
}

/// A key with which servers of the project sign custom tokens.
public struct ServiceAccountKey: AuthMessage {
  /// The name of the service account.
  public var clientEmail: String

  /// The `kid` of the key.
  public var privateKeyID: String

  /// The private key as PEM text.
  public var privateKey: String

  /// The project.
  public var projectID: String

  /// Creates a value with these properties.
  public init(clientEmail: String, privateKeyID: String, privateKey: String, projectID: String) {
    self.clientEmail = clientEmail
    self.privateKeyID = privateKeyID
    self.privateKey = privateKey
    self.projectID = projectID
  }
}

/// A code that is handed to the administrator instead of being sent.
public struct OobLink: AuthMessage {
  /// The address.
  public var email: String

  /// The code.
  public var oobCode: String

  /// The link with the code in it.
  public var oobLink: String

  /// Creates a value with these properties.
  public init(email: String, oobCode: String, oobLink: String) {
    self.email = email
    self.oobCode = oobCode
    self.oobLink = oobLink
  }
}

/// A code that was sent by e-mail, as development tools show it.
public struct SentOobCode: AuthMessage {
  /// The address that it was sent for.
  public var email: String

  /// The address that it changes to.
  public var newEmail: String?

  /// The purpose.
  public var requestType: OobRequestType

  /// The code.
  public var oobCode: String

  /// The link with the code in it.
  public var oobLink: String

  /// Creates a value with these properties.
  public init(email: String, newEmail: String? = nil, requestType: OobRequestType, oobCode: String, oobLink: String) {
    self.email = email
    self.newEmail = newEmail
    self.requestType = requestType
    self.oobCode = oobCode
    self.oobLink = oobLink
  }
}

/// A code that was sent to a phone, as development tools show it.
public struct SentVerificationCode: AuthMessage {
  /// The number.
  public var phoneNumber: String

  /// Names the verification.
  public var sessionInfo: String

  /// The code.
  public var code: String

  /// Creates a value with these properties.
  public init(phoneNumber: String, sessionInfo: String, code: String) {
    self.phoneNumber = phoneNumber
    self.sessionInfo = sessionInfo
    self.code = code
  }
}

/// A passkey of an account: a key pair of an authenticator, which signs in its place (WebAuthn).
public struct PasskeyInfo: AuthMessage {
  /// The id that the authenticator gave it, as Base64url.
  public var credentialID: String

  /// The name that the user gave it.
  public var name: String

  /// Creates a value with these properties.
  public init(credentialID: String, name: String) {
    self.credentialID = credentialID
    self.name = name
  }
}

/// The account that is to have a passkey.
public struct StartPasskeyEnrollmentRequest: AuthMessage {
  /// The ID token of the account.
  public var idToken: String

  /// Creates a value with these properties.
  public init(idToken: String) {
    self.idToken = idToken
  }
}

/// The facts with which an authenticator makes a passkey.
public struct PasskeyCreationOptions: AuthMessage {
  /// The domain whose pages and apps can use the passkey.
  public var relyingPartyID: String

  /// The name of the service, for the user.
  public var relyingPartyName: String

  /// The account; a passkey returns it at a sign-in.
  public var userID: [UInt8]

  /// The name of the account, for the user.
  public var userName: String

  /// The name of the person, for the user.
  public var displayName: String

  /// The bytes that the authenticator has to return.
  public var challenge: [UInt8]

  /// The passkeys that the account has: an authenticator with one of them makes no other.
  public var excludedCredentialIDs: [String]

  /// Creates a value with these properties.
  public init(
    relyingPartyID: String, relyingPartyName: String, userID: [UInt8], userName: String, displayName: String,
    challenge: [UInt8], excludedCredentialIDs: [String] = []
  ) {
    self.relyingPartyID = relyingPartyID
    self.relyingPartyName = relyingPartyName
    self.userID = userID
    self.userName = userName
    self.displayName = displayName
    self.challenge = challenge
    self.excludedCredentialIDs = excludedCredentialIDs
  }
}

/// A new passkey.
public struct FinalizePasskeyEnrollmentRequest: AuthMessage {
  /// The answer of an authenticator that has made a passkey.
  public struct Registration: AuthMessage {
    /// The id of the passkey, as Base64url.
    public var credentialID: String

    /// The challenge with its place, as JSON; what the authenticator saw.
    public var clientData: [UInt8]?

    /// The public key with the circumstances, as CBOR.
    public var attestationObject: [UInt8]?

    /// Creates a value with these properties.
    public init(credentialID: String, clientData: [UInt8]? = nil, attestationObject: [UInt8]? = nil) {
      self.credentialID = credentialID
      self.clientData = clientData
      self.attestationObject = attestationObject
    }
  }

  /// The ID token of the account.
  public var idToken: String

  /// The name that the user gave the passkey.
  public var name: String?

  /// The answer of the authenticator.
  public var registration: Registration?

  /// Creates a value with these properties.
  public init(idToken: String, name: String? = nil, registration: Registration?) {
    self.idToken = idToken
    self.name = name
    self.registration = registration
  }
}

/// The account that has the new passkey.
public struct FinalizePasskeyEnrollmentResponse: AuthMessage {
  /// The user's id.
  public var localID: String

  /// The tokens of a new session.
  public var tokens: AuthTokens

  /// Creates a value with these properties.
  public init(localID: String, tokens: AuthTokens) {
    self.localID = localID
    self.tokens = tokens
  }
}

/// The facts with which an authenticator signs in.
public struct PasskeyRequestOptions: AuthMessage {
  /// The domain of the passkeys that count.
  public var relyingPartyID: String

  /// The bytes that the authenticator has to sign.
  public var challenge: [UInt8]

  /// Creates a value with these properties.
  public init(relyingPartyID: String, challenge: [UInt8]) {
    self.relyingPartyID = relyingPartyID
    self.challenge = challenge
  }
}

/// The signature of a passkey.
public struct FinalizePasskeySignInRequest: AuthMessage {
  /// The answer of an authenticator that has signed.
  public struct Assertion: AuthMessage {
    /// The id of the passkey, as Base64url.
    public var credentialID: String

    /// The challenge with its place, as JSON; what the authenticator saw.
    public var clientData: [UInt8]?

    /// The circumstances of the signature.
    public var authenticatorData: [UInt8]?

    /// The signature over both.
    public var signature: [UInt8]?

    /// The account, where the authenticator keeps it.
    public var userHandle: [UInt8]?

    /// Creates a value with these properties.
    public init(
      credentialID: String, clientData: [UInt8]? = nil, authenticatorData: [UInt8]? = nil, signature: [UInt8]? = nil,
      userHandle: [UInt8]? = nil
    ) {
      self.credentialID = credentialID
      self.clientData = clientData
      self.authenticatorData = authenticatorData
      self.signature = signature
      self.userHandle = userHandle
    }
  }

  /// The answer of the authenticator.
  public var assertion: Assertion?

  /// Creates a value with these properties.
  public init(assertion: Assertion?) {
    self.assertion = assertion
  }
}

/// The account of a passkey.
public struct FinalizePasskeySignInResponse: AuthMessage {
  /// The user's id.
  public var localID: String

  /// The tokens, or the credential with which a second factor has to follow.
  public var outcome: SignInOutcome

  /// Creates a value with these properties.
  public init(localID: String, outcome: SignInOutcome) {
    self.localID = localID
    self.outcome = outcome
  }
}

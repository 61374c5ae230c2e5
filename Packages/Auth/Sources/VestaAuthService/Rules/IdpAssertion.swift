import VestaAuthBackend
import VestaCryptoInterop

/// A user as an identity provider describes them, taken from the claims of its ID token.
struct IdpAssertion: Sendable, Equatable {
  var provider: UserRecord.Provider
  var emailVerified: Bool
  var firstName: String?
  var lastName: String?
  var fullName: String?
  var rawUserInfo: String
  /// The claims or attributes of a provider by OpenID Connect or SAML that the project has set up; `nil` for others.
  var attributes: JWTObject?
  /// When the provider's token ends, in seconds since 1970.
  var expiry: Int64?

  /// Reads the claims.
  ///
  /// - Parameters:
  ///   - claims: The claims, which have been verified.
  ///   - credential: The credential that contained them.
  init(_ claims: JWTObject, credential: IdpCredential) throws {
    guard let subject = claims["sub"]?.string, !subject.isEmpty, subject.utf8.count <= 1024 else {
      throw AuthServiceError(.invalidIdpResponse, "The provider's token has no `sub`.")
    }
    let isGoogle = credential.providerID == "google.com"
    provider = UserRecord.Provider(
      providerID: credential.providerID, rawID: subject,
      federatedID: isGoogle ? "https://accounts.google.com/\(subject)" : subject)
    provider.email = try claims["email"]?.string.map { try Checks.email($0, or: .invalidIdpResponse) }
    provider.photoURL = claims["picture"]?.string
    provider.screenName = claims["screen_name"]?.string
    firstName = credential.givenName ?? claims["given_name"]?.string
    lastName = credential.familyName ?? claims["family_name"]?.string
    let parts = [firstName, lastName].compactMap { $0 }
    fullName = claims["name"]?.string ?? (parts.isEmpty ? nil : parts.joined(separator: " "))
    provider.displayName = fullName
    // Apple and others write the flag as a string.
    emailVerified = claims["email_verified"]?.bool ?? (claims["email_verified"]?.string == "true")
    rawUserInfo = try ClaimsText.write(isGoogle ? Self.googleUser(claims) : claims)
    if credential.providerID.hasPrefix("oidc.") { attributes = claims }
    expiry = claims["exp"]?.integer
    try Checks.profile(fullName, provider.photoURL)
  }

  /// A user as Google's own service describes them, whose members differ from the claims of its tokens.
  private static func googleUser(_ claims: JWTObject) -> JWTObject {
    let scopes = ["openid", "https://www.googleapis.com/auth/userinfo.profile"]
    let mail = claims["email"] == nil ? [] : ["https://www.googleapis.com/auth/userinfo.email"]
    var user: JWTObject = ["granted_scopes": .string((scopes + mail).joined(separator: " "))]
    user["id"] = claims["sub"]
    for name in ["name", "given_name", "family_name"] { user[name] = claims[name] }
    user["verified_email"] = .bool(claims["email_verified"]?.bool ?? (claims["email_verified"]?.string == "true"))
    user["locale"] = claims["locale"] ?? "en"
    for name in ["email", "picture", "hd"] { user[name] = claims[name] }
    return user
  }

  /// Reads the response of a SAML provider as local test suites make it, a JSON object:
  /// `{"assertion":{"subject":{"nameId":"ada@example.com"},"attributeStatements":{}}}`.
  init(saml response: String, credential: IdpCredential) throws {
    guard let assertion = ClaimsText.read(response)?["assertion"]?.object,
      let name = assertion["subject"]?.object?["nameId"]?.string, !name.isEmpty
    else { throw AuthServiceError(.invalidIdpResponse, "The SAML response has no assertion with a `subject.nameId`.") }
    let attributes = assertion["attributeStatements"]?.object ?? JWTObject()
    var claims = attributes
    claims["sub"] = .string(name)
    claims["email"] = (try? Checks.email(name)).map { .string($0) }
    claims["email_verified"] = true
    try self.init(claims, credential: credential)
    rawUserInfo = try ClaimsText.write(attributes)
    self.attributes = attributes
  }

  /// The response without what became of it.
  func response(_ credential: IdpCredential) -> IdpSignInResponse {
    var response = IdpSignInResponse(
      providerID: provider.providerID, federatedID: provider.federatedID ?? provider.rawID, rawID: provider.rawID)
    response.email = provider.email
    response.emailVerified = emailVerified
    response.displayName = provider.displayName
    response.fullName = fullName
    response.firstName = firstName
    response.lastName = lastName
    response.screenName = provider.screenName
    response.photoURL = provider.photoURL
    response.rawUserInfo = rawUserInfo
    response.oauthIDToken = credential.idToken
    response.oauthAccessToken = credential.accessToken
    response.oauthTokenSecret = credential.oauthTokenSecret
    response.nonce = credential.rawNonce
    return response
  }
}

/// The rules for a provider's assertion about a user, without the store.
enum IdpDecision: Sendable {
  /// Keep the account as it is here, and sign in.
  case signIn(UserRecord, replacing: UserRecord?)

  /// Another account with the address is in the way: its user has to sign in there and link.
  case needsConfirmation(UserRecord)

  case refuse(AuthServiceError)

  /// Decides for a link to an account.
  static func link(
    _ said: IdpAssertion, to user: UserRecord, bound: UserRecord?, owner: UserRecord?, config: ProjectConfig
  ) -> IdpDecision {
    guard bound == nil else { return .refuse(AuthServiceError(.federatedUserIDAlreadyLinked)) }
    if !config.allowsDuplicateEmails, let owner, owner.localID != user.localID {
      return .refuse(AuthServiceError(.emailExists))
    }
    var linked = user
    linked.link(said.provider)
    if linked.email == nil, owner == nil, !config.allowsDuplicateEmails {
      linked.email = said.provider.email
      linked.emailVerified = said.emailVerified
    }
    return .signIn(linked, replacing: user)
  }

  /// Decides for a sign-in.
  ///
  /// - Parameters:
  ///   - said: The provider's answer.
  ///   - bound: The account that the provider's user is linked to.
  ///   - owner: The account that has the address.
  ///   - new: A new account, to be used where there is none.
  ///   - config: The settings of the project.
  ///   - now: The time, in milliseconds since 1970.
  static func signIn(
    _ said: IdpAssertion, bound: UserRecord?, owner: UserRecord?, new: UserRecord, config: ProjectConfig, now: Int64
  ) -> IdpDecision {
    if let bound {
      var user = bound
      user.link(said.provider)
      return .signIn(user, replacing: bound)
    }
    if !config.allowsDuplicateEmails, let owner {
      guard said.emailVerified else { return .needsConfirmation(owner) }
      return .signIn(merged(owner, said, now: now), replacing: owner)
    }
    return .signIn(filled(new, said, config), replacing: nil)
  }

  /// A new account with what the provider says of its user.
  private static func filled(_ new: UserRecord, _ said: IdpAssertion, _ config: ProjectConfig) -> UserRecord {
    var user = new
    if !config.allowsDuplicateEmails {
      user.email = said.provider.email
      user.emailVerified = said.provider.email != nil && said.emailVerified
    }
    user.displayName = said.provider.displayName
    user.photoURL = said.provider.photoURL
    user.link(said.provider)
    return user
  }

  /// The account of an address that the provider has verified.
  private static func merged(_ owner: UserRecord, _ said: IdpAssertion, now: Int64) -> UserRecord {
    var user = owner
    if !owner.emailVerified { user.ownershipWasProven(now: now) }
    user.link(said.provider)
    user.displayName = said.provider.displayName ?? user.displayName
    user.photoURL = said.provider.photoURL ?? user.photoURL
    user.emailVerified = true
    return user
  }
}

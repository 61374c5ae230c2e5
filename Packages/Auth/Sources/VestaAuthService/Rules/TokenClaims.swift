import VestaBytes
import VestaCryptoInterop

/// The facts of a session in addition to its user; every ID token of the session has them.
struct SessionFacts: FieldRecord, Equatable {
  /// The second factor that was used.
  struct SecondFactor: FieldRecord, Equatable {
    var identifier = ""
    /// "phone" or "totp".
    var provider = ""

    mutating func visit(_ visitor: inout some RecordVisitor) throws {
      try visitor.field(1, &identifier)
      try visitor.field(2, &provider)
    }
  }

  /// How the user signed in.
  var provider = ""

  /// When, in seconds since 1970.
  var authTime: Int64 = 0

  /// The claims of the custom token, as JSON text.
  var claims: String?

  var secondFactor: SecondFactor?

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &provider)
    try visitor.field(2, &authTime)
    try visitor.field(3, &claims)
    try visitor.field(4, &secondFactor)
  }
}

/// The claims of ID tokens and session cookies.
enum TokenClaims {
  /// The names that the builder itself writes; nothing else can set them.
  static let own: Set<String> = Checks.reservedClaims.union([
    "email", "email_verified", "phone_number", "provider_id", "user_id", "name", "picture",
  ])

  /// The member of `firebase` that carries the epoch of the account.
  static let epoch = "epoch"

  static func issuer(_ projectID: String) -> String { "https://securetoken.google.com/\(projectID)" }
  static func cookieIssuer(_ projectID: String) -> String { "https://session.firebase.google.com/\(projectID)" }

  /// The audience of custom tokens.
  static let customTokenAudience =
    "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"

  /// The claims of an ID token; later groups override earlier ones.
  static func idToken(
    of user: UserRecord, tenantID: String?, session: SessionFacts, projectID: String, now: Int64, lifetime: Int64
  ) -> JWTObject {
    var claims = JWTObject()
    claims["name"] = user.displayName.map(JWTValue.string)
    claims["picture"] = user.photoURL.map(JWTValue.string)
    for json in [user.customAttributes, session.claims] {
      for member in json.flatMap(ClaimsText.read)?.members ?? [] { claims[member.name] = member.value }
    }
    claims["email"] = user.email.map(JWTValue.string)
    claims["email_verified"] = user.email == nil ? nil : .bool(user.emailVerified)
    claims["phone_number"] = user.phoneNumber.map(JWTValue.string)
    claims["provider_id"] = session.provider == "anonymous" ? "anonymous" : nil
    claims["auth_time"] = .integer(session.authTime)
    claims["user_id"] = .string(user.localID)
    claims["firebase"] = .object(firebase(user, tenantID: tenantID, session: session))
    claims["iat"] = .integer(now)
    claims["exp"] = .integer(now + lifetime)
    claims["aud"] = .string(projectID)
    claims["iss"] = .string(issuer(projectID))
    claims["sub"] = .string(user.localID)
    return claims
  }

  /// The claims of a session cookie: the ID token's, with a different issuer and different times.
  static func sessionCookie(from token: JWTObject, projectID: String, now: Int64, lifetime: Int64) -> JWTObject {
    var claims = token
    claims["iat"] = .integer(now)
    claims["exp"] = .integer(now + lifetime)
    claims["iss"] = .string(cookieIssuer(projectID))
    return claims
  }

  /// The session that a verified ID token belongs to.
  ///
  /// The claims of the session are the ones that are neither the token's own nor the user's custom claims of today.
  static func session(of claims: JWTObject, user: UserRecord) throws(CryptoError) -> SessionFacts {
    let firebase = claims["firebase"]?.object
    var session = SessionFacts(
      provider: firebase?["sign_in_provider"]?.string ?? "custom", authTime: claims["auth_time"]?.integer ?? 0)
    let custom = Set(user.customAttributes.flatMap(ClaimsText.read)?.members.map(\.name) ?? [])
    var extra = JWTObject()
    for member in claims.members where !own.contains(member.name) && !custom.contains(member.name) {
      extra[member.name] = member.value
    }
    if !extra.members.isEmpty { session.claims = try ClaimsText.write(extra) }
    if let identifier = firebase?["second_factor_identifier"]?.string,
      let provider = firebase?["sign_in_second_factor"]?.string
    {
      session.secondFactor = SessionFacts.SecondFactor(identifier: identifier, provider: provider)
    }
    return session
  }

  private static func firebase(_ user: UserRecord, tenantID: String?, session: SessionFacts) -> JWTObject {
    var identities = JWTObject()
    if let email = user.email { identities["email"] = [.string(email)] }
    for provider in user.providerInfo where provider.providerID != "password" {
      let known = identities[provider.providerID]?.array ?? []
      identities[provider.providerID] = .array(known + [.string(provider.rawID)])
    }
    var firebase: JWTObject = ["identities": .object(identities), "sign_in_provider": .string(session.provider)]
    firebase["second_factor_identifier"] = session.secondFactor.map { .string($0.identifier) }
    firebase["sign_in_second_factor"] = session.secondFactor.map { .string($0.provider) }
    firebase["tenant"] = tenantID.map(JWTValue.string)
    firebase[epoch] = .integer(user.epoch)
    return firebase
  }
}

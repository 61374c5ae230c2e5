public import VestaAuthBackend
public import VestaBytes

/// The request of `accounts:signInWithIdp`.
///
/// The credential is a form inside the JSON: the fields of `postBody`, which count more than the fields of the query of
/// `requestUri` and less than the fields of its fragment.
public enum IdpSignInRequestWire: ProtobufConversion {
  /// The members of a request.
  public struct Parts {
    var requestURI = ""
    var postBody: String?
    var pendingToken: String?
    var idToken: String?
    var sessionID: String?
    var returnsCredential = false
    var autoCreate: Bool?
  }

  /// The statement of the members.
  public enum Schema: ProtobufSchema {
    /// No members.
    public static var empty: Parts { Parts() }

    /// Visits the members.
    public static func visit(_ parts: inout Parts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.field(1, "requestUri", &parts.requestURI, ProtobufString.self)
      try visitor.optional(2, "postBody", &parts.postBody, ProtobufString.self)
      try visitor.optional(3, "pendingToken", &parts.pendingToken, ProtobufString.self)
      try visitor.optional(4, "idToken", &parts.idToken, ProtobufString.self)
      try visitor.optional(5, "sessionId", &parts.sessionID, ProtobufString.self)
      try visitor.field(6, "returnIdpCredential", &parts.returnsCredential, ProtobufBool.self)
      try visitor.optional(7, "autoCreate", &parts.autoCreate, ProtobufBool.self)
      try visitor.flag(8, "returnSecureToken")
    }
  }

  /// The members of a request.
  public static func parts(of request: IdpSignInRequest) -> Parts {
    let credential = request.credential
    var fields = FormFields()
    fields.append("providerId", credential.providerID)
    fields.append("id_token", credential.idToken)
    fields.append("access_token", credential.accessToken)
    fields.append("oauth_token_secret", credential.oauthTokenSecret)
    fields.append("nonce", credential.rawNonce)
    fields.append("code", credential.authorizationCode)
    fields.append("SAMLResponse", credential.samlResponse)
    fields.append("user", Self.user(of: credential))
    return Parts(
      requestURI: request.requestURI, postBody: fields.text, pendingToken: credential.pendingToken,
      idToken: request.idToken, sessionID: request.sessionID, returnsCredential: request.returnIdpCredential,
      autoCreate: request.autoCreate ? nil : false)
  }

  /// The user's names, as Apple sends them.
  private static func user(of credential: IdpCredential) -> String? {
    guard credential.givenName != nil || credential.familyName != nil else { return nil }
    var name = JSONObject()
    name["firstName"] = credential.givenName.map(JSONValue.string)
    name["lastName"] = credential.familyName.map(JSONValue.string)
    let user: JSONObject = ["name": .object(name)]
    return (try? user.json()).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The request of members.
  public static func value(of parts: Parts) throws(BytesError) -> IdpSignInRequest {
    let halves = parts.requestURI.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let query = halves.first?.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let sources = [
      try FormFields(halves.count > 1 ? halves[1] : ""), try FormFields(parts.postBody ?? ""),
      try FormFields(query?.count == 2 ? query?[1] ?? "" : ""),
    ]
    func field(_ name: String) -> String? { sources.lazy.compactMap { $0[name] }.first }
    let user = field("user").flatMap { try? JSONValue(json: $0) }?.object?["name"]?.object
    let credential = IdpCredential(
      providerID: field("providerId") ?? "", idToken: field("id_token"), accessToken: field("access_token"),
      oauthTokenSecret: field("oauth_token_secret"), rawNonce: field("nonce"), authorizationCode: field("code"),
      pendingToken: parts.pendingToken ?? field("pendingToken"), samlResponse: field("SAMLResponse"),
      givenName: user?["firstName"]?.string, familyName: user?["lastName"]?.string)
    return IdpSignInRequest(
      credential: credential, requestURI: parts.requestURI, idToken: parts.idToken,
      returnIdpCredential: parts.returnsCredential, autoCreate: parts.autoCreate ?? true, sessionID: parts.sessionID)
  }
}

/// The response of `accounts:signInWithIdp`.
public enum IdpSignInResponseWire: ProtobufConversion {
  /// The members of a response.
  public struct Parts {
    var response = IdpSignInResponse(providerID: "", federatedID: "", rawID: "")
    var tokens = TokenParts()
  }

  /// The statement of the members.
  public enum Schema: ProtobufSchema {
    /// No members.
    public static var empty: Parts { Parts() }

    /// Visits the members.
    public static func visit(_ parts: inout Parts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.constant(1, "kind", "identitytoolkit#VerifyAssertionResponse")
      try visitUser(&parts.response, &visitor)
      try visitor.field(30, "isNewUser", &parts.response.isNewUser, ProtobufBool.self)
      try visitor.optional(31, "oauthIdToken", &parts.response.oauthIDToken, ProtobufString.self)
      try visitor.optional(32, "oauthAccessToken", &parts.response.oauthAccessToken, ProtobufString.self)
      try visitor.optional(33, "oauthExpireIn", &parts.response.oauthExpiresIn, JSONInteger.self)
      try visitor.optional(34, "oauthTokenSecret", &parts.response.oauthTokenSecret, ProtobufString.self)
      try visitor.optional(35, "pendingToken", &parts.response.pendingToken, ProtobufString.self)
      try visitor.optional(36, "nonce", &parts.response.nonce, ProtobufString.self)
      // Absent when it is false: clients look at its presence.
      try visitor.field(37, "needConfirmation", &parts.response.needsConfirmation, ProtobufBool.self)
      try visitor.repeated(38, "verifiedProvider", &parts.response.verifiedProviders, ProtobufString.self)
      try visitor.optional(39, "errorMessage", &parts.response.errorMessage, ProtobufString.self)
      try parts.tokens.visit(&visitor)
    }

    private static func visitUser(
      _ response: inout IdpSignInResponse, _ visitor: inout some ProtobufVisitor
    ) throws(BytesError) {
      try visitor.field(2, "providerId", &response.providerID, ProtobufString.self)
      try visitor.field(3, "federatedId", &response.federatedID, ProtobufString.self)
      try visitor.field(4, "rawId", &response.rawID, ProtobufString.self)
      try visitor.optional(5, "localId", &response.localID, ProtobufString.self)
      try visitor.optional(6, "email", &response.email, ProtobufString.self)
      try visitor.verification(7, &response.emailVerified, of: response.email)
      try visitor.optional(8, "displayName", &response.displayName, ProtobufString.self)
      try visitor.optional(9, "fullName", &response.fullName, ProtobufString.self)
      try visitor.optional(10, "firstName", &response.firstName, ProtobufString.self)
      try visitor.optional(11, "lastName", &response.lastName, ProtobufString.self)
      try visitor.optional(12, "screenName", &response.screenName, ProtobufString.self)
      try visitor.optional(13, "photoUrl", &response.photoURL, ProtobufString.self)
      try visitor.optional(14, "rawUserInfo", &response.rawUserInfo, ProtobufString.self)
    }
  }

  /// The members of a response.
  public static func parts(of response: IdpSignInResponse) -> Parts {
    Parts(response: response, tokens: TokenParts(response.outcome))
  }

  /// The response of members; a service that does not name the raw id has it at the end of the federated one.
  public static func value(of parts: Parts) throws(BytesError) -> IdpSignInResponse {
    var response = parts.response
    response.outcome = parts.tokens.outcome
    if response.rawID.isEmpty {
      response.rawID =
        response.federatedID.parts(at: "/", omittingEmpty: true).last.map(String.init) ?? response.federatedID
    }
    return response
  }
}

public import VestaAuthBackend
public import VestaBytes

/// Blocking functions on the wire: the settings, the question as a token, and the answer; pure.
public enum BlockingFunctionsWire {
  // MARK: Settings

  /// The settings as JSON; `nil` for none.
  static func json(of settings: BlockingFunctionSettings) -> JSONObject? {
    guard settings != BlockingFunctionSettings() else { return nil }
    var triggers = JSONObject()
    for event in BlockingEvent.allCases {
      triggers[event.rawValue] = settings.url(of: event).map { ["functionUri": .string($0)] }
    }
    return [
      "triggers": .object(triggers),
      "forwardInboundCredentials": [
        "accessToken": .bool(settings.forwardsAccessTokens), "idToken": .bool(settings.forwardsIDTokens),
        "refreshToken": .bool(settings.forwardsRefreshTokens),
      ],
    ]
  }

  /// Reads settings, which replace all of them; `nil` for what is none.
  public static func settings(_ object: JSONObject) -> BlockingFunctionSettings? {
    let triggers = object["triggers"]?.object ?? [:]
    guard triggers.members.allSatisfy({ BlockingEvent(rawValue: $0.name) != nil }) else { return nil }
    func url(_ event: BlockingEvent) -> String? { triggers[event.rawValue]?.object?["functionUri"]?.string }
    for event in BlockingEvent.allCases where triggers[event.rawValue] != nil {
      guard let url = url(event), url.hasPrefix("http://") || url.hasPrefix("https://") else { return nil }
    }
    let forwards = object["forwardInboundCredentials"]?.object ?? [:]
    return BlockingFunctionSettings(
      beforeCreate: url(.beforeCreate), beforeSignIn: url(.beforeSignIn),
      forwardsAccessTokens: forwards["accessToken"] == true, forwardsIDTokens: forwards["idToken"] == true,
      forwardsRefreshTokens: forwards["refreshToken"] == true)
  }

  // MARK: Questions

  /// The body of the request: `{"data":{"jwt":"…"}}`, an unsigned token that holds the question.
  ///
  /// - Parameters:
  ///   - question: The question.
  ///   - id: Identifies it.
  ///   - now: The time, in seconds since 1970.
  public static func body(of question: BlockingQuestion, id: String, now: Int64) throws(BytesError) -> [UInt8] {
    let header = try (["alg": "none", "typ": "JWT"] as JSONObject).json()
    let claims = try claims(of: question, id, now).json()
    let token = "\(Base64.url.encode(header)).\(Base64.url.encode(claims))."
    return try (["data": ["jwt": .string(token)]] as JSONObject).json()
  }

  private static func claims(of question: BlockingQuestion, _ id: String, _ now: Int64) -> JSONObject {
    var claims: JSONObject = [
      "iss": .string("https://securetoken.google.com/\(question.project)"), "aud": .string(question.url),
      "iat": .integer(now), "exp": .integer(now + 600), "event_id": .string(id),
      "event_type": .string(question.event.rawValue), "user_agent": .string(question.userAgent ?? ""),
      "ip_address": .string(question.clientAddress ?? "127.0.0.1"), "locale": .string(question.locale ?? "en"),
      "sub": .string(question.user.localID), "sign_in_method": .string(question.signInMethod),
      "user_record": .object(record(of: question.user)),
    ]
    claims["sign_in_second_factor"] = question.secondFactor.map { .string($0) }
    claims["tenant_id"] = question.user.tenantID.map { .string($0) }
    claims["oauth_id_token"] = question.credential?.idToken.map { .string($0) }
    claims["oauth_access_token"] = question.credential?.accessToken.map { .string($0) }
    claims["oauth_token_secret"] = question.credential?.oauthTokenSecret.map { .string($0) }
    // The lifetime is that of a token: it is not stated beside none.
    if question.credential?.idToken != nil || question.credential?.accessToken != nil {
      claims["oauth_expires_in"] = question.credentialLifetime.map { .integer($0) }
    }
    claims["raw_user_info"] = question.rawUserInfo.map { .string($0) }
    claims["sign_in_attributes"] = question.signInAttributes.map { .object($0) }
    return claims
  }

  /// Times in seconds, as Firebase's library for functions reads them; the Emulator Suite has milliseconds.
  private static func metadata(of user: AuthUser) -> JSONObject {
    var metadata: JSONObject = ["creation_time": .integer(user.createdAt / 1_000)]
    metadata["last_sign_in_time"] = user.lastLoginAt.map { .integer($0 / 1_000) }
    return metadata
  }

  /// The account as functions read it.
  private static func record(of user: AuthUser) -> JSONObject {
    var record: JSONObject = ["uid": .string(user.localID)]
    record["email"] = user.email.map { .string($0) }
    record["email_verified"] = .bool(user.emailVerified)
    record["display_name"] = user.displayName.map { .string($0) }
    record["photo_url"] = user.photoURL.map { .string($0) }
    record["phone_number"] = user.phoneNumber.map { .string($0) }
    record["disabled"] = .bool(user.disabled)
    record["custom_claims"] = user.customAttributes.flatMap { try? JSONValue(json: Array($0.utf8)) }
    record["tenant_id"] = user.tenantID.map { .string($0) }
    record["metadata"] = .object(metadata(of: user))
    record["provider_data"] = .array(user.providerUserInfo.map { .object(provider($0)) })
    if !user.mfaInfo.isEmpty {
      record["multi_factor"] = ["enrolled_factors": .array(user.mfaInfo.map { .object(factor($0)) })]
    }
    return record
  }

  private static func provider(_ info: ProviderUserInfo) -> JSONObject {
    var object: JSONObject = ["provider_id": .string(info.providerID)]
    object["uid"] = .string(info.rawID)
    object["email"] = info.email.map { .string($0) }
    object["display_name"] = info.displayName.map { .string($0) }
    object["photo_url"] = info.photoURL.map { .string($0) }
    object["phone_number"] = info.phoneNumber.map { .string($0) }
    return object
  }

  private static func factor(_ factor: MfaEnrollment) -> JSONObject {
    var object: JSONObject = ["uid": .string(factor.mfaEnrollmentID)]
    object["display_name"] = factor.displayName.map { .string($0) }
    switch factor.factor {
    case .phone(let number):
      object["factor_id"] = "phone"
      object["phone_number"] = .string(number)
    case .totp: object["factor_id"] = "totp"
    }
    return object
  }

  // MARK: Answers

  /// Reads the answer of a function that has succeeded.
  ///
  /// - Throws: `BLOCKING_FUNCTION_ERROR_RESPONSE` for what is none.
  public static func answer(_ body: [UInt8], _ event: BlockingEvent) throws(AuthServiceError) -> BlockingAnswer {
    var answer = BlockingAnswer()
    guard !body.isEmpty else { return answer }
    guard let object = try? JSONObject(json: body) else { throw failure("Response body is not valid JSON.") }
    guard let record = object["userRecord"]?.object else { return answer }
    guard let mask = record["updateMask"]?.string else { throw failure("Response UserRecord is missing updateMask.") }
    for name in mask.split(separator: ",") {
      switch name {
      case "displayName": answer.displayName = record["displayName"]?.string ?? ""
      // The first is that of the protocol, the second that of Firebase's library for functions.
      case "photoUrl", "photoURL": answer.photoURL = record[String(name)]?.string ?? ""
      case "disabled": answer.disabled = record["disabled"] == true
      case "emailVerified": answer.emailVerified = record["emailVerified"] == true
      case "customClaims": answer.customClaims = try claims(record["customClaims"], "custom")
      case "sessionClaims" where event == .beforeSignIn:
        answer.sessionClaims = try claims(record["sessionClaims"], "session")
      default: break
      }
    }
    return answer
  }

  private static func claims(_ value: JSONValue?, _ kind: String) throws(AuthServiceError) -> JSONObject {
    guard let claims = value?.object else { throw failure("Response has malformed \(kind) claims.") }
    return claims
  }

  /// The failure that clients read, with what the function has said.
  public static func failure(_ text: String) -> AuthServiceError {
    AuthServiceError(.blockingFunctionError, "((\(text)))")
  }
}

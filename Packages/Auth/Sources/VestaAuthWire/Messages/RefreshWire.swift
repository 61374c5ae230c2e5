public import VestaAuthBackend
public import VestaBytes

/// The exchange of a refresh token: a form or JSON as the request, members with underscores in the response.
public enum RefreshWire {
  /// The type of the request's body.
  public static let contentType = "application/x-www-form-urlencoded"

  /// The body of a request.
  public static func body(of request: RefreshRequest) -> [UInt8] {
    var fields = FormFields()
    fields.append("grant_type", "refresh_token")
    fields.append("refresh_token", request.refreshToken)
    return Array(fields.text.utf8)
  }

  /// Reads a request.
  ///
  /// - Parameters:
  ///   - body: A form, or JSON with either spelling of the names.
  ///   - contentType: The header `content-type`.
  /// - Throws: `AuthServiceError` as the service answers it.
  public static func request(body: [UInt8], contentType: String?) throws(AuthServiceError) -> RefreshRequest {
    let isJSON = contentType?.lowercased().contains("json") == true
    let fields = isJSON ? members(body) : form(body)
    guard let fields else { throw AuthServiceError(.invalidArgument, "Invalid JSON payload received.") }
    guard let type = fields("grant_type", "grantType"), !type.isEmpty else {
      throw AuthServiceError(.init("MISSING_GRANT_TYPE"))
    }
    guard type == "refresh_token" else { throw AuthServiceError(.init("INVALID_GRANT_TYPE")) }
    guard let token = fields("refresh_token", "refreshToken"), !token.isEmpty else {
      throw AuthServiceError(.init("MISSING_REFRESH_TOKEN"))
    }
    return RefreshRequest(refreshToken: token)
  }

  /// The body of a response.
  public static func body(of response: RefreshResponse) throws(BytesError) -> [UInt8] {
    let object: JSONObject = [
      "access_token": .string(response.tokens.idToken), "expires_in": .string("\(response.tokens.expiresIn)"),
      "token_type": "Bearer", "refresh_token": .string(response.tokens.refreshToken),
      "id_token": .string(response.tokens.idToken), "user_id": .string(response.userID),
      "project_id": .string(response.projectID),
    ]
    return try object.json()
  }

  /// Reads a response.
  ///
  /// - Throws: `BytesError` with `.malformed` or `.limitExceeded`.
  public static func response(body: [UInt8]) throws(BytesError) -> RefreshResponse {
    let object = try JSONObject(json: body)
    guard let idToken = object["id_token"]?.string ?? object["access_token"]?.string,
      let refreshToken = object["refresh_token"]?.string
    else { throw BytesError(.malformed, "the response has no tokens") }
    let expires = object["expires_in"].flatMap { $0.string.flatMap { Int64($0) } ?? $0.integer }
    let userID = object["user_id"]?.string ?? TokenSubject.id(ofToken: idToken)
    return RefreshResponse(
      tokens: AuthTokens(idToken: idToken, refreshToken: refreshToken, expiresIn: expires ?? 3_600),
      userID: try SignInParts.required(userID, "user_id"), projectID: object["project_id"]?.string ?? "")
  }

  private static func members(_ body: [UInt8]) -> ((String, String) -> String?)? {
    guard let object = try? JSONObject(json: body) else { return nil }
    return { object[$0]?.string ?? object[$1]?.string }
  }

  private static func form(_ body: [UInt8]) -> ((String, String) -> String?)? {
    guard let fields = try? FormFields(utf8: body) else { return nil }
    return { fields[$0] ?? fields[$1] }
  }
}

/// The request of `accounts:revokeToken`.
public enum RevokeTokenRequestWire: ProtobufSchema {
  enum TypeWire: ProtobufEnumSchema {
    static var cases: [(number: Int32, name: StaticString, value: RevokeTokenRequest.TokenType)] {
      [(1, "REFRESH_TOKEN", .refreshToken), (2, "ACCESS_TOKEN", .accessToken), (3, "CODE", .code)]
    }
  }

  /// No members.
  public static var empty: RevokeTokenRequest {
    RevokeTokenRequest(idToken: "", providerID: "", token: "", tokenType: .refreshToken)
  }

  /// Visits the members.
  public static func visit(
    _ request: inout RevokeTokenRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "providerId", &request.providerID, ProtobufString.self)
    try visitor.field(2, "tokenType", &request.tokenType, ProtobufEnum<TypeWire>.self)
    try visitor.field(3, "token", &request.token, ProtobufString.self)
    try visitor.field(4, "idToken", &request.idToken, ProtobufString.self)
  }
}

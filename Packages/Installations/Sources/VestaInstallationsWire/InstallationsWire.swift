public import VestaBytes
public import VestaInstallationsBackend

/// The bodies and fields of the API of installations, and back.
public enum InstallationsWire {
  /// The bounds of bodies.
  public static let limits = JSONLimits(maximumDepth: 16, maximumSize: 1 << 16)

  // MARK: Creating

  /// The body of a creation.
  public static func body(of request: CreateInstallationRequest, sdkVersion: String) -> [UInt8] {
    bytes(of: Creation(request: request, sdkVersion: sdkVersion), CreationSchema.self)
  }

  /// Reads the body of a creation.
  ///
  /// - Throws: `BytesError` for what is no object, and for members of other types.
  public static func creation(_ body: [UInt8]) throws(BytesError) -> CreateInstallationRequest {
    try message(body, CreationSchema.self).request
  }

  /// The body of the answer to a creation.
  public static func body(of made: CreatedInstallation, project: String) -> [UInt8] {
    let name = "projects/\(project)/installations/\(made.id)"
    let parts = Made(name: name, id: made.id, refreshToken: made.refreshToken, token: made.token)
    return bytes(of: parts, MadeSchema.self)
  }

  /// Reads the answer to a creation.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - requested: The id that was asked for; an answer without an id has kept it.
  public static func created(_ body: [UInt8], requested: String? = nil) throws(BytesError) -> CreatedInstallation {
    let made = try message(body, MadeSchema.self)
    guard let id = made.id ?? requested, let secret = made.refreshToken, let token = made.token else {
      throw BytesError(.malformed, "the answer has no fid, refreshToken or authToken")
    }
    return CreatedInstallation(id: id, refreshToken: secret, token: token)
  }

  // MARK: Tokens

  /// The body of a request for a token.
  public static func body(ofTokenRequest sdkVersion: String) -> [UInt8] {
    bytes(of: sdkVersion, TokenRequestSchema.self)
  }

  /// The body of an answer with a token.
  public static func body(of token: InstallationToken) -> [UInt8] {
    bytes(of: TokenConversion.parts(of: token), TokenSchema.self)
  }

  /// Reads an answer with a token.
  public static func token(_ body: [UInt8]) throws(BytesError) -> InstallationToken {
    try TokenConversion.value(of: message(body, TokenSchema.self))
  }

  /// The field `authorization` of an installation.
  public static func authorization(refreshToken: String) -> String { "\(version) \(refreshToken)" }

  /// The refresh token of a field `authorization`; `nil` for another kind of credential.
  public static func refreshToken(authorization: String?) -> String? {
    guard let authorization, authorization.hasPrefix("\(version) ") else { return nil }
    return String(authorization.dropFirst(version.count + 1))
  }

  // MARK: Parts

  static let version = "FIS_v2"

  private static func message<Schema: ProtobufSchema>(
    _ body: [UInt8], _ schema: Schema.Type
  ) throws(BytesError) -> Schema.Message {
    try Schema.message(json: body, limits: limits, ignoresUnknownNames: true)
  }

  /// Only a lifetime beyond all limits cannot be written.
  private static func bytes<Schema: ProtobufSchema>(of message: Schema.Message, _ schema: Schema.Type) -> [UInt8] {
    (try? Schema.json(of: message)) ?? []
  }
}

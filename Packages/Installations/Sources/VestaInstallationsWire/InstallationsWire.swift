public import VestaBytes
public import VestaInstallationsBackend

/// The bodies and fields of the API of installations, and back.
public enum InstallationsWire {
  /// The bounds of bodies.
  public static let limits = JSONLimits(maximumDepth: 16, maximumSize: 1 << 16)

  // MARK: Creating

  /// The body of a creation.
  public static func body(of request: CreateInstallationRequest, sdkVersion: String) -> [UInt8] {
    var object = JSONObject()
    object["fid"] = request.id.map(JSONValue.string)
    object["authVersion"] = .string(version)
    object["appId"] = .string(request.appID)
    object["sdkVersion"] = .string(sdkVersion)
    return bytes(object)
  }

  /// Reads the body of a creation.
  ///
  /// - Throws: `BytesError` for what is no object, and for members of other types.
  public static func creation(_ body: [UInt8]) throws(BytesError) -> CreateInstallationRequest {
    let object = try JSONObject(json: body, limits: limits)
    return CreateInstallationRequest(
      id: try text(object, "fid"), appID: try text(object, "appId") ?? "")
  }

  /// The body of the answer to a creation.
  public static func body(of made: CreatedInstallation, project: String) -> [UInt8] {
    bytes([
      "name": .string("projects/\(project)/installations/\(made.id)"), "fid": .string(made.id),
      "refreshToken": .string(made.refreshToken), "authToken": .object(object(of: made.token)),
    ])
  }

  /// Reads the answer to a creation.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - requested: The id that was asked for; an answer without an id has kept it.
  public static func created(_ body: [UInt8], requested: String? = nil) throws(BytesError) -> CreatedInstallation {
    let object = try JSONObject(json: body, limits: limits)
    guard let id = try text(object, "fid") ?? requested, let secret = try text(object, "refreshToken"),
      let token = object["authToken"]?.object
    else { throw BytesError(.malformed, "the answer has no fid, refreshToken or authToken") }
    return CreatedInstallation(id: id, refreshToken: secret, token: try self.token(token))
  }

  // MARK: Tokens

  /// The body of a request for a token.
  public static func body(ofTokenRequest sdkVersion: String) -> [UInt8] {
    bytes(["installation": ["sdkVersion": .string(sdkVersion)]])
  }

  /// The body of an answer with a token.
  public static func body(of token: InstallationToken) -> [UInt8] { bytes(object(of: token)) }

  /// Reads an answer with a token.
  public static func token(_ body: [UInt8]) throws(BytesError) -> InstallationToken {
    try token(try JSONObject(json: body, limits: limits))
  }

  /// The field `authorization` of an installation.
  public static func authorization(refreshToken: String) -> String { "\(version) \(refreshToken)" }

  /// The refresh token of a field `authorization`; `nil` for another kind of credential.
  public static func refreshToken(authorization: String?) -> String? {
    guard let authorization, authorization.hasPrefix("\(version) ") else { return nil }
    return String(authorization.dropFirst(version.count + 1))
  }

  // MARK: Parts

  private static let version = "FIS_v2"

  private static func object(of token: InstallationToken) -> JSONObject {
    ["token": .string(token.text), "expiresIn": .string("\(token.lifetime.components.seconds)s")]
  }

  private static func token(_ object: JSONObject) throws(BytesError) -> InstallationToken {
    guard let text = try text(object, "token"), let time = try self.text(object, "expiresIn"), time.hasSuffix("s"),
      let seconds = Int64(time.dropLast()), (0..<1 << 40).contains(seconds)
    else { throw BytesError(.malformed, "the token has no text or no time") }
    return InstallationToken(text: text, lifetime: .seconds(seconds))
  }

  private static func text(_ object: JSONObject, _ name: String) throws(BytesError) -> String? {
    guard let value = object[name], value != .null else { return nil }
    guard let text = value.string else { throw BytesError(.malformed, "\(name) is no text") }
    return text
  }

  private static func bytes(_ object: JSONObject) -> [UInt8] { (try? object.json()) ?? [] }
}

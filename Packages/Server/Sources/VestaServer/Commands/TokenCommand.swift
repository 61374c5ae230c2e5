import Foundation
import VestaBytes

/// `vesta token`: an unsigned token, which a server for development believes.
public enum TokenCommand {
  private static let issuer = "firebase-auth-emulator@example.com"
  private static let audience =
    "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"

  /// Runs the command: `--uid`, `--claims JSON`, `--project`, `--custom` for a custom token.
  public static func run(_ arguments: [String], in directory: String) async -> CommandResult {
    await .of { () throws(ServerError) in
      let options = try CommandOptions(
        arguments, values: ["--uid", "--claims", "--project", "--seconds"], flags: ["--custom"])
      guard options.words.isEmpty else { throw ServerError("vesta token takes options alone.") }
      return CommandResult(token(try payload(options, directory)))
    }
  }

  private static func payload(
    _ options: CommandOptions, _ directory: String
  ) throws(ServerError) -> JSONObject {
    let claims = options.values["--claims"] ?? "{}"
    guard let object = try? JSONObject(json: Array(claims.utf8)) else {
      throw ServerError("--claims is a JSON object, such as '{\"admin\":true}'.")
    }
    guard let seconds = Int64(options.values["--seconds"] ?? "3600"), seconds > 0 else {
      throw ServerError("--seconds is how long the token is valid.")
    }
    let project = try ServeArguments.project(options.values["--project"], in: directory)
    let now = Int64(Date().timeIntervalSince1970)
    let uid = options.values["--uid"] ?? "user"
    guard (1...128).contains(uid.utf8.count) else { throw ServerError("--uid has 1 to 128 bytes.") }
    return options.flags.contains("--custom")
      ? custom(uid, object, from: now, to: now + seconds)
      : identity(uid, object, project, from: now, to: now + seconds)
  }

  /// An ID token as `mockUserToken` of the SDKs makes it.
  static func identity(
    _ uid: String, _ claims: JSONObject, _ project: String, from start: Int64, to end: Int64
  ) -> JSONObject {
    var payload: JSONObject = [
      "iss": .string("https://securetoken.google.com/\(project)"), "aud": .string(project),
      "iat": .integer(start), "exp": .integer(end), "auth_time": .integer(start),
      "sub": .string(uid), "user_id": .string(uid),
      "firebase": ["sign_in_provider": "custom", "identities": [:]],
    ]
    for member in claims.members { payload[member.name] = member.value }
    return payload
  }

  /// A custom token as Admin SDKs make it for the suite.
  static func custom(_ uid: String, _ claims: JSONObject, from start: Int64, to end: Int64) -> JSONObject {
    var payload: JSONObject = [
      "iss": .string(issuer), "sub": .string(issuer), "aud": .string(audience), "iat": .integer(start),
      "exp": .integer(end), "uid": .string(uid),
    ]
    if !claims.members.isEmpty { payload["claims"] = .object(claims) }
    return payload
  }

  /// The token with a payload, without a signature.
  static func token(_ payload: JSONObject) -> String {
    let header: JSONObject = ["alg": "none", "typ": "JWT"]
    let parts = [header, payload].map { Base64.url.encode((try? $0.json()) ?? []) }
    return parts.joined(separator: ".") + "."
  }
}

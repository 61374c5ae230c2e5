import VestaBytes
import VestaInstallationsBackend

/// The members of a creation.
struct Creation {
  var request = CreateInstallationRequest(appID: "")
  var sdkVersion = ""
}

/// The statement of a creation.
enum CreationSchema: ProtobufSchema {
  static var empty: Creation { Creation() }

  static func visit(_ creation: inout Creation, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.optional(1, "fid", &creation.request.id, ProtobufString.self)
    try visitor.constant(2, "authVersion", InstallationsWire.version)
    try visitor.field(3, "appId", &creation.request.appID, ProtobufString.self)
    try visitor.field(4, "sdkVersion", &creation.sdkVersion, ProtobufString.self)
  }
}

/// The members of an answer to a creation; it needs all but the name and, where one was asked for, the id.
struct Made {
  var name = ""
  var id: String?
  var refreshToken: String?
  var token: InstallationToken?
}

/// The statement of an answer to a creation.
enum MadeSchema: ProtobufSchema {
  static var empty: Made { Made() }

  static func visit(_ made: inout Made, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "name", &made.name, ProtobufString.self)
    try visitor.optional(2, "fid", &made.id, ProtobufString.self)
    try visitor.optional(3, "refreshToken", &made.refreshToken, ProtobufString.self)
    try visitor.optional(4, "authToken", &made.token, ProtobufConverted<TokenConversion>.self)
  }
}

/// The statement of a request for a token: the version of the SDK.
enum TokenRequestSchema: ProtobufSchema {
  static var empty: String { "" }

  static func visit(_ version: inout String, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    var installation: String? = version
    try visitor.optional(1, "installation", &installation, ProtobufMessage<SDKVersionSchema>.self)
    version = installation ?? ""
  }
}

private enum SDKVersionSchema: ProtobufSchema {
  static var empty: String { "" }

  static func visit(_ version: inout String, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "sdkVersion", &version, ProtobufString.self)
  }
}

/// The members of a token.
struct TokenParts {
  var text: String?
  var lifetime: Duration?
}

/// The statement of a token.
enum TokenSchema: ProtobufSchema {
  static var empty: TokenParts { TokenParts() }

  static func visit(_ token: inout TokenParts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.optional(1, "token", &token.text, ProtobufString.self)
    try visitor.optional(2, "expiresIn", &token.lifetime, JSONDuration.self)
  }
}

/// A token has a text and a time that is not before now.
enum TokenConversion: ProtobufConversion {
  typealias Schema = TokenSchema

  static func parts(of token: InstallationToken) -> TokenParts {
    TokenParts(text: token.text, lifetime: .seconds(token.lifetime.components.seconds))
  }

  static func value(of parts: TokenParts) throws(BytesError) -> InstallationToken {
    guard let text = parts.text, let lifetime = parts.lifetime, lifetime >= .zero else {
      throw BytesError(.malformed, "the token has no text or no time")
    }
    return InstallationToken(text: text, lifetime: lifetime)
  }
}

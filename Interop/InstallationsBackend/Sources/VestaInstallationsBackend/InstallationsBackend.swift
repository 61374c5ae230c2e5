public import VestaServiceInterop

/// The service that knows the installations of apps: each has an id, a separate secret, and tokens by which other
/// services know it.
///
/// Promises of every implementation (`InstallationsContracts` checks them):
/// - An id belongs to the caller that has the refresh token which was issued with it: creating an installation with
///   an id that is taken makes another id.
/// - A token is valid until its time is over or its installation is deleted, and then no more.
/// - An invalid credential is `UNAUTHENTICATED`; an installation that is not there is `NOT_FOUND`. Where the service
///   cannot decide, the failure is transient: clients throw an installation away after either of the first two.
public protocol InstallationsBackend: Sendable {
  /// Creates an installation.
  ///
  /// - Parameters:
  ///   - request: The app, and the id that it would like.
  ///   - context: The caller.
  /// - Returns: The installation, perhaps with another id, its refresh token and its first token.
  func create(
    _ request: CreateInstallationRequest, context: CallContext
  ) async throws(InstallationsServiceError) -> CreatedInstallation

  /// Makes a token of an installation.
  ///
  /// - Parameters:
  ///   - id: The id of the installation.
  ///   - refreshToken: Its secret.
  ///   - context: The caller.
  /// - Throws: `notFound` for an installation that is not there, `unauthenticated` for another one's secret.
  func generateToken(
    id: String, refreshToken: String, context: CallContext
  ) async throws(InstallationsServiceError) -> InstallationToken

  /// Deletes an installation; its tokens are no longer valid. Deleting it again is no error.
  ///
  /// - Throws: `unauthenticated` for another one's secret.
  func delete(id: String, refreshToken: String, context: CallContext) async throws(InstallationsServiceError)
}

/// The side of the service of installations that the other services of a server see.
///
/// The service and the verifier of one server know the same installations; a client's way to a server has the service
/// alone.
public protocol InstallationsVerifier: Sendable {
  /// The installation that a token belongs to.
  ///
  /// - Parameters:
  ///   - token: The token.
  ///   - context: The caller.
  /// - Throws: `unauthenticated` for a token that is not valid.
  func verify(token: String, context: CallContext) async throws(InstallationsServiceError) -> VerifiedInstallation
}

/// A request for an installation of an app.
public struct CreateInstallationRequest: Sendable, Hashable {
  /// The id that it would like; the service makes one where it is `nil`, malformed, or taken.
  public var id: String?

  /// The id of the app, such as `1:1234:ios:5678`.
  public var appID: String

  /// A request.
  public init(id: String? = nil, appID: String) {
    self.id = id
    self.appID = appID
  }
}

/// An installation that was created.
public struct CreatedInstallation: Sendable, Hashable {
  /// The id.
  public var id: String

  /// The secret by which it gets tokens.
  public var refreshToken: String

  /// The first token.
  public var token: InstallationToken

  /// An installation.
  public init(id: String, refreshToken: String, token: InstallationToken) {
    self.id = id
    self.refreshToken = refreshToken
    self.token = token
  }
}

/// A token of an installation.
public struct InstallationToken: Sendable, Hashable {
  /// The text.
  public var text: String

  /// How long it is valid.
  public var lifetime: Duration

  /// A token.
  public init(text: String, lifetime: Duration) {
    self.text = text
    self.lifetime = lifetime
  }
}

/// An installation as its token says it.
public struct VerifiedInstallation: Sendable, Hashable {
  /// The id.
  public var id: String

  /// The id of the app.
  public var appID: String

  /// An installation.
  public init(id: String, appID: String) {
    self.id = id
    self.appID = appID
  }
}

/// The form of ids: 17 bytes in base64url without the last two bits, which begin with 0111.
public enum InstallationID {
  /// Whether a text has the form of an id.
  public static func isValid(_ text: String) -> Bool {
    guard text.utf8.count == 22, let first = text.utf8.first, "cdef".utf8.contains(first) else { return false }
    return text.utf8.allSatisfy { byte in
      byte &- 48 < 10 || (byte | 32) &- 97 < 26 || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }
  }
}

/// Why the service of installations refused a call.
public struct InstallationsServiceError: ServiceFailure, Hashable, CustomStringConvertible {
  /// The code, the message and the details.
  public let status: ServiceStatus

  /// The failure for a status.
  public init(_ status: ServiceStatus) { self.status = status }

  /// The canonical code.
  public var code: ServiceCode { status.code }

  /// The cause, for a developer.
  public var message: String { status.message }

  /// The code and the message.
  public var description: String { "\(code.name): \(message)" }
}

/// The field by which an installation shows its token to other services.
public enum InstallationField {
  /// The name of the field, in lower case.
  public static let name = "x-goog-firebase-installations-auth"

  /// The token of a field: browsers write `FIS` before it, Apple's SDK does not.
  public static func token(_ field: String?) -> String? {
    guard let field, !field.isEmpty else { return nil }
    return field.hasPrefix("FIS ") ? String(field.dropFirst(4)) : field
  }
}

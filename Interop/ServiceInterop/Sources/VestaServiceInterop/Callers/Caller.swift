public import VestaBytes

/// An owner of a project: server code, a service account or an administrator.
public struct Owner: Sendable, Hashable {
  /// The name for the audit log, such as the e-mail address of a service account.
  public var name: String

  /// The OAuth scopes that limit the owner; `nil` for all rights.
  public var scopes: Set<String>?

  /// An owner.
  ///
  /// - Parameters:
  ///   - name: The name for the audit log.
  ///   - scopes: The scopes that limit the owner; `nil` for all rights.
  public init(name: String, scopes: Set<String>? = nil) {
    self.name = name
    self.scopes = scopes
  }

  /// Server code in the process, with all rights.
  public static let full = Owner(name: "owner")

  /// Whether the owner has a scope.
  ///
  /// - Parameter scope: The scope, such as `https://www.googleapis.com/auth/cloud-platform`.
  public func has(_ scope: String) -> Bool { scopes?.contains(scope) ?? true }
}

/// A credential that a caller sent and that is not verified.
public enum Credential: Sendable, Hashable {
  /// An ID token of Auth.
  case idToken(String)
  /// Another bearer token: of a service account, an OAuth access token, or the word "owner" of an emulator.
  case bearer(String)

  /// The token as it was sent.
  public var token: String {
    switch self {
    case .idToken(let token), .bearer(let token): token
    }
  }
}

/// A user whose ID token was verified.
public struct VerifiedUser: Sendable, Hashable {
  /// The user's id.
  public var uid: String

  /// The claims of the verified token, as rules see them in `request.auth.token`.
  public var claims: JSONObject

  /// The project that issued the token; `nil` where it is not known.
  public var project: String?

  /// The time of the sign-in, in microseconds since 1970; `nil` where it is not known.
  public var authenticationTime: Int64?

  /// The end of the token, in microseconds since 1970; `nil` for a user without a token.
  public var expiry: Int64?

  /// A user.
  ///
  /// - Parameters:
  ///   - uid: The user's id.
  ///   - claims: The claims of the verified token.
  ///   - project: The project that issued the token.
  ///   - authenticationTime: The time of the sign-in, in microseconds since 1970.
  ///   - expiry: The end of the token, in microseconds since 1970.
  public init(
    uid: String, claims: JSONObject = JSONObject(), project: String? = nil, authenticationTime: Int64? = nil,
    expiry: Int64? = nil
  ) {
    self.uid = uid
    self.claims = claims
    self.project = project
    self.authenticationTime = authenticationTime
    self.expiry = expiry
  }
}

/// The App Check token of a call.
public enum AppCheckState: Sendable, Hashable {
  /// The call has no token.
  case none
  /// A token that is not verified, or the placeholder of a client that could not get one.
  case token(String)
  /// A verified token: the id of its app, and its own id, by which it is consumed.
  case verified(appID: String, tokenID: String?)

  /// The state for an optional token.
  ///
  /// - Parameter token: The token that a client sends; `nil` for none.
  public init(_ token: String?) { self = token.map { .token($0) } ?? .none }

  /// The token that is not verified; `nil` where there is none.
  public var unverifiedToken: String? { if case .token(let token) = self { token } else { nil } }

  /// The id of the app; `nil` unless the token was verified.
  public var appID: String? { if case .verified(let appID, _) = self { appID } else { nil } }
}

/// The position of a call in a distributed trace, as `traceparent` of W3C has it.
public struct TraceContext: Sendable, Hashable {
  /// The trace: 32 lower-case hexadecimal digits.
  public var traceID: String

  /// The span of the caller: 16 lower-case hexadecimal digits.
  public var spanID: String

  /// Whether the trace is recorded.
  public var isSampled: Bool

  /// A position.
  ///
  /// - Parameters:
  ///   - traceID: The trace, 32 lower-case hexadecimal digits.
  ///   - spanID: The span of the caller, 16 lower-case hexadecimal digits.
  ///   - isSampled: Whether the trace is recorded.
  public init(traceID: String, spanID: String, isSampled: Bool = false) {
    self.traceID = traceID
    self.spanID = spanID
    self.isSampled = isSampled
  }
}

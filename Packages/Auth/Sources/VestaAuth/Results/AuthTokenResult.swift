public import Foundation
import VestaCryptoInterop

/// An ID token and what it says.
///
/// It is read, not verified: a program may show it, and must not grant access for it.
public final class AuthTokenResult: Sendable {
  /// The token as sent to servers.
  public let token: String

  /// The time at which the token expires.
  public let expirationDate: Date

  /// The time of the sign-in.
  public let authDate: Date

  /// The time at which the token was issued.
  public let issuedAtDate: Date

  /// How the user signed in, such as "password".
  public let signInProvider: String

  /// The kind of the second factor, "phone" or "totp"; empty without one.
  public let signInSecondFactor: String

  private let object: JWTObject

  /// Reads a token.
  init(token: String) throws(AuthError) {
    let claims: JWTObject
    do {
      claims = try JWT(unverified: token).claims
    } catch {
      throw AuthError(.malformedJWT, underlying: error)
    }
    self.token = token
    object = claims
    expirationDate = try Self.date("exp", claims)
    issuedAtDate = try Self.date("iat", claims)
    authDate = try Self.date("auth_time", claims)
    let details = claims["firebase"]?.object
    signInProvider = details?["sign_in_provider"]?.string ?? ""
    signInSecondFactor = details?["sign_in_second_factor"]?.string ?? ""
  }

  private static func date(_ name: String, _ claims: JWTObject) throws(AuthError) -> Date {
    guard let seconds = claims[name]?.integer else {
      throw AuthError(.malformedJWT, "The token has no \(name), or one that is no time.")
    }
    return Date(timeIntervalSince1970: TimeInterval(seconds))
  }

  /// All claims, custom ones included.
  public var claims: [String: Any] { object.foundationValue }
}

extension JWTObject {
  fileprivate var foundationValue: [String: Any] {
    Dictionary(members.map { ($0.name, $0.value.foundationValue) }, uniquingKeysWith: { _, last in last })
  }
}

extension JWTValue {
  fileprivate var foundationValue: Any {
    switch self {
    case .null: NSNull()
    case .bool(let flag): flag
    case .integer(let number): Int(number)
    case .number(let number): number
    case .string(let text): text
    case .array(let list): list.map(\.foundationValue)
    case .object(let object): object.foundationValue
    }
  }
}

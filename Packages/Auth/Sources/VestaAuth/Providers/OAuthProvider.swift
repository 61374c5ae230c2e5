public import Foundation
import VestaConcurrency

/// A provider whose users sign in on a page of the provider.
public protocol FederatedAuthProvider: Sendable {}

/// Makes credentials of OAuth and OpenID Connect providers.
///
/// ```swift
/// let credential = OAuthProvider.credential(
///   providerID: .custom("oidc.my-company"), idToken: token, rawNonce: nonce)
/// try await auth.signIn(with: credential)
/// ```
public final class OAuthProvider: FederatedAuthProvider {
  /// The id of OAuth providers in general.
  public static let id = "OAuth"

  /// The id of the provider.
  public let providerID: String

  private let request = Locked(Request())

  private struct Request {
    var scopes: [String]?
    var customParameters: [String: String]?
  }

  /// The scopes that the app requests.
  public var scopes: [String]? {
    get { request.withLock { $0.scopes } }
    set { request.withLock { $0.scopes = newValue } }
  }

  /// Further parameters for the provider.
  public var customParameters: [String: String]? {
    get { request.withLock { $0.customParameters } }
    set { request.withLock { $0.customParameters = newValue } }
  }

  /// A provider.
  ///
  /// - Parameters:
  ///   - providerID: The id of the provider, such as "github.com" or "oidc.my-company".
  ///   - auth: The `Auth` whose app the provider is configured for.
  public init(providerID: String, auth: Auth = Auth.auth()) {
    self.providerID = providerID
  }

  /// A provider.
  ///
  /// - Parameters:
  ///   - providerID: The id of the provider.
  ///   - auth: The `Auth` whose app the provider is configured for.
  public convenience init(providerID: AuthProviderID, auth: Auth = Auth.auth()) {
    self.init(providerID: providerID.rawValue, auth: auth)
  }

  /// A provider, for the default app.
  ///
  /// - Parameter providerID: The id of the provider.
  /// - Returns: The provider.
  public static func provider(providerID: AuthProviderID) -> OAuthProvider {
    OAuthProvider(providerID: providerID)
  }

  /// A provider.
  ///
  /// - Parameters:
  ///   - providerID: The id of the provider.
  ///   - auth: The `Auth` whose app the provider is configured for.
  /// - Returns: The provider.
  public static func provider(providerID: AuthProviderID, auth: Auth) -> OAuthProvider {
    OAuthProvider(providerID: providerID, auth: auth)
  }

  // MARK: Credentials

  /// Returns a credential with an ID token of a provider.
  ///
  /// - Parameters:
  ///   - providerID: The id of the provider.
  ///   - idToken: The ID token.
  ///   - accessToken: The access token, if there is one.
  /// - Returns: The credential.
  public static func credential(
    providerID: AuthProviderID, idToken: String, accessToken: String? = nil
  ) -> OAuthCredential {
    OAuthCredential(provider: providerID.rawValue, idToken: idToken, accessToken: accessToken)
  }

  /// Returns a credential with an access token of a provider.
  ///
  /// - Parameters:
  ///   - providerID: The id of the provider.
  ///   - accessToken: The access token.
  /// - Returns: The credential.
  public static func credential(providerID: AuthProviderID, accessToken: String) -> OAuthCredential {
    OAuthCredential(provider: providerID.rawValue, accessToken: accessToken)
  }

  /// Returns a credential with an ID token of a provider, which holds the SHA-256 of a nonce.
  ///
  /// - Parameters:
  ///   - providerID: The id of the provider.
  ///   - idToken: The ID token.
  ///   - rawNonce: The nonce whose hash the request had.
  ///   - accessToken: The access token, if there is one.
  /// - Returns: The credential.
  public static func credential(
    providerID: AuthProviderID, idToken: String, rawNonce: String, accessToken: String? = nil
  ) -> OAuthCredential {
    OAuthCredential(provider: providerID.rawValue, idToken: idToken, accessToken: accessToken, rawNonce: rawNonce)
  }

  /// The tokens that Apple has issued for a user.
  ///
  /// - Parameters:
  ///   - idToken: The ID token.
  ///   - rawNonce: The nonce whose hash the request had.
  ///   - fullName: The name, which Apple sends once only.
  /// - Returns: The credential.
  public static func appleCredential(
    withIDToken idToken: String, rawNonce: String?, fullName: PersonNameComponents?
  ) -> OAuthCredential {
    OAuthCredential(
      provider: AuthProviderID.apple.rawValue, idToken: idToken, rawNonce: rawNonce, fullName: fullName)
  }
}

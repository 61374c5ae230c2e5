public import Foundation

/// What an OAuth or OpenID Connect provider has issued for a user.
public final class OAuthCredential: SignInCredential {
  /// The id of the provider.
  public let provider: String

  /// The ID token, where the provider issues one.
  public let idToken: String?

  /// The access token, where the provider issues one.
  public let accessToken: String?

  /// The secret of the access token, of OAuth 1 providers.
  public let secret: String?

  let rawNonce: String?
  let fullName: PersonNameComponents?

  init(
    provider: String, idToken: String? = nil, accessToken: String? = nil, secret: String? = nil,
    rawNonce: String? = nil, fullName: PersonNameComponents? = nil
  ) {
    self.provider = provider
    self.idToken = idToken
    self.accessToken = accessToken
    self.secret = secret
    self.rawNonce = rawNonce
    self.fullName = fullName
  }

  /// The credential as the parameters that go to the backend, in the form of a URL's query.
  var postBody: String {
    var parameters = [("providerId", provider)]
    if let idToken { parameters.append(("id_token", idToken)) }
    if let accessToken { parameters.append(("access_token", accessToken)) }
    if let secret { parameters.append(("oauth_token_secret", secret)) }
    if let rawNonce { parameters.append(("nonce", rawNonce)) }
    if let user = fullName.flatMap(Self.json(of:)) { parameters.append(("user", user)) }
    return parameters.map { "\($0)=\(Self.escaped($1))" }.joined(separator: "&")
  }

  private static func json(of name: PersonNameComponents) -> String? {
    var parts: [String: String] = [:]
    parts["firstName"] = name.givenName
    parts["lastName"] = name.familyName
    guard !parts.isEmpty, let data = try? JSONEncoder().encode(["name": parts]) else { return nil }
    return String(decoding: data, as: UTF8.self)
  }

  private static func escaped(_ text: String) -> String {
    let unreserved = CharacterSet(
      charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
    return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }
}

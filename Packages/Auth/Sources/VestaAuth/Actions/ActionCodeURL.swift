public import Foundation

/// The parts of a link from an e-mail of Auth.
///
/// ```swift
/// if let url = ActionCodeURL(link: text), url.operation == .passwordReset, let code = url.code {
///   try await auth.confirmPasswordReset(withCode: code, newPassword: password)
/// }
/// ```
public final class ActionCodeURL: Sendable {
  /// The API key of the project.
  public let apiKey: String?

  /// The operation of the link.
  public let operation: ActionCodeOperation

  /// The code.
  public let code: String?

  /// The URL to continue to.
  public let continueURL: URL?

  /// The language of the e-mail.
  public let languageCode: String?

  /// The parts of a link.
  ///
  /// A link that is wrapped in another one, as the parameter `link` or `deep_link_id`, is found there.
  ///
  /// - Parameter link: The link; the result is `nil` for a string without parameters.
  public init?(link: String) {
    let query = Self.innermostQuery(of: link)
    guard !query.isEmpty else { return nil }
    apiKey = query["apiKey"]
    operation = ActionCodeOperation(mode: query["mode"])
    code = query["oobCode"]
    continueURL = query["continueUrl"].flatMap { URL(string: $0) }
    languageCode = query["languageCode"] ?? query["lang"]
  }

  /// Whether the link is one to sign in with.
  var isSignInLink: Bool { operation == .emailLink && code?.isEmpty == false }

  private static func innermostQuery(of link: String) -> [String: String] {
    var query = parameters(of: link)
    // A bound, because the link is untrusted and may contain itself many times.
    for _ in 0..<4 {
      guard query["oobCode"] == nil, let inner = query["link"] ?? query["deep_link_id"] else { break }
      query = parameters(of: inner)
    }
    return query
  }

  private static func parameters(of link: String) -> [String: String] {
    guard let items = URLComponents(string: link)?.queryItems else { return [:] }
    let pairs = items.compactMap { item in item.value.map { (item.name, $0) } }
    return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }
}

import Foundation
import VestaAuthBackend

/// Further information about a sign-in.
public final class AdditionalUserInfo: Sendable {
  /// The id of the provider.
  public let providerID: String

  /// The name to sign in with at the provider.
  public let username: String?

  /// Whether the account was made by this sign-in.
  public let isNewUser: Bool

  private let rawProfile: String?

  init(providerID: String, username: String? = nil, isNewUser: Bool, rawProfile: String? = nil) {
    self.providerID = providerID
    self.username = username
    self.isNewUser = isNewUser
    self.rawProfile = rawProfile
  }

  convenience init(_ response: IdpSignInResponse) {
    self.init(
      providerID: response.providerID, username: response.screenName, isNewUser: response.isNewUser,
      rawProfile: response.rawUserInfo)
  }

  /// The provider's description of the user, unchanged.
  public var profile: [String: Any]? {
    guard let rawProfile else { return nil }
    return try? JSONSerialization.jsonObject(with: Data(rawProfile.utf8)) as? [String: Any]
  }
}

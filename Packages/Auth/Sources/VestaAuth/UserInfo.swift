public import Foundation

/// What a provider, or Vesta itself, says of a user.
public protocol UserInfo: Sendable {
  /// The id of the provider; of a ``User``, "Firebase".
  var providerID: String { get }

  /// The user's id at the provider.
  var uid: String { get }

  /// The name to show.
  var displayName: String? { get }

  /// Where the user's picture is.
  var photoURL: URL? { get }

  /// The e-mail address.
  var email: String? { get }

  /// The phone number.
  var phoneNumber: String? { get }
}

/// What one provider says of a user.
struct ProviderInfo: UserInfo {
  let record: ProviderRecord

  var providerID: String { record.providerID }
  var uid: String { record.uid }
  var displayName: String? { record.displayName }
  var photoURL: URL? { record.photoURL.flatMap { URL(string: $0) } }
  var email: String? { record.email }
  var phoneNumber: String? { record.phoneNumber }
}

public import Foundation

/// A user as a provider, or Vesta itself, describes it.
public protocol UserInfo: Sendable {
  /// The id of the provider; of a ``User``, "Firebase".
  var providerID: String { get }

  /// The user's id at the provider.
  var uid: String { get }

  /// The display name.
  var displayName: String? { get }

  /// The URL of the user's picture.
  var photoURL: URL? { get }

  /// The e-mail address.
  var email: String? { get }

  /// The phone number.
  var phoneNumber: String? { get }
}

/// A user as one provider describes it.
struct ProviderInfo: UserInfo {
  let record: ProviderRecord

  var providerID: String { record.providerID }
  var uid: String { record.uid }
  var displayName: String? { record.displayName }
  var photoURL: URL? { record.photoURL.flatMap { URL(string: $0) } }
  var email: String? { record.email }
  var phoneNumber: String? { record.phoneNumber }
}

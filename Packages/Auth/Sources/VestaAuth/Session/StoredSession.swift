import Foundation
import IdentityInterop

/// Everything about a signed-in user that is kept from one run to the next.
struct StoredSession: Codable, Equatable, Sendable {
  /// The version of this layout.
  var version = 1
  var user: UserRecord
  var tokens: TokenSet

  func encoded() throws -> [UInt8] { [UInt8](try JSONEncoder().encode(self)) }

  /// Reads what `encoded()` wrote; `nil` when it is something else.
  static func decoded(_ bytes: [UInt8]) -> StoredSession? {
    let session = try? JSONDecoder().decode(Self.self, from: Data(bytes))
    return session?.version == 1 ? session : nil
  }
}

/// The tokens of a session.
struct TokenSet: Codable, Equatable, Sendable {
  var idToken: String
  var refreshToken: String
  /// By this machine's clock, so that a wrong clock does not matter.
  var expiration: Date

  init(_ tokens: IdentityTokens, now: Date) {
    idToken = tokens.idToken
    refreshToken = tokens.refreshToken
    expiration = now.addingTimeInterval(TimeInterval(tokens.expiresIn))
  }
}

/// What is known of a user.
struct UserRecord: Codable, Equatable, Sendable {
  var uid: String
  var email: String?
  var isEmailVerified = false
  var displayName: String?
  var photoURL: String?
  var phoneNumber: String?
  var tenantID: String?
  var isAnonymous = false
  var creationDate: Date?
  var lastSignInDate: Date?
  var providers: [ProviderRecord] = []
  var factors: [FactorRecord] = []

  /// A user as the backend describes it.
  ///
  /// - Parameters:
  ///   - user: The description.
  ///   - wasAnonymous: Whether the user had no way to sign in again until now.
  init(_ user: IdentityUser, wasAnonymous: Bool) {
    uid = user.localID
    email = user.email
    isEmailVerified = user.emailVerified
    displayName = user.displayName
    photoURL = user.photoURL
    phoneNumber = user.phoneNumber
    tenantID = user.tenantID
    isAnonymous = wasAnonymous && user.providerUserInfo.isEmpty && !user.hasPassword
    creationDate = user.createdAt > 0 ? Date(milliseconds: user.createdAt) : nil
    lastSignInDate = user.lastLoginAt.map { Date(milliseconds: $0) }
    providers = user.providerUserInfo.map(ProviderRecord.init)
    factors = user.mfaInfo.map(FactorRecord.init)
  }
}

/// What one provider says of a user.
struct ProviderRecord: Codable, Equatable, Sendable {
  var providerID: String
  var uid: String
  var displayName: String?
  var photoURL: String?
  var email: String?
  var phoneNumber: String?

  init(_ info: ProviderUserInfo) {
    providerID = info.providerID
    uid = info.rawID
    displayName = info.displayName
    photoURL = info.photoURL
    email = info.email
    phoneNumber = info.phoneNumber
  }
}

/// A second factor of a user.
struct FactorRecord: Codable, Equatable, Sendable {
  var uid: String
  var displayName: String?
  var enrollmentDate: Date
  /// `nil` for a factor that makes its codes from a secret.
  var phoneNumber: String?

  init(_ enrollment: MfaEnrollment) {
    uid = enrollment.mfaEnrollmentID
    displayName = enrollment.displayName
    enrollmentDate = Date(milliseconds: enrollment.enrolledAt)
    if case .phone(let number) = enrollment.factor { phoneNumber = number }
  }
}

extension Date {
  init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}

import Foundation
import VestaAuthBackend

/// Everything about a signed-in user that is kept from one run to the next.
///
/// It can be decoded because earlier versions kept it as JSON; how it is kept is in `StoredSession+Fields.swift`.
struct StoredSession: Decodable, Equatable, Sendable {
  /// The version of the JSON layout.
  var version = 1
  var user: SessionUser
  var tokens: TokenSet
}

/// The tokens of a session.
struct TokenSet: Decodable, Equatable, Sendable {
  var idToken: String
  var refreshToken: String
  /// By this machine's clock, so that a wrong clock does not matter.
  var expiration: Date
}

extension TokenSet {
  init(_ tokens: AuthTokens, now: Date) {
    self.init(
      idToken: tokens.idToken, refreshToken: tokens.refreshToken,
      expiration: now.addingTimeInterval(TimeInterval(tokens.expiresIn)))
  }
}

/// A user as it is kept with the session.
struct SessionUser: Decodable, Equatable, Sendable {
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
}

extension SessionUser {
  /// A user as the backend describes it.
  ///
  /// - Parameters:
  ///   - user: The description.
  ///   - wasAnonymous: Whether the user had no way to sign in again until now.
  init(_ user: AuthUser, wasAnonymous: Bool) {
    self.init(uid: user.localID)
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

/// A user as one provider describes it.
struct ProviderRecord: Decodable, Equatable, Sendable {
  var providerID: String
  var uid: String
  var displayName: String?
  var photoURL: String?
  var email: String?
  var phoneNumber: String?
}

extension ProviderRecord {
  init(_ info: ProviderUserInfo) {
    self.init(providerID: info.providerID, uid: info.rawID)
    displayName = info.displayName
    photoURL = info.photoURL
    email = info.email
    phoneNumber = info.phoneNumber
  }
}

/// A second factor of a user.
struct FactorRecord: Decodable, Equatable, Sendable {
  var uid: String
  var displayName: String?
  var enrollmentDate: Date
  /// `nil` for a factor that makes its codes from a secret.
  var phoneNumber: String?
}

extension FactorRecord {
  init(_ enrollment: MfaEnrollment) {
    self.init(uid: enrollment.mfaEnrollmentID, enrollmentDate: Date(milliseconds: enrollment.enrolledAt))
    displayName = enrollment.displayName
    if case .phone(let number) = enrollment.factor { phoneNumber = number }
  }
}

extension Date {
  init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}

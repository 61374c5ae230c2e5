import VestaAuthBackend
import VestaCryptoInterop

extension UserRecord {
  /// The account as the service shows it.
  ///
  /// - Parameters:
  ///   - tenantID: The tenant that it belongs to.
  ///   - includesHash: Whether the password's hash is shown, for an export.
  func view(tenantID: String?, includesHash: Bool = false) -> AuthUser {
    var user = AuthUser(localID: localID)
    user.email = email
    user.emailVerified = emailVerified
    user.displayName = displayName
    user.photoURL = photoURL
    user.phoneNumber = phoneNumber
    user.hasPassword = passwordHash != nil
    user.passwordUpdatedAt = passwordUpdatedAt
    user.validSince = validSince
    user.disabled = disabled
    user.createdAt = createdAt
    user.lastLoginAt = lastLoginAt
    user.lastRefreshAt = lastRefreshAt
    user.customAuth = customAuth
    user.customAttributes = customAttributes
    user.tenantID = tenantID
    user.initialEmail = initialEmail
    user.emailLinkSignIn = emailLinkSignIn
    user.mfaInfo = factors.map { $0.enrollment(isRedacted: false) }
    user.providerUserInfo = providerInfo.map(\.info)
    if includesHash, let text = passwordHash {
      user.passwordHash = Base64.standard.encode(Array(text.utf8))
      user.salt = (try? PasswordHash(text: text)).map { Base64.standard.encode($0.salt) }
    }
    return user
  }
}

import VestaAuthBackend
import VestaCryptoInterop

extension UserRecord {
  /// The account as the service shows it.
  ///
  /// - Parameters:
  ///   - tenantID: The tenant that it belongs to.
  ///   - export: How the password's hash is shown; `nil` where it is not.
  func view(tenantID: String?, export: HashExport? = nil) -> AuthUser {
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
    user.passkeys = passkeys.map { PasskeyInfo(credentialID: $0.credentialID, name: $0.name) }
    if let export, let text = passwordHash { export.set(text, in: &user) }
    return user
  }
}

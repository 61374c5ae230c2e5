import Foundation

/// Why an operation of Auth failed, with the numbers and names of Firebase's SDK.
///
/// What is thrown is an ``AuthError``, which has the code; a code can be matched against it directly:
///
/// ```swift
/// do {
///   try await auth.signIn(withEmail: email, password: password)
/// } catch AuthErrorCode.wrongPassword {
///   …
/// } catch let error as NSError where error.code == AuthErrorCode.networkError.rawValue {
///   …
/// }
/// ```
public enum AuthErrorCode: Int, Error, Sendable, CaseIterable {
  /// The custom token is malformed or not signed by a service account of the project.
  case invalidCustomToken = 17000
  /// The custom token belongs to another project.
  case customTokenMismatch = 17002
  /// The credential is malformed, wrong or has expired.
  case invalidCredential = 17004
  /// An administrator has disabled the account.
  case userDisabled = 17005
  /// The project does not allow this way to sign in, or this change.
  case operationNotAllowed = 17006
  /// Another account has the e-mail address.
  case emailAlreadyInUse = 17007
  /// The text is not an e-mail address.
  case invalidEmail = 17008
  /// The password is wrong, or the account has none.
  case wrongPassword = 17009
  /// There were too many requests from this device; try again later.
  case tooManyRequests = 17010
  /// There is no such account.
  case userNotFound = 17011
  /// The e-mail address has an account that signs in another way; sign in that way and link the credential.
  case accountExistsWithDifferentCredential = 17012
  /// The user has to sign in again before this can be done; see `User.reauthenticate(with:)`.
  case requiresRecentLogin = 17014
  /// The account has this provider already.
  case providerAlreadyLinked = 17015
  /// The account does not have this provider.
  case noSuchProvider = 17016
  /// The user's token is not valid any more; the user has to sign in again.
  case invalidUserToken = 17017
  /// The backend could not be reached; try again later.
  case networkError = 17020
  /// The user's session has ended, after a change of the password for instance; the user has to sign in again.
  case userTokenExpired = 17021
  /// The API key in the options is not valid.
  case invalidAPIKey = 17023
  /// The credential belongs to another user than the one who is signed in.
  case userMismatch = 17024
  /// Another account has this credential.
  case credentialAlreadyInUse = 17025
  /// The password is too weak.
  case weakPassword = 17026
  /// This app may not use the project's API key.
  case appNotAuthorized = 17028
  /// The code from the e-mail has expired; ask for a new one.
  case expiredActionCode = 17029
  /// The code from the e-mail is malformed or was used before.
  case invalidActionCode = 17030
  /// The template of the e-mail is not valid.
  case invalidMessagePayload = 17031
  /// The sender of the e-mail is not valid.
  case invalidSender = 17032
  /// The recipient of the e-mail is not valid.
  case invalidRecipientEmail = 17033
  /// An e-mail address has to be given.
  case missingEmail = 17034
  /// The bundle id of the iOS app has to be given.
  case missingIosBundleID = 17036
  /// The package name of the Android app has to be given.
  case missingAndroidPackageName = 17037
  /// The link's domain is not on the project's list.
  case unauthorizedDomain = 17038
  /// The address to go on to is not an absolute URL.
  case invalidContinueURI = 17039
  /// The address to go on to has to be given.
  case missingContinueURI = 17040
  /// A phone number has to be given.
  case missingPhoneNumber = 17041
  /// The phone number is not in the international form, such as +1 650 555 0100.
  case invalidPhoneNumber = 17042
  /// The code from the text message has to be given.
  case missingVerificationCode = 17043
  /// The code is wrong.
  case invalidVerificationCode = 17044
  /// The id of the verification has to be given.
  case missingVerificationID = 17045
  /// The id of the verification is not known.
  case invalidVerificationID = 17046
  /// The proof of the app's identity is missing.
  case missingAppCredential = 17047
  /// The proof of the app's identity is not valid.
  case invalidAppCredential = 17048
  /// The code from the text message has expired; ask for a new one.
  case sessionExpired = 17051
  /// The project's quota is used up.
  case quotaExceeded = 17052
  /// The app has no push token to prove its identity with.
  case missingAppToken = 17053
  /// The app does not forward push notifications to Auth.
  case notificationNotForwarded = 17054
  /// The app could not prove its identity.
  case appNotVerified = 17055
  /// The reCAPTCHA token is not valid.
  case captchaCheckFailed = 17056
  /// A web page for signing in is on the screen already.
  case webContextAlreadyPresented = 17057
  /// The user closed the web page for signing in.
  case webContextCancelled = 17058
  /// The web page that proves the app's identity failed.
  case appVerificationUserInteractionFailure = 17059
  /// The OAuth client id is not valid.
  case invalidClientID = 17060
  /// The web page for signing in could not be loaded.
  case webNetworkRequestFailed = 17061
  /// The web page for signing in failed.
  case webInternalError = 17062
  /// The user could not sign in on the web page.
  case webSignInUserInteractionFailure = 17063
  /// The player is not signed in to Game Center.
  case localPlayerNotAuthenticated = 17066
  /// A user has to be given.
  case nullUser = 17067
  /// The provider is not known or not configured.
  case invalidProviderID = 17071
  /// The user or the token belongs to another tenant.
  case tenantIDMismatch = 17072
  /// Tenants do not offer this.
  case unsupportedTenantOperation = 17073
  /// The backend has turned the credential down.
  case rejectedCredential = 17075
  /// The app is not linked with GameKit.
  case gameKitNotLinked = 17076
  /// The account has a second factor; go on with the resolver in the error.
  case secondFactorRequired = 17078
  /// The session of the second factor is missing.
  case missingMultiFactorSession = 17081
  /// The second factor has to be named.
  case missingMultiFactorInfo = 17082
  /// The session of the second factor is not valid any more; sign in again.
  case invalidMultiFactorSession = 17083
  /// The account does not have this second factor.
  case multiFactorInfoNotFound = 17084
  /// Only an administrator may do this.
  case adminRestrictedOperation = 17085
  /// The e-mail address has to be verified first.
  case unverifiedEmail = 17086
  /// The account has this second factor already.
  case secondFactorAlreadyEnrolled = 17087
  /// The account has as many second factors as it can have.
  case maximumSecondFactorCountExceeded = 17088
  /// The way the user signed in allows no second factor.
  case unsupportedFirstFactor = 17089
  /// A new e-mail address has to be verified before it takes effect.
  case emailChangeNeedsVerification = 17090
  /// The request does not say which client it comes from.
  case missingClientIdentifier = 17093
  /// The nonce is missing or not the one in the provider's token.
  case missingOrInvalidNonce = 17094
  /// A function of the project has refused the sign-in.
  case blockingCloudFunctionError = 17105
  /// The project does not use reCAPTCHA.
  case recaptchaNotEnabled = 17200
  /// The reCAPTCHA token is missing.
  case missingRecaptchaToken = 17201
  /// The reCAPTCHA token is not valid.
  case invalidRecaptchaToken = 17202
  /// The reCAPTCHA action is not valid.
  case invalidRecaptchaAction = 17203
  /// The request does not say what kind of client it comes from.
  case missingClientType = 17204
  /// The version of reCAPTCHA is missing.
  case missingRecaptchaVersion = 17205
  /// The version of reCAPTCHA is not valid.
  case invalidRecaptchaVersion = 17206
  /// The backend does not know this kind of request.
  case invalidReqType = 17207
  /// The app is not linked with reCAPTCHA.
  case recaptchaSDKNotLinked = 17208
  /// The project's reCAPTCHA key is missing.
  case recaptchaSiteKeyMissing = 17209
  /// The reCAPTCHA action could not be made.
  case recaptchaActionCreationFailed = 17210
  /// The password does not meet the project's requirements.
  case passwordDoesNotMeetRequirements = 17211
  /// The domain for links is not one of the project's.
  case invalidHostingLinkDomain = 17214
  /// The store that keeps the session could not be read or written.
  case keychainError = 17995
  /// Something failed that has no code of its own.
  case internalError = 17999
  /// The token is malformed.
  case malformedJWT = 18000

  /// The code itself, so that `error.code` reads alike for a code and for an ``AuthError``.
  public var code: Self { self }

  /// Lets `catch AuthErrorCode.wrongPassword` match an ``AuthError``, an `NSError` made of one, or a code.
  ///
  /// - Parameters:
  ///   - code: The code.
  ///   - error: Any error.
  /// - Returns: `true` when the error has that code.
  public static func ~= (code: Self, error: any Error) -> Bool {
    if let error = error as? AuthError { return error.code == code }
    if let other = error as? AuthErrorCode { return other == code }
    let error = error as NSError
    return error.domain == AuthErrorDomain && error.code == code.rawValue
  }
}

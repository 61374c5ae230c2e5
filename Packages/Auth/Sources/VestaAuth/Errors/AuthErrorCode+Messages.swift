// What a code is called in Firebase's logs and dashboards, and what it says to a developer.

extension AuthErrorCode {
  /// The name under which Firebase's SDKs report the code, such as `ERROR_WRONG_PASSWORD`.
  var name: String {
    switch self {
    // These are not the case in capitals.
    case .networkError: "ERROR_NETWORK_REQUEST_FAILED"
    case .missingAndroidPackageName: "ERROR_MISSING_ANDROID_PKG_NAME"
    case .blockingCloudFunctionError: "ERROR_BLOCKING_CLOUD_FUNCTION_RESPONSE"
    default: "ERROR_" + Self.inCapitals("\(self)")
    }
  }

  /// `invalidAPIKey` as `INVALID_API_KEY`: a word begins where a capital follows a small letter, or stands before one.
  static func inCapitals(_ name: String) -> String {
    let letters = Array(name)
    var result = ""
    for (index, letter) in letters.enumerated() {
      if index > 0, letter.isUppercase {
        let followsSmall = letters[index - 1].isLowercase
        let startsWord = index + 1 < letters.count && letters[index + 1].isLowercase
        if followsSmall || startsWord { result.append("_") }
      }
      result += letter.uppercased()
    }
    return result
  }

  /// What the code means and what to do, where the backend says no more.
  var message: String {
    switch self {
    case .invalidCustomToken: "The custom token is malformed or not signed by a service account of the project."
    case .customTokenMismatch: "The custom token belongs to another project."
    case .invalidCredential: "The credential is malformed, wrong or has expired."
    case .userDisabled: "An administrator has disabled the account."
    case .operationNotAllowed: "The project does not allow this way to sign in, or this change."
    case .emailAlreadyInUse: "Another account has the e-mail address."
    case .invalidEmail: "The text is not an e-mail address."
    case .wrongPassword: "The password is wrong, or the account has none."
    case .tooManyRequests: "There were too many requests from this device; try again later."
    case .userNotFound: "There is no such account."
    case .accountExistsWithDifferentCredential:
      "The e-mail address has an account that signs in another way; sign in that way and link the credential."
    case .requiresRecentLogin: "The user has to sign in again before this can be done; see User.reauthenticate."
    case .providerAlreadyLinked: "The account has this provider already."
    case .noSuchProvider: "The account does not have this provider."
    case .invalidUserToken: "The user's token is not valid any more; the user has to sign in again."
    case .networkError: "The backend could not be reached; try again later."
    case .userTokenExpired:
      "The user's session has ended, after a change of the password for instance; the user has to sign in again."
    case .invalidAPIKey: "The API key in the options is not valid."
    case .userMismatch: "The credential belongs to another user than the one who is signed in."
    case .credentialAlreadyInUse: "Another account has this credential."
    case .weakPassword: "The password is too weak."
    case .appNotAuthorized: "This app may not use the project's API key."
    case .expiredActionCode: "The code from the e-mail has expired; ask for a new one."
    case .invalidActionCode: "The code from the e-mail is malformed or was used before."
    case .invalidMessagePayload: "The template of the e-mail is not valid."
    case .invalidSender: "The sender of the e-mail is not valid."
    case .invalidRecipientEmail: "The recipient of the e-mail is not valid."
    case .missingEmail: "An e-mail address has to be given."
    case .missingIosBundleID: "The bundle id of the iOS app has to be given."
    case .missingAndroidPackageName: "The package name of the Android app has to be given."
    case .unauthorizedDomain: "The link's domain is not on the project's list."
    case .invalidContinueURI: "The address to go on to is not an absolute URL."
    case .missingContinueURI: "The address to go on to has to be given."
    case .missingPhoneNumber: "A phone number has to be given."
    case .invalidPhoneNumber: "The phone number is not in the international form, such as +1 650 555 0100."
    case .missingVerificationCode: "The code from the text message has to be given."
    case .invalidVerificationCode: "The code is wrong."
    case .missingVerificationID: "The id of the verification has to be given."
    case .invalidVerificationID: "The id of the verification is not known."
    case .missingAppCredential: "The proof of the app's identity is missing."
    case .invalidAppCredential: "The proof of the app's identity is not valid."
    case .sessionExpired: "The code from the text message has expired; ask for a new one."
    case .quotaExceeded: "The project's quota is used up."
    case .missingAppToken: "The app has no push token to prove its identity with."
    case .notificationNotForwarded: "The app does not forward push notifications to Auth."
    case .appNotVerified: "The app could not prove its identity."
    case .captchaCheckFailed: "The reCAPTCHA token is not valid."
    case .webContextAlreadyPresented: "A web page for signing in is on the screen already."
    case .webContextCancelled: "The user closed the web page for signing in."
    case .appVerificationUserInteractionFailure: "The web page that proves the app's identity failed."
    case .invalidClientID: "The OAuth client id is not valid."
    case .webNetworkRequestFailed: "The web page for signing in could not be loaded."
    case .webInternalError: "The web page for signing in failed."
    case .webSignInUserInteractionFailure: "The user could not sign in on the web page."
    case .localPlayerNotAuthenticated: "The player is not signed in to Game Center."
    case .nullUser: "A user has to be given."
    case .invalidProviderID: "The provider is not known or not configured."
    case .tenantIDMismatch: "The user or the token belongs to another tenant."
    case .unsupportedTenantOperation: "Tenants do not offer this."
    case .rejectedCredential: "The backend has turned the credential down."
    case .gameKitNotLinked: "The app is not linked with GameKit."
    case .secondFactorRequired: "The account has a second factor; go on with the resolver in the error."
    case .missingMultiFactorSession: "The session of the second factor is missing."
    case .missingMultiFactorInfo: "The second factor has to be named."
    case .invalidMultiFactorSession: "The session of the second factor is not valid any more; sign in again."
    case .multiFactorInfoNotFound: "The account does not have this second factor."
    case .adminRestrictedOperation: "Only an administrator may do this."
    case .unverifiedEmail: "The e-mail address has to be verified first."
    case .secondFactorAlreadyEnrolled: "The account has this second factor already."
    case .maximumSecondFactorCountExceeded: "The account has as many second factors as it can have."
    case .unsupportedFirstFactor: "The way the user signed in allows no second factor."
    case .emailChangeNeedsVerification: "A new e-mail address has to be verified before it takes effect."
    case .missingClientIdentifier: "The request does not say which client it comes from."
    case .missingOrInvalidNonce: "The nonce is missing or not the one in the provider's token."
    case .blockingCloudFunctionError: "A function of the project has refused the sign-in."
    case .recaptchaNotEnabled: "The project does not use reCAPTCHA."
    case .missingRecaptchaToken: "The reCAPTCHA token is missing."
    case .invalidRecaptchaToken: "The reCAPTCHA token is not valid."
    case .invalidRecaptchaAction: "The reCAPTCHA action is not valid."
    case .missingClientType: "The request does not say what kind of client it comes from."
    case .missingRecaptchaVersion: "The version of reCAPTCHA is missing."
    case .invalidRecaptchaVersion: "The version of reCAPTCHA is not valid."
    case .invalidReqType: "The backend does not know this kind of request."
    case .recaptchaSDKNotLinked: "The app is not linked with reCAPTCHA."
    case .recaptchaSiteKeyMissing: "The project's reCAPTCHA key is missing."
    case .recaptchaActionCreationFailed: "The reCAPTCHA action could not be made."
    case .passwordDoesNotMeetRequirements: "The password does not meet the project's requirements."
    case .invalidHostingLinkDomain: "The domain for links is not one of the project's."
    case .keychainError: "The store that keeps the session could not be read or written."
    case .internalError: "Something failed that has no code of its own."
    case .malformedJWT: "The token is malformed."
    }
  }
}

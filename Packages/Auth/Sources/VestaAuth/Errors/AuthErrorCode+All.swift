// All codes, with Firebase's numbers and names.

extension AuthErrorCode {
  /// The custom token is malformed or not signed by a service account of the project.
  public static let invalidCustomToken = Self(
    17000, "invalidCustomToken",
    "The custom token is malformed or not signed by a service account of the project.")
  /// The custom token belongs to another project.
  public static let customTokenMismatch = Self(
    17002, "customTokenMismatch",
    "The custom token belongs to another project.")
  /// The credential is malformed, wrong or has expired.
  public static let invalidCredential = Self(
    17004, "invalidCredential",
    "The credential is malformed, wrong or has expired.")
  /// An administrator has disabled the account.
  public static let userDisabled = Self(17005, "userDisabled", "An administrator has disabled the account.")
  /// The project does not allow this way to sign in, or this change.
  public static let operationNotAllowed = Self(
    17006, "operationNotAllowed",
    "The project does not allow this way to sign in, or this change.")
  /// Another account has the e-mail address.
  public static let emailAlreadyInUse = Self(17007, "emailAlreadyInUse", "Another account has the e-mail address.")
  /// The string is not an e-mail address.
  public static let invalidEmail = Self(17008, "invalidEmail", "The string is not an e-mail address.")
  /// The password is wrong, or the account has none.
  public static let wrongPassword = Self(17009, "wrongPassword", "The password is wrong, or the account has none.")
  /// There were too many requests from this device; try again later.
  public static let tooManyRequests = Self(
    17010, "tooManyRequests",
    "There were too many requests from this device; try again later.")
  /// There is no such account.
  public static let userNotFound = Self(17011, "userNotFound", "There is no such account.")
  /// The e-mail address has an account that signs in another way; sign in that way and link the credential.
  public static let accountExistsWithDifferentCredential = Self(
    17012, "accountExistsWithDifferentCredential",
    "The e-mail address has an account that signs in another way; sign in that way and link the credential.")
  /// The user has to sign in again before this can be done; see `User.reauthenticate(with:)`.
  public static let requiresRecentLogin = Self(
    17014, "requiresRecentLogin",
    "The user has to sign in again before this can be done; see User.reauthenticate.")
  /// The account has this provider already.
  public static let providerAlreadyLinked = Self(
    17015, "providerAlreadyLinked",
    "The account has this provider already.")
  /// The account does not have this provider.
  public static let noSuchProvider = Self(17016, "noSuchProvider", "The account does not have this provider.")
  /// The user's token is no longer valid; the user has to sign in again.
  public static let invalidUserToken = Self(
    17017, "invalidUserToken",
    "The user's token is not valid any more; the user has to sign in again.")
  /// The backend could not be reached; try again later.
  public static let networkError = Self(17020, "networkError", "The backend could not be reached; try again later.")
  /// The user's session has ended, after a change of the password for instance; the user has to sign in again.
  public static let userTokenExpired = Self(
    17021, "userTokenExpired",
    "The user's session has ended, after a change of the password for instance; the user has to sign in again.")
  /// The API key in the options is not valid.
  public static let invalidAPIKey = Self(17023, "invalidAPIKey", "The API key in the options is not valid.")
  /// The credential belongs to another user than the one who is signed in.
  public static let userMismatch = Self(
    17024, "userMismatch",
    "The credential belongs to another user than the one who is signed in.")
  /// Another account has this credential.
  public static let credentialAlreadyInUse = Self(
    17025, "credentialAlreadyInUse",
    "Another account has this credential.")
  /// The password is too weak.
  public static let weakPassword = Self(17026, "weakPassword", "The password is too weak.")
  /// This app may not use the project's API key.
  public static let appNotAuthorized = Self(17028, "appNotAuthorized", "This app may not use the project's API key.")
  /// The code from the e-mail has expired; ask for a new one.
  public static let expiredActionCode = Self(
    17029, "expiredActionCode",
    "The code from the e-mail has expired; ask for a new one.")
  /// The code from the e-mail is malformed or was used before.
  public static let invalidActionCode = Self(
    17030, "invalidActionCode",
    "The code from the e-mail is malformed or was used before.")
  /// The template of the e-mail is not valid.
  public static let invalidMessagePayload = Self(
    17031, "invalidMessagePayload",
    "The template of the e-mail is not valid.")
  /// The sender of the e-mail is not valid.
  public static let invalidSender = Self(17032, "invalidSender", "The sender of the e-mail is not valid.")
  /// The recipient of the e-mail is not valid.
  public static let invalidRecipientEmail = Self(
    17033, "invalidRecipientEmail",
    "The recipient of the e-mail is not valid.")
  /// An e-mail address has to be given.
  public static let missingEmail = Self(17034, "missingEmail", "An e-mail address has to be given.")
  /// The bundle id of the iOS app has to be given.
  public static let missingIosBundleID = Self(
    17036, "missingIosBundleID",
    "The bundle id of the iOS app has to be given.")
  /// The package name of the Android app has to be given.
  public static let missingAndroidPackageName = Self(
    17037, "missingAndroidPackageName",
    "The package name of the Android app has to be given.")
  /// The link's domain is not on the project's list.
  public static let unauthorizedDomain = Self(
    17038, "unauthorizedDomain",
    "The link's domain is not on the project's list.")
  /// The address to continue to is not an absolute URL.
  public static let invalidContinueURI = Self(
    17039, "invalidContinueURI",
    "The address to go on to is not an absolute URL.")
  /// The address to continue to has to be given.
  public static let missingContinueURI = Self(17040, "missingContinueURI", "The address to go on to has to be given.")
  /// A phone number has to be given.
  public static let missingPhoneNumber = Self(17041, "missingPhoneNumber", "A phone number has to be given.")
  /// The phone number is not in the international form, such as +1 650 555 0100.
  public static let invalidPhoneNumber = Self(
    17042, "invalidPhoneNumber",
    "The phone number is not in the international form, such as +1 650 555 0100.")
  /// The code from the text message has to be given.
  public static let missingVerificationCode = Self(
    17043, "missingVerificationCode",
    "The code from the text message has to be given.")
  /// The code is wrong.
  public static let invalidVerificationCode = Self(17044, "invalidVerificationCode", "The code is wrong.")
  /// The id of the verification has to be given.
  public static let missingVerificationID = Self(
    17045, "missingVerificationID",
    "The id of the verification has to be given.")
  /// The id of the verification is not known.
  public static let invalidVerificationID = Self(
    17046, "invalidVerificationID",
    "The id of the verification is not known.")
  /// The proof of the app's identity is missing.
  public static let missingAppCredential = Self(
    17047, "missingAppCredential",
    "The proof of the app's identity is missing.")
  /// The proof of the app's identity is not valid.
  public static let invalidAppCredential = Self(
    17048, "invalidAppCredential",
    "The proof of the app's identity is not valid.")
  /// The code from the text message has expired; ask for a new one.
  public static let sessionExpired = Self(
    17051, "sessionExpired",
    "The code from the text message has expired; ask for a new one.")
  /// The project's quota is used up.
  public static let quotaExceeded = Self(17052, "quotaExceeded", "The project's quota is used up.")
  /// The app has no push token to prove its identity with.
  public static let missingAppToken = Self(
    17053, "missingAppToken",
    "The app has no push token to prove its identity with.")
  /// The app does not forward push notifications to Auth.
  public static let notificationNotForwarded = Self(
    17054, "notificationNotForwarded",
    "The app does not forward push notifications to Auth.")
  /// The app could not prove its identity.
  public static let appNotVerified = Self(17055, "appNotVerified", "The app could not prove its identity.")
  /// The reCAPTCHA token is not valid.
  public static let captchaCheckFailed = Self(17056, "captchaCheckFailed", "The reCAPTCHA token is not valid.")
  /// A web page for signing in is on the screen already.
  public static let webContextAlreadyPresented = Self(
    17057, "webContextAlreadyPresented",
    "A web page for signing in is on the screen already.")
  /// The user closed the web page for signing in.
  public static let webContextCancelled = Self(
    17058, "webContextCancelled",
    "The user closed the web page for signing in.")
  /// The web page that proves the app's identity failed.
  public static let appVerificationUserInteractionFailure = Self(
    17059, "appVerificationUserInteractionFailure",
    "The web page that proves the app's identity failed.")
  /// The OAuth client id is not valid.
  public static let invalidClientID = Self(17060, "invalidClientID", "The OAuth client id is not valid.")
  /// The web page for signing in could not be loaded.
  public static let webNetworkRequestFailed = Self(
    17061, "webNetworkRequestFailed",
    "The web page for signing in could not be loaded.")
  /// The web page for signing in failed.
  public static let webInternalError = Self(17062, "webInternalError", "The web page for signing in failed.")
  /// The user could not sign in on the web page.
  public static let webSignInUserInteractionFailure = Self(
    17063, "webSignInUserInteractionFailure",
    "The user could not sign in on the web page.")
  /// The player is not signed in to Game Center.
  public static let localPlayerNotAuthenticated = Self(
    17066, "localPlayerNotAuthenticated",
    "The player is not signed in to Game Center.")
  /// A user has to be given.
  public static let nullUser = Self(17067, "nullUser", "A user has to be given.")
  /// The provider is not known or not configured.
  public static let invalidProviderID = Self(17071, "invalidProviderID", "The provider is not known or not configured.")
  /// The user or the token belongs to another tenant.
  public static let tenantIDMismatch = Self(
    17072, "tenantIDMismatch",
    "The user or the token belongs to another tenant.")
  /// Tenants do not offer this.
  public static let unsupportedTenantOperation = Self(17073, "unsupportedTenantOperation", "Tenants do not offer this.")
  /// The backend has turned the credential down.
  public static let rejectedCredential = Self(
    17075, "rejectedCredential",
    "The backend has turned the credential down.")
  /// The app is not linked with GameKit.
  public static let gameKitNotLinked = Self(17076, "gameKitNotLinked", "The app is not linked with GameKit.")
  /// The account has a second factor; continue with the resolver in the error.
  public static let secondFactorRequired = Self(
    17078, "secondFactorRequired",
    "The account has a second factor; go on with the resolver in the error.")
  /// The session of the second factor is missing.
  public static let missingMultiFactorSession = Self(
    17081, "missingMultiFactorSession",
    "The session of the second factor is missing.")
  /// The second factor has to be named.
  public static let missingMultiFactorInfo = Self(17082, "missingMultiFactorInfo", "The second factor has to be named.")
  /// The session of the second factor is no longer valid; sign in again.
  public static let invalidMultiFactorSession = Self(
    17083, "invalidMultiFactorSession",
    "The session of the second factor is not valid any more; sign in again.")
  /// The account does not have this second factor.
  public static let multiFactorInfoNotFound = Self(
    17084, "multiFactorInfoNotFound",
    "The account does not have this second factor.")
  /// Only an administrator may do this.
  public static let adminRestrictedOperation = Self(
    17085, "adminRestrictedOperation",
    "Only an administrator may do this.")
  /// The e-mail address has to be verified first.
  public static let unverifiedEmail = Self(17086, "unverifiedEmail", "The e-mail address has to be verified first.")
  /// The account has this second factor already.
  public static let secondFactorAlreadyEnrolled = Self(
    17087, "secondFactorAlreadyEnrolled",
    "The account has this second factor already.")
  /// The account has as many second factors as it can have.
  public static let maximumSecondFactorCountExceeded = Self(
    17088, "maximumSecondFactorCountExceeded",
    "The account has as many second factors as it can have.")
  /// The way the user signed in allows no second factor.
  public static let unsupportedFirstFactor = Self(
    17089, "unsupportedFirstFactor",
    "The way the user signed in allows no second factor.")
  /// A new e-mail address has to be verified before it takes effect.
  public static let emailChangeNeedsVerification = Self(
    17090, "emailChangeNeedsVerification",
    "A new e-mail address has to be verified before it takes effect.")
  /// The request does not name its client.
  public static let missingClientIdentifier = Self(
    17093, "missingClientIdentifier",
    "The request does not say which client it comes from.")
  /// The nonce is missing or not the one in the provider's token.
  public static let missingOrInvalidNonce = Self(
    17094, "missingOrInvalidNonce",
    "The nonce is missing or not the one in the provider's token.")
  /// A function of the project has refused the sign-in.
  public static let blockingCloudFunctionError = Self(
    17105, "blockingCloudFunctionError",
    "A function of the project has refused the sign-in.")
  /// The project does not use reCAPTCHA.
  public static let recaptchaNotEnabled = Self(17200, "recaptchaNotEnabled", "The project does not use reCAPTCHA.")
  /// The reCAPTCHA token is missing.
  public static let missingRecaptchaToken = Self(17201, "missingRecaptchaToken", "The reCAPTCHA token is missing.")
  /// The reCAPTCHA token is not valid.
  public static let invalidRecaptchaToken = Self(17202, "invalidRecaptchaToken", "The reCAPTCHA token is not valid.")
  /// The reCAPTCHA action is not valid.
  public static let invalidRecaptchaAction = Self(17203, "invalidRecaptchaAction", "The reCAPTCHA action is not valid.")
  /// The request does not name its kind of client.
  public static let missingClientType = Self(
    17204, "missingClientType",
    "The request does not say what kind of client it comes from.")
  /// The version of reCAPTCHA is missing.
  public static let missingRecaptchaVersion = Self(
    17205, "missingRecaptchaVersion",
    "The version of reCAPTCHA is missing.")
  /// The version of reCAPTCHA is not valid.
  public static let invalidRecaptchaVersion = Self(
    17206, "invalidRecaptchaVersion",
    "The version of reCAPTCHA is not valid.")
  /// The backend does not know this kind of request.
  public static let invalidReqType = Self(17207, "invalidReqType", "The backend does not know this kind of request.")
  /// The app is not linked with reCAPTCHA.
  public static let recaptchaSDKNotLinked = Self(
    17208, "recaptchaSDKNotLinked",
    "The app is not linked with reCAPTCHA.")
  /// The project's reCAPTCHA key is missing.
  public static let recaptchaSiteKeyMissing = Self(
    17209, "recaptchaSiteKeyMissing",
    "The project's reCAPTCHA key is missing.")
  /// The reCAPTCHA action could not be made.
  public static let recaptchaActionCreationFailed = Self(
    17210, "recaptchaActionCreationFailed",
    "The reCAPTCHA action could not be made.")
  /// The password does not meet the project's requirements.
  public static let passwordDoesNotMeetRequirements = Self(
    17211, "passwordDoesNotMeetRequirements",
    "The password does not meet the project's requirements.")
  /// The domain for links is not one of the project's.
  public static let invalidHostingLinkDomain = Self(
    17214, "invalidHostingLinkDomain",
    "The domain for links is not one of the project's.")
  /// The store that keeps the session could not be read or written.
  public static let keychainError = Self(
    17995, "keychainError",
    "The store that keeps the session could not be read or written.")
  /// A failure without a specific code.
  public static let internalError = Self(17999, "internalError", "Something failed that has no code of its own.")
  /// The token is malformed.
  public static let malformedJWT = Self(18000, "malformedJWT", "The token is malformed.")

  /// All codes, by number.
  public static let allCases: [AuthErrorCode] = [
    .invalidCustomToken, .customTokenMismatch, .invalidCredential, .userDisabled, .operationNotAllowed,
    .emailAlreadyInUse, .invalidEmail, .wrongPassword, .tooManyRequests, .userNotFound,
    .accountExistsWithDifferentCredential, .requiresRecentLogin, .providerAlreadyLinked, .noSuchProvider,
    .invalidUserToken, .networkError, .userTokenExpired, .invalidAPIKey, .userMismatch, .credentialAlreadyInUse,
    .weakPassword, .appNotAuthorized, .expiredActionCode, .invalidActionCode, .invalidMessagePayload, .invalidSender,
    .invalidRecipientEmail, .missingEmail, .missingIosBundleID, .missingAndroidPackageName, .unauthorizedDomain,
    .invalidContinueURI, .missingContinueURI, .missingPhoneNumber, .invalidPhoneNumber, .missingVerificationCode,
    .invalidVerificationCode, .missingVerificationID, .invalidVerificationID, .missingAppCredential,
    .invalidAppCredential, .sessionExpired, .quotaExceeded, .missingAppToken, .notificationNotForwarded,
    .appNotVerified, .captchaCheckFailed, .webContextAlreadyPresented, .webContextCancelled,
    .appVerificationUserInteractionFailure, .invalidClientID, .webNetworkRequestFailed, .webInternalError,
    .webSignInUserInteractionFailure, .localPlayerNotAuthenticated, .nullUser, .invalidProviderID, .tenantIDMismatch,
    .unsupportedTenantOperation, .rejectedCredential, .gameKitNotLinked, .secondFactorRequired,
    .missingMultiFactorSession, .missingMultiFactorInfo, .invalidMultiFactorSession, .multiFactorInfoNotFound,
    .adminRestrictedOperation, .unverifiedEmail, .secondFactorAlreadyEnrolled, .maximumSecondFactorCountExceeded,
    .unsupportedFirstFactor, .emailChangeNeedsVerification, .missingClientIdentifier, .missingOrInvalidNonce,
    .blockingCloudFunctionError, .recaptchaNotEnabled, .missingRecaptchaToken, .invalidRecaptchaToken,
    .invalidRecaptchaAction, .missingClientType, .missingRecaptchaVersion, .invalidRecaptchaVersion, .invalidReqType,
    .recaptchaSDKNotLinked, .recaptchaSiteKeyMissing, .recaptchaActionCreationFailed,
    .passwordDoesNotMeetRequirements, .invalidHostingLinkDomain, .keychainError, .internalError, .malformedJWT,
  ]
}

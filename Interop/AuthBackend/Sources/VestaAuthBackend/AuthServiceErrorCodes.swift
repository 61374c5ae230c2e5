// The names that identity services answer with. `AuthServiceError.Code` is open: there may be others.

// Failures of the way to the backend, and of the backend itself. These names are Vesta's own.
extension AuthServiceError.Code {
  /// The backend could not be reached, or its storage did not answer; trying again later may help.
  public static let unavailable = Self("UNAVAILABLE")
  /// The backend failed in a way that it does not explain.
  public static let internalError = Self("INTERNAL")
  /// The calling task was cancelled; its changes so far may have happened.
  public static let cancelled = Self("CANCELLED")
  /// This backend does not offer the call.
  public static let notImplemented = Self("NOT_IMPLEMENTED")
  /// A part of the request has a form that no call accepts.
  public static let invalidArgument = Self("INVALID_ARGUMENT")
  /// The credential of the caller is not valid.
  public static let unauthenticated = Self("UNAUTHENTICATED")
  /// The caller is not allowed to make the call.
  public static let permissionDenied = Self("PERMISSION_DENIED")
  /// The call met another one; the same call again may succeed.
  public static let aborted = Self("ABORTED")
  /// There is no room for what the call would keep; trying again later may help.
  public static let resourceExhausted = Self("RESOURCE_EXHAUSTED")
  /// The deadline of the call has passed, or it is unknown whether the call has happened.
  public static let deadlineExceeded = Self("DEADLINE_EXCEEDED")
  /// The storage of the backend is damaged; an operator has to restore it.
  public static let dataLoss = Self("DATA_LOSS")
}

// Accounts.
extension AuthServiceError.Code {
  /// Another account has the e-mail address.
  public static let emailExists = Self("EMAIL_EXISTS")
  /// Another account has the phone number.
  public static let phoneNumberExists = Self("PHONE_NUMBER_EXISTS")
  /// Another account has the user id.
  public static let duplicateLocalID = Self("DUPLICATE_LOCAL_ID")
  /// No account has the e-mail address.
  public static let emailNotFound = Self("EMAIL_NOT_FOUND")
  /// There is no such account, or no longer.
  public static let userNotFound = Self("USER_NOT_FOUND")
  /// An administrator has disabled the account.
  public static let userDisabled = Self("USER_DISABLED")
  /// The project or the tenant does not allow this way to sign in.
  public static let operationNotAllowed = Self("OPERATION_NOT_ALLOWED")
  /// A blocking function has refused, or does not answer.
  public static let blockingFunctionError = Self("BLOCKING_FUNCTION_ERROR_RESPONSE")
  /// The settings of a blocking function are wrong.
  public static let invalidBlockingFunction = Self("INVALID_BLOCKING_FUNCTION")
  /// Only an administrator may do this here.
  public static let adminOnlyOperation = Self("ADMIN_ONLY_OPERATION")
  /// The project or the tenant does not allow passwords.
  public static let passwordLoginDisabled = Self("PASSWORD_LOGIN_DISABLED")
  /// Identity is turned off for the project or the tenant.
  public static let projectDisabled = Self("PROJECT_DISABLED")
  /// Only an administrator may send this part of the request.
  public static let insufficientPermission = Self("INSUFFICIENT_PERMISSION")
  /// The request has a field that is not allowed in it.
  public static let unexpectedParameter = Self("UNEXPECTED_PARAMETER")
  /// The request does not identify a user.
  public static let invalidRequestType = Self("INVALID_REQ_TYPE")
  /// The user id is missing.
  public static let missingLocalID = Self("MISSING_LOCAL_ID")
}

// Passwords.
extension AuthServiceError.Code {
  /// The e-mail address or the password is wrong; which one is not said.
  public static let invalidLoginCredentials = Self("INVALID_LOGIN_CREDENTIALS")
  /// The password is wrong.
  public static let invalidPassword = Self("INVALID_PASSWORD")
  /// The password is too short.
  public static let weakPassword = Self("WEAK_PASSWORD")
  /// The password breaks the policy; the detail lists what is missing.
  public static let passwordDoesNotMeetRequirements = Self("PASSWORD_DOES_NOT_MEET_REQUIREMENTS")
  /// The password is missing.
  public static let missingPassword = Self("MISSING_PASSWORD")
  /// The e-mail address is missing.
  public static let missingEmail = Self("MISSING_EMAIL")
  /// The string is not an e-mail address, or not the expected one.
  public static let invalidEmail = Self("INVALID_EMAIL")
  /// The new e-mail address is missing.
  public static let missingNewEmail = Self("MISSING_NEW_EMAIL")
  /// The string is not an e-mail address.
  public static let invalidIdentifier = Self("INVALID_IDENTIFIER")
  /// The identifier of the account is missing.
  public static let missingIdentifier = Self("MISSING_IDENTIFIER")
  /// The e-mail address has to be verified first.
  public static let unverifiedEmail = Self("UNVERIFIED_EMAIL")
  /// There were too many attempts for this account or from this address.
  public static let tooManyAttempts = Self("TOO_MANY_ATTEMPTS_TRY_LATER")
  /// There were too many requests for codes to this address.
  public static let resetPasswordExceedLimit = Self("RESET_PASSWORD_EXCEED_LIMIT")
}

// Tokens.
extension AuthServiceError.Code {
  /// The ID token is not one of this project: its form, its signature or its audience is wrong.
  public static let invalidIDToken = Self("INVALID_ID_TOKEN")
  /// The ID token is missing.
  public static let missingIDToken = Self("MISSING_ID_TOKEN")
  /// The token is too old, or was issued before the account's tokens were revoked.
  public static let tokenExpired = Self("TOKEN_EXPIRED")
  /// The user has to sign in again before this can be done.
  public static let credentialTooOld = Self("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
  /// The refresh token is not known, or no longer.
  public static let invalidRefreshToken = Self("INVALID_REFRESH_TOKEN")
  /// The refresh token is missing.
  public static let missingRefreshToken = Self("MISSING_REFRESH_TOKEN")
  /// The custom token is malformed, expired, or not signed by a service account of the project.
  public static let invalidCustomToken = Self("INVALID_CUSTOM_TOKEN")
  /// The custom token is missing.
  public static let missingCustomToken = Self("MISSING_CUSTOM_TOKEN")
  /// The custom token is for another project.
  public static let credentialMismatch = Self("CREDENTIAL_MISMATCH")
  /// The custom claims are not a JSON object.
  public static let invalidClaims = Self("INVALID_CLAIMS")
  /// A custom claim has a reserved name; the detail names it.
  public static let forbiddenClaim = Self("FORBIDDEN_CLAIM")
  /// The custom claims are longer than 1000 bytes.
  public static let claimsTooLarge = Self("CLAIMS_TOO_LARGE")
  /// The session cookie is not one of this project, or has expired.
  public static let invalidSessionCookie = Self("INVALID_SESSION_COOKIE")
  /// A session cookie lasts between five minutes and two weeks.
  public static let invalidDuration = Self("INVALID_DURATION")
}

// Codes by e-mail.
extension AuthServiceError.Code {
  /// It is not said what the code is for.
  public static let missingRequestType = Self("MISSING_REQ_TYPE")
  /// The code is missing.
  public static let missingOobCode = Self("MISSING_OOB_CODE")
  /// The code is not known, was used before, or is for something else.
  public static let invalidOobCode = Self("INVALID_OOB_CODE")
  /// The code has expired.
  public static let expiredOobCode = Self("EXPIRED_OOB_CODE")
  /// The address to continue to is not an absolute URL.
  public static let invalidContinueURI = Self("INVALID_CONTINUE_URI")
  /// The address to continue to is missing.
  public static let missingContinueURI = Self("MISSING_CONTINUE_URI")
  /// The address to continue to is not on one of the project's domains.
  public static let unauthorizedDomain = Self("UNAUTHORIZED_DOMAIN")
}

// Phones.
extension AuthServiceError.Code {
  /// The phone number is missing.
  public static let missingPhoneNumber = Self("MISSING_PHONE_NUMBER")
  /// The string is not a phone number in the international form.
  public static let invalidPhoneNumber = Self("INVALID_PHONE_NUMBER")
  /// The id of the verification is missing.
  public static let missingSessionInfo = Self("MISSING_SESSION_INFO")
  /// The verification is not known, or no longer.
  public static let invalidSessionInfo = Self("INVALID_SESSION_INFO")
  /// The verification has expired.
  public static let sessionExpired = Self("SESSION_EXPIRED")
  /// The code is missing.
  public static let missingCode = Self("MISSING_CODE")
  /// The code is wrong.
  public static let invalidCode = Self("INVALID_CODE")
  /// The temporary proof is not known, or not for this number.
  public static let invalidTemporaryProof = Self("INVALID_TEMPORARY_PROOF")
  /// Tenants do not offer this.
  public static let unsupportedTenantOperation = Self("UNSUPPORTED_TENANT_OPERATION")
}

// Identity providers.
extension AuthServiceError.Code {
  /// The provider is missing.
  public static let missingProviderID = Self("MISSING_PROVIDER_ID")
  /// The provider is not known or not configured.
  public static let invalidProviderID = Self("INVALID_PROVIDER_ID")
  /// The user's id at the provider is missing.
  public static let missingRawID = Self("MISSING_RAW_ID")
  /// The provider's credential is malformed, expired, or not signed by the provider.
  public static let invalidIdpResponse = Self("INVALID_IDP_RESPONSE")
  /// The nonce is missing or not the one in the provider's token.
  public static let missingOrInvalidNonce = Self("MISSING_OR_INVALID_NONCE")
  /// The pending token is not known, or no longer.
  public static let invalidPendingToken = Self("INVALID_PENDING_TOKEN")
  /// Another account has this user of the provider.
  public static let federatedUserIDAlreadyLinked = Self("FEDERATED_USER_ID_ALREADY_LINKED")
}

// Second factors.
extension AuthServiceError.Code {
  /// The credential of the first factor is missing.
  public static let missingMfaPendingCredential = Self("MISSING_MFA_PENDING_CREDENTIAL")
  /// The credential of the first factor is missing.
  public static let missingCredential = Self("MISSING_CREDENTIAL")
  /// The credential of the first factor is unknown, expired or used.
  public static let invalidMfaPendingCredential = Self("INVALID_MFA_PENDING_CREDENTIAL")
  /// The id of the second factor is missing.
  public static let missingMfaEnrollmentID = Self("MISSING_MFA_ENROLLMENT_ID")
  /// The id of the second factor is malformed.
  public static let invalidMfaEnrollmentID = Self("INVALID_MFA_ENROLLMENT_ID")
  /// Two second factors have one id.
  public static let duplicateMfaEnrollmentID = Self("DUPLICATE_MFA_ENROLLMENT_ID")
  /// The account has no such second factor.
  public static let mfaEnrollmentNotFound = Self("MFA_ENROLLMENT_NOT_FOUND")
  /// A second factor's phone number is not in the international form.
  public static let invalidMfaPhoneNumber = Self("INVALID_MFA_PHONE_NUMBER")
  /// The account has this second factor already.
  public static let secondFactorExists = Self("SECOND_FACTOR_EXISTS")
  /// The account has as many second factors as it can have.
  public static let secondFactorLimitExceeded = Self("SECOND_FACTOR_LIMIT_EXCEEDED")
  /// The way the user signed in allows no second factor.
  public static let unsupportedFirstFactor = Self("UNSUPPORTED_FIRST_FACTOR")
  /// The second factor is of a kind that the project does not allow.
  public static let unsupportedSecondFactor = Self("UNSUPPORTED_SECOND_FACTOR")
}

// Passkeys.
extension AuthServiceError.Code {
  /// The answer of the authenticator is missing.
  public static let missingAuthenticatorResponse = Self("MISSING_AUTHENTICATOR_RESPONSE")
  /// The answer of the authenticator has a wrong form, is not for this service or challenge, or is not signed right.
  public static let invalidAuthenticatorResponse = Self("INVALID_AUTHENTICATOR_RESPONSE")
  /// The id of the passkey is missing or too long.
  public static let invalidCredentialID = Self("INVALID_CREDENTIAL_ID")
  /// An account has this passkey already.
  public static let credentialAlreadyInUse = Self("CREDENTIAL_ALREADY_IN_USE")
  /// No account has the passkey.
  public static let passkeyCredentialNotFound = Self("PASSKEY_CREDENTIAL_NOT_FOUND")
}

// Tenants and batches.
extension AuthServiceError.Code {
  /// The tenant's id has a form that no tenant's id has.
  public static let invalidTenantID = Self("INVALID_TENANT_ID")
  /// There is no such tenant.
  public static let tenantNotFound = Self("TENANT_NOT_FOUND")
  /// The token and the call name different tenants.
  public static let tenantIDMismatch = Self("TENANT_ID_MISMATCH")
  /// The batch is empty.
  public static let missingUserAccount = Self("MISSING_USER_ACCOUNT")
  /// An e-mail address occurs twice in the batch.
  public static let duplicateEmail = Self("DUPLICATE_EMAIL")
  /// A provider's user occurs twice in the batch.
  public static let duplicateRawID = Self("DUPLICATE_RAW_ID")
  /// A batch has 1 to 1000 user ids.
  public static let localIDListExceedsLimit = Self("LOCAL_ID_LIST_EXCEEDS_LIMIT")
  /// The hash algorithm of the batch is not known, or its parameters are out of range.
  public static let invalidHashAlgorithm = Self("INVALID_HASH_ALGORITHM")
  /// The page token was not made by this call.
  public static let invalidPageSelection = Self("INVALID_PAGE_SELECTION")
  /// A setting of the project or the tenant is out of range.
  public static let invalidConfig = Self("INVALID_CONFIG")
  /// The project or the tenant has no such identity provider.
  public static let configurationNotFound = Self("CONFIGURATION_NOT_FOUND")
}

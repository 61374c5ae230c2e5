import Testing

@testable import VestaAuth

@Suite struct AuthErrorCodeTests {
  /// Every name and its number, as programs that were written for Firebase know them.
  private static let numbers = """
    invalidCustomToken 17000 customTokenMismatch 17002 invalidCredential 17004 userDisabled 17005 \
    operationNotAllowed 17006 emailAlreadyInUse 17007 invalidEmail 17008 wrongPassword 17009 tooManyRequests 17010 \
    userNotFound 17011 accountExistsWithDifferentCredential 17012 requiresRecentLogin 17014 providerAlreadyLinked \
    17015 noSuchProvider 17016 invalidUserToken 17017 networkError 17020 userTokenExpired 17021 invalidAPIKey 17023 \
    userMismatch 17024 credentialAlreadyInUse 17025 weakPassword 17026 appNotAuthorized 17028 expiredActionCode \
    17029 invalidActionCode 17030 invalidMessagePayload 17031 invalidSender 17032 invalidRecipientEmail 17033 \
    missingEmail 17034 missingIosBundleID 17036 missingAndroidPackageName 17037 unauthorizedDomain 17038 \
    invalidContinueURI 17039 missingContinueURI 17040 missingPhoneNumber 17041 invalidPhoneNumber 17042 \
    missingVerificationCode 17043 invalidVerificationCode 17044 missingVerificationID 17045 invalidVerificationID \
    17046 missingAppCredential 17047 invalidAppCredential 17048 sessionExpired 17051 quotaExceeded 17052 \
    missingAppToken 17053 notificationNotForwarded 17054 appNotVerified 17055 captchaCheckFailed 17056 \
    webContextAlreadyPresented 17057 webContextCancelled 17058 appVerificationUserInteractionFailure 17059 \
    invalidClientID 17060 webNetworkRequestFailed 17061 webInternalError 17062 webSignInUserInteractionFailure 17063 \
    localPlayerNotAuthenticated 17066 nullUser 17067 invalidProviderID 17071 tenantIDMismatch 17072 \
    unsupportedTenantOperation 17073 rejectedCredential 17075 gameKitNotLinked 17076 secondFactorRequired 17078 \
    missingMultiFactorSession 17081 missingMultiFactorInfo 17082 invalidMultiFactorSession 17083 \
    multiFactorInfoNotFound 17084 adminRestrictedOperation 17085 unverifiedEmail 17086 secondFactorAlreadyEnrolled \
    17087 maximumSecondFactorCountExceeded 17088 unsupportedFirstFactor 17089 emailChangeNeedsVerification 17090 \
    missingClientIdentifier 17093 missingOrInvalidNonce 17094 blockingCloudFunctionError 17105 recaptchaNotEnabled \
    17200 missingRecaptchaToken 17201 invalidRecaptchaToken 17202 invalidRecaptchaAction 17203 missingClientType \
    17204 missingRecaptchaVersion 17205 invalidRecaptchaVersion 17206 invalidReqType 17207 recaptchaSDKNotLinked \
    17208 recaptchaSiteKeyMissing 17209 recaptchaActionCreationFailed 17210 passwordDoesNotMeetRequirements 17211 \
    invalidHostingLinkDomain 17214 keychainError 17995 internalError 17999 malformedJWT 18000
    """.split(separator: " ").map(String.init)

  @Test func `every code has Firebase's number`() {
    var expected: [String: Int] = [:]
    for index in stride(from: 0, to: Self.numbers.count, by: 2) {
      expected[Self.numbers[index]] = Int(Self.numbers[index + 1])
    }
    let found = Dictionary(uniqueKeysWithValues: AuthErrorCode.allCases.map { ("\($0)", $0.rawValue) })
    #expect(found == expected)
  }
}

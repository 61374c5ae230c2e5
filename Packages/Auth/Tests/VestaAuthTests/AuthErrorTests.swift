import Foundation
import Testing
import VestaAuthBackend

@testable import VestaAuth

@Suite struct AuthErrorTests {
  /// Every name that the service answers with.
  static let names = """
    ADMIN_ONLY_OPERATION CREDENTIAL_MISMATCH CREDENTIAL_TOO_OLD_LOGIN_AGAIN CLAIMS_TOO_LARGE DUPLICATE_EMAIL \
    DUPLICATE_LOCAL_ID DUPLICATE_MFA_ENROLLMENT_ID DUPLICATE_RAW_ID EMAIL_EXISTS EMAIL_NOT_FOUND EXPIRED_OOB_CODE \
    FEDERATED_USER_ID_ALREADY_LINKED FORBIDDEN_CLAIM INSUFFICIENT_PERMISSION INVALID_ARGUMENT INVALID_CLAIMS \
    INVALID_CODE INVALID_CONTINUE_URI INVALID_CREDENTIAL_OR_PROVIDER_ID INVALID_CUSTOM_TOKEN INVALID_EMAIL \
    INVALID_ID_TOKEN INVALID_IDENTIFIER INVALID_IDP_RESPONSE INVALID_LOGIN_CREDENTIALS INVALID_MFA_ENROLLMENT_ID \
    INVALID_MFA_PENDING_CREDENTIAL INVALID_MFA_PHONE_NUMBER INVALID_OOB_CODE INVALID_PASSWORD INVALID_PENDING_TOKEN \
    INVALID_PHONE_NUMBER INVALID_PROVIDER_ID INVALID_RECAPTCHA_TOKEN INVALID_REFRESH_TOKEN INVALID_REQUEST_URI \
    INVALID_REQ_TYPE INVALID_SESSION_INFO INVALID_TEMPORARY_PROOF INVALID_TENANT_ID MFA_ENROLLMENT_NOT_FOUND \
    MISSING_CODE MISSING_CONTINUE_URI MISSING_CREDENTIAL MISSING_CUSTOM_TOKEN MISSING_EMAIL MISSING_IDENTIFIER \
    MISSING_ID_TOKEN MISSING_LOCAL_ID MISSING_MFA_ENROLLMENT_ID MISSING_MFA_PENDING_CREDENTIAL MISSING_NEW_EMAIL \
    MISSING_OOB_CODE MISSING_OR_INVALID_NONCE MISSING_PASSWORD MISSING_PHONE_NUMBER MISSING_PROVIDER_ID \
    MISSING_RAW_ID MISSING_RECAPTCHA_TOKEN MISSING_REFRESH_TOKEN MISSING_REQUEST_URI MISSING_REQ_TYPE \
    MISSING_SESSION_INFO NOT_IMPLEMENTED OPERATION_NOT_ALLOWED PASSWORD_DOES_NOT_MEET_REQUIREMENTS \
    PASSWORD_LOGIN_DISABLED PHONE_NUMBER_EXISTS PROJECT_DISABLED QUOTA_EXCEEDED RESET_PASSWORD_EXCEED_LIMIT \
    SECOND_FACTOR_EXISTS SECOND_FACTOR_LIMIT_EXCEEDED SESSION_EXPIRED TENANT_ID_MISMATCH TENANT_NOT_FOUND \
    TOKEN_EXPIRED TOO_MANY_ATTEMPTS_TRY_LATER UNAUTHORIZED_DOMAIN UNAVAILABLE UNEXPECTED_PARAMETER \
    UNSUPPORTED_FIRST_FACTOR UNSUPPORTED_SECOND_FACTOR UNSUPPORTED_TENANT_OPERATION UNVERIFIED_EMAIL USER_DISABLED \
    USER_NOT_FOUND WEAK_PASSWORD BLOCKING_FUNCTION_ERROR_RESPONSE
    """.split(separator: " ").map(String.init)

  @Test(arguments: names) func `every name of the service has a code`(_ name: String) {
    #expect(AuthErrorTable.code(for: name) != nil)
  }

  @Test(arguments: [
    ("EMAIL_EXISTS", AuthErrorCode.emailAlreadyInUse), ("INVALID_PASSWORD", .wrongPassword),
    ("INVALID_LOGIN_CREDENTIALS", .invalidCredential), ("TOKEN_EXPIRED", .userTokenExpired),
    ("INVALID_ID_TOKEN", .invalidUserToken), ("FEDERATED_USER_ID_ALREADY_LINKED", .credentialAlreadyInUse),
    ("CREDENTIAL_TOO_OLD_LOGIN_AGAIN", .requiresRecentLogin), ("UNAVAILABLE", .networkError),
    ("TOO_MANY_ATTEMPTS_TRY_LATER", .tooManyRequests), ("INVALID_SESSION_INFO", .invalidVerificationID),
  ])
  func `a name maps to its code`(_ name: String, _ code: AuthErrorCode) throws {
    let error = AuthErrorTable.error(for: AuthServiceError(wireMessage: "\(name) : something"))
    let authError = try #require(error as? AuthError)
    #expect(authError.code == code)
    #expect(authError.message.hasSuffix("(something)"))
    #expect((authError.underlying as? AuthServiceError)?.code.rawValue == name)
  }

  @Test func `an unknown name is an internal error that names it`() throws {
    let error = try #require(AuthErrorTable.error(for: AuthServiceError(wireMessage: "QUITE_NEW")) as? AuthError)
    #expect(error.code == .internalError)
    #expect(error.message == "The backend answered QUITE_NEW.")
    let full = AuthErrorTable.error(for: AuthServiceError(wireMessage: "QUITE_NEW : The disk is full."))
    #expect((full as? AuthError)?.message == "The backend answered QUITE_NEW : The disk is full.")
  }

  @Test func `a cancelled call is a cancellation`() {
    #expect(AuthErrorTable.error(for: AuthServiceError(.cancelled)) is CancellationError)
  }

  @Test func `an error reads like Firebase's NSError`() {
    let error = AuthError(.emailAlreadyInUse).with {
      $0.email = "ada@example.com"
      $0.updatedCredential = EmailAuthProvider.credential(withEmail: "ada@example.com", password: "secret1")
    }
    let old = (error as any Error) as NSError
    #expect(old.domain == AuthErrorDomain && old.domain == AuthErrors.domain)
    #expect(old.code == 17007 && AuthErrorCode(rawValue: old.code) == .emailAlreadyInUse)
    #expect(old.userInfo[AuthErrorUserInfoNameKey] as? String == "ERROR_EMAIL_ALREADY_IN_USE")
    #expect(old.userInfo[AuthErrorUserInfoEmailKey] as? String == "ada@example.com")
    #expect(old.userInfo[AuthErrorUserInfoUpdatedCredentialKey] as? AuthCredential != nil)
    #expect(old.localizedDescription == error.message)
  }

  @Test func `a code can be caught`() {
    func caught(_ error: any Error) -> String {
      do {
        throw error
      } catch AuthErrorCode.wrongPassword {
        return "wrong password"
      } catch {
        return "another"
      }
    }
    #expect(caught(AuthError(.wrongPassword)) == "wrong password")
    #expect(caught((AuthError(.wrongPassword) as any Error) as NSError) == "wrong password")
    #expect(caught(AuthErrorCode.wrongPassword) == "wrong password")
    #expect(caught(AuthError(.userNotFound)) == "another")
    #expect(caught(NSError(domain: "else", code: 17009)) == "another")
    #expect((NSError(domain: "else", code: 17009) as any Error) as? AuthErrorCode == nil)
    #expect(caught(CancellationError()) == "another")
  }

  @Test func `an error is cast to its code`() {
    func caught(_ error: any Error) -> String {
      do {
        throw error
      } catch let error as AuthErrorCode where error.code == .weakPassword {
        return "weak password"
      } catch {
        return "\(error as? AuthErrorCode == .userNotFound)"
      }
    }
    #expect(caught(AuthError(.weakPassword)) == "weak password")
    #expect(caught(AuthErrorCode.weakPassword) == "weak password")
    #expect(caught(AuthError(.userNotFound)) == "true")
    #expect(caught(AuthError(.networkError)) == "false")
    #expect(caught(CancellationError()) == "false")
    #expect(AuthError(.userNotFound) as any Error is AuthErrorCode)
  }

  @Test(arguments: [
    (AuthErrorCode.invalidAPIKey, "ERROR_INVALID_API_KEY"), (.recaptchaSDKNotLinked, "ERROR_RECAPTCHA_SDK_NOT_LINKED"),
    (.missingIosBundleID, "ERROR_MISSING_IOS_BUNDLE_ID"), (.malformedJWT, "ERROR_MALFORMED_JWT"),
    (.networkError, "ERROR_NETWORK_REQUEST_FAILED"), (.tenantIDMismatch, "ERROR_TENANT_ID_MISMATCH"),
  ])
  func `a code has Firebase's name`(_ code: AuthErrorCode, _ name: String) { #expect(code.name == name) }

  @Test func `every code has its own name and a sentence`() {
    let codes = AuthErrorCode.allCases
    #expect(Set(codes.map(\.name)).count == codes.count)
    #expect(codes.allSatisfy { $0.message.hasSuffix(".") && $0.code == $0 })
  }
}

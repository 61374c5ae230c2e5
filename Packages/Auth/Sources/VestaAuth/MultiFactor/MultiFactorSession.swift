import Dispatch
import VestaAuthBackend

/// The session of an enrolment, or of a sign-in that needs a second factor.
public final class MultiFactorSession: Sendable {
  enum Purpose: Sendable {
    case enrollment(User)
    case signIn(Auth, tenantID: String?, pendingCredential: String)
  }

  let purpose: Purpose

  init(_ purpose: Purpose) { self.purpose = purpose }

  var callbackQueue: DispatchQueue {
    switch purpose {
    case .enrollment(let user): user.callbackQueue
    case .signIn(let auth, _, _): auth.callbackQueue
    }
  }

  func startEnrollment(phoneNumber: String) async throws -> String {
    switch try await startEnrollment(.phone(number: phoneNumber)) {
    case .phone(let sessionInfo): return sessionInfo
    case .totp: throw AuthError(.internalError, "The backend answered for another kind of second factor.")
    }
  }

  func startTOTPEnrollment() async throws -> TOTPSecret {
    switch try await startEnrollment(.totp) {
    case .totp(let secret): return TOTPSecret(secret)
    case .phone: throw AuthError(.internalError, "The backend answered for another kind of second factor.")
    }
  }

  private func startEnrollment(
    _ factor: StartMfaEnrollmentRequest.Factor
  ) async throws -> StartMfaEnrollmentResponse {
    guard case .enrollment(let user) = purpose else {
      throw AuthError(.invalidMultiFactorSession, "The session is of a sign-in. Take the one of User.multiFactor.")
    }
    return try await user.performAuthorized { idToken, backend, context throws(AuthServiceError) in
      try await backend.startMfaEnrollment(
        StartMfaEnrollmentRequest(idToken: idToken, factor: factor), context: context)
    }
  }

  func startSignIn(factorUID: String) async throws -> String {
    guard case .signIn(let auth, let tenantID, let pendingCredential) = purpose else {
      throw AuthError(.invalidMultiFactorSession, "The session is not of a sign-in. Take the one of the resolver.")
    }
    return try await auth.perform(inTenant: tenantID) { backend, context throws(AuthServiceError) in
      let request = StartMfaSignInRequest(mfaPendingCredential: pendingCredential, mfaEnrollmentID: factorUID)
      return try await backend.startMfaSignIn(request, context: context).sessionInfo
    }
  }
}

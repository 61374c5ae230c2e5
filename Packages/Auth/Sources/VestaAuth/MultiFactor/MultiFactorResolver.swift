import VestaAuthBackend

/// Continues a sign-in that needs a second factor.
///
/// ```swift
/// do {
///   try await auth.signIn(withEmail: email, password: password)
/// } catch let error as AuthError where error.code == .secondFactorRequired {
///   guard let resolver = error.resolver, let hint = resolver.hints.first else { throw error }
///   let assertion = TOTPMultiFactorGenerator.assertionForSignIn(withEnrollmentID: hint.uid, oneTimePassword: code)
///   try await resolver.resolveSignIn(with: assertion)
/// }
/// ```
public final class MultiFactorResolver: Sendable {
  /// The session to request a code with, see
  /// `PhoneAuthProvider.verifyPhoneNumber(with:uiDelegate:multiFactorSession:)`.
  public let session: MultiFactorSession

  /// The second factors that will do.
  public let hints: [MultiFactorInfo]

  /// The service that the user signs in to.
  public let auth: Auth

  /// The tenant in which the sign-in began; the app may have set another one since.
  let tenantID: String?
  let pendingCredential: String
  let firstFactor: FirstFactor
  let user: User?

  init(auth: Auth, tenantID: String?, pending: PendingSecondFactor, firstFactor: FirstFactor, user: User?) {
    self.auth = auth
    self.tenantID = tenantID
    self.firstFactor = firstFactor
    self.user = user
    pendingCredential = pending.mfaPendingCredential
    session = MultiFactorSession(
      .signIn(auth, tenantID: tenantID, pendingCredential: pending.mfaPendingCredential))
    hints = pending.factors.map { FactorRecord($0).info }
  }
}

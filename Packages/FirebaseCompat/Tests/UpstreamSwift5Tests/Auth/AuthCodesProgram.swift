// swift-format-ignore-file: NeverForceUnwrap

// (The Firebase SDK's documentation is written so.)
import FirebaseAuth
import FirebaseCore
import Foundation

// A program as users of the Firebase SDK write it: e-mail links, codes, linked accounts and second factors.

// Sound as @unchecked Sendable: used by one test at a time.
final class AccountModel: @unchecked Sendable {
  let auth: Auth
  init(auth: Auth) { self.auth = auth }

  func sendLink(_ email: String, _ completion: @escaping @Sendable (Error?) -> Void) {
    let actionCodeSettings = ActionCodeSettings()
    actionCodeSettings.url = URL(string: "http://localhost/finish")
    // The sign-in operation has to always be completed in the app.
    actionCodeSettings.handleCodeInApp = true
    actionCodeSettings.setIOSBundleID("com.example.app")
    actionCodeSettings.setAndroidPackageName(
      "com.example.android", installIfNotAvailable: false, minimumVersion: "12")
    auth.sendSignInLink(toEmail: email, actionCodeSettings: actionCodeSettings) { error in
      if let error = error { print(error.localizedDescription) }
      completion(error)
    }
  }

  func signIn(_ email: String, link: String, _ completion: @escaping @Sendable (Bool?) -> Void) {
    guard auth.isSignIn(withEmailLink: link) else { return completion(nil) }
    auth.signIn(withEmail: email, link: link) { user, error in
      completion(user?.user.isEmailVerified)
    }
  }

  func forgotPassword(_ email: String, _ completion: @escaping @Sendable (Error?) -> Void) {
    auth.languageCode = "fr"
    auth.sendPasswordReset(withEmail: email) { error in completion(error) }
  }

  func resetPassword(_ code: String, to password: String, _ completion: @escaping @Sendable (String?) -> Void) {
    auth.verifyPasswordResetCode(code) { email, error in
      guard let email = email, error == nil else { return completion(nil) }
      self.auth.confirmPasswordReset(withCode: code, newPassword: password) { error in
        completion(error == nil ? email : nil)
      }
    }
  }

  func verifyAddress(_ completion: @escaping @Sendable (Error?) -> Void) {
    auth.currentUser?.sendEmailVerification { error in completion(error) }
  }

  func apply(_ code: String, _ completion: @escaping @Sendable (ActionCodeOperation?, Bool) -> Void) {
    auth.checkActionCode(code) { info, error in
      guard let info = info else { return completion(nil, false) }
      let operation = info.operation
      self.auth.applyActionCode(code) { error in
        self.auth.currentUser?.reload { error in
          completion(operation, self.auth.currentUser?.isEmailVerified ?? false)
        }
      }
    }
  }

  /// An account of an e-mail link gets a password by setting one: its provider is linked already.
  func addPassword(_ email: String, _ password: String, _ completion: @escaping @Sendable ([String]) -> Void) {
    let credential = EmailAuthProvider.credential(withEmail: email, password: password)
    auth.currentUser?.link(with: credential) { result, error in
      guard let error = error as NSError?, error.code == AuthErrorCode.providerAlreadyLinked.rawValue else {
        return completion([])
      }
      self.auth.currentUser?.updatePassword(to: password) { error in
        if let error = error { print(error) }
        completion(self.auth.currentUser?.providerData.map { $0.providerID } ?? [])
      }
    }
  }

  func removePassword(_ completion: @escaping @Sendable (Int) -> Void) {
    auth.currentUser?.unlink(fromProvider: EmailAuthProvider.id) { user, error in
      completion(user?.providerData.count ?? -1)
    }
  }

  func claims(_ completion: @escaping @Sendable (String?, Bool) -> Void) {
    auth.currentUser?.getIDTokenResult(forcingRefresh: true) { result, error in
      let isAdmin = (result?.claims["admin"] as? NSNumber)?.boolValue ?? false
      completion(result?.signInProvider, isAdmin)
    }
  }

  /// Completion handlers are optional.
  func fireAndForget() {
    auth.useAppLanguage()
    auth.sendPasswordReset(withEmail: "nobody@example.com")
    auth.currentUser?.reload()
    auth.currentUser?.sendEmailVerification()
    auth.updateCurrentUser(auth.currentUser)
  }

  func profile() -> [String: String] {
    var profile: [String: String] = [:]
    guard let userInfo = auth.currentUser?.providerData else { return profile }
    for info in userInfo { profile[info.providerID] = info.email ?? info.uid }
    return profile
  }

  func wrong(_ email: String, _ password: String) async -> String {
    do {
      _ = try await auth.signIn(withEmail: email, password: password)
      return "signed in"
    } catch AuthErrorCode.userNotFound, AuthErrorCode.wrongPassword, AuthErrorCode.invalidCredential {
      return "no such user or password"
    } catch {
      let error = error as NSError
      switch AuthErrorCode(rawValue: error.code) {
      case .tooManyRequests: return "later"
      case .networkError: return "offline"
      case .some(let code): return error.userInfo[AuthErrorUserInfoNameKey] as? String ?? "\(code)"
      case .none: return "another error"
      }
    }
  }

  func sessions() async throws -> Int {
    var count = 0
    for await user in auth.authStateChanges {
      count += user == nil ? 0 : 1
      if count == 1 { break }
    }
    return count
  }

  /// Compiled only: the codes of an authenticator app would have to be computed.
  func enrollAuthenticator(_ digits: (String) -> String) async throws -> [String] {
    guard let user = auth.currentUser else { return [] }
    let session = try await user.multiFactor.session()
    let secret = try await TOTPMultiFactorGenerator.generateSecret(with: session)
    print(secret.generateQRCodeURL(withAccountName: user.email ?? "", issuer: "Example"))
    let assertion = TOTPMultiFactorGenerator.assertionForEnrollment(
      with: secret, oneTimePassword: digits(secret.sharedSecretKey()))
    try await user.multiFactor.enroll(with: assertion, displayName: "Authenticator")
    return user.multiFactor.enrolledFactors.map { $0.factorID }
  }

  /// Compiled only, as above.
  func signInInTwoSteps(_ email: String, _ password: String, _ digits: String) {
    auth.signIn(withEmail: email, password: password) { result, error in
      guard let error = error as NSError?, error.code == AuthErrorCode.secondFactorRequired.rawValue else { return }
      let resolver = error.userInfo[AuthErrorUserInfoMultiFactorResolverKey] as! MultiFactorResolver
      guard let hint = resolver.hints.first else { return }
      let assertion = TOTPMultiFactorGenerator.assertionForSignIn(withEnrollmentID: hint.uid, oneTimePassword: digits)
      resolver.resolveSignIn(with: assertion) { result, error in
        if let error = error { print(error) }
      }
    }
  }
}

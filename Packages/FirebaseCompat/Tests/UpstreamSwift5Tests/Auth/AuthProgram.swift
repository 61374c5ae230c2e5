// swift-format-ignore-file: NeverForceUnwrap

// (The Firebase SDK's documentation is written so.)
import FirebaseAuth
import FirebaseCore
import Foundation

// A program as users of the Firebase SDK write it, with Auth.

// Sound as @unchecked Sendable: used by one test at a time.
final class SignInModel: @unchecked Sendable {
  let auth: Auth
  private var handle: AuthStateDidChangeListenerHandle?
  private var tokenHandle: IDTokenDidChangeListenerHandle?

  init(auth: Auth) { self.auth = auth }

  func watch(_ changed: @escaping @Sendable (String?) -> Void) {
    handle = auth.addStateDidChangeListener { auth, user in
      changed(user?.email)
    }
    tokenHandle = auth.addIDTokenDidChangeListener { auth, user in
      if let user = user { print("A token of \(user.uid)") }
    }
  }

  func stop() {
    if let handle = handle { auth.removeStateDidChangeListener(handle) }
    if let tokenHandle = tokenHandle { auth.removeIDTokenDidChangeListener(tokenHandle) }
  }

  func signUp(_ email: String, _ password: String, _ completion: @escaping @Sendable (String?) -> Void) {
    auth.createUser(withEmail: email, password: password) { authResult, error in
      guard let user = authResult?.user, error == nil else {
        print(error!.localizedDescription)
        return completion(nil)
      }
      let isNew = authResult?.additionalUserInfo?.isNewUser ?? false
      completion(isNew ? user.uid : nil)
    }
  }

  func signIn(_ email: String, _ password: String, _ completion: @escaping @Sendable (String) -> Void) {
    auth.signIn(withEmail: email, password: password) { [weak self] authResult, error in
      guard self != nil else { return }
      if let error = error as NSError? {
        switch AuthErrorCode(rawValue: error.code) {
        case .wrongPassword, .invalidCredential: return completion("wrong password")
        case .userNotFound: return completion("no such user")
        case .invalidEmail: return completion("invalid address")
        default: return completion("error \(error.code) of \(error.domain)")
        }
      }
      completion("signed in")
    }
  }

  func rename(_ name: String, _ completion: @escaping @Sendable (String?) -> Void) {
    let changeRequest = auth.currentUser?.createProfileChangeRequest()
    changeRequest?.displayName = name
    changeRequest?.photoURL = URL(string: "https://example.com/jane-q-user/profile.jpg")
    changeRequest?.commitChanges { error in
      completion(error == nil ? self.auth.currentUser?.displayName : nil)
    }
  }

  func changePassword(from old: String, to new: String, _ completion: @escaping @Sendable (Error?) -> Void) {
    let user = auth.currentUser
    let credential = EmailAuthProvider.credential(withEmail: user?.email ?? "", password: old)
    user?.reauthenticate(with: credential) { result, error in
      if let error = error {
        completion(error)
      } else {
        user?.updatePassword(to: new) { error in completion(error) }
      }
    }
  }

  func token(_ completion: @escaping @Sendable (String?) -> Void) {
    auth.currentUser?.getIDTokenForcingRefresh(true) { idToken, error in
      if let error = error { return print(error) }
      completion(idToken)
    }
  }

  func provider(_ completion: @escaping @Sendable (String?) -> Void) {
    auth.currentUser?.getIDTokenResult(completion: { result, error in
      let provider = (result?.claims["firebase"] as? [String: Any])?["sign_in_provider"] as? String
      completion(provider)
    })
  }

  func upgradeGuest(_ email: String, _ password: String, _ completion: @escaping @Sendable (Bool) -> Void) {
    auth.signInAnonymously { authResult, error in
      guard let user = authResult?.user else { return completion(false) }
      let isAnonymous = user.isAnonymous
      let credential = EmailAuthProvider.credential(withEmail: email, password: password)
      user.link(with: credential) { authResult, error in
        completion(isAnonymous && authResult?.user.isAnonymous == false)
      }
    }
  }

  func signOut() {
    let firebaseAuth = auth
    do {
      try firebaseAuth.signOut()
    } catch {
      print("Error signing out: \(error as NSError)")
    }
  }

  func remove(_ completion: @escaping @Sendable (Error?) -> Void) {
    let user = auth.currentUser
    user?.delete { error in
      completion(error)
    }
  }

  func modern(_ email: String, _ password: String) async throws -> [String] {
    let result = try await auth.signIn(withEmail: email, password: password)
    let user = result.user
    try await user.reload()
    try await user.sendEmailVerification()
    let providers = user.providerData.map { userInfo in userInfo.providerID }
    _ = try await user.getIDToken()
    do {
      try await auth.createUser(withEmail: email, password: password)
    } catch let error as AuthErrorCode where error.code == .emailAlreadyInUse {
      return providers + ["already in use"]
    } catch {
      let error = error as NSError
      if error.domain == AuthErrorDomain, error.code == AuthErrorCode.emailAlreadyInUse.rawValue {
        return providers + ["already in use"]
      }
      throw error
    }
    return providers
  }
}

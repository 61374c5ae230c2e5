/// The purpose of a code by e-mail.
public enum OobRequestType: String, Sendable, Hashable, CaseIterable {
  /// Sets a new password.
  case passwordReset = "PASSWORD_RESET"

  /// Verifies the address.
  case verifyEmail = "VERIFY_EMAIL"

  /// Signs in.
  case emailSignIn = "EMAIL_SIGNIN"

  /// Verifies a new address and changes to it.
  case verifyAndChangeEmail = "VERIFY_AND_CHANGE_EMAIL"

  /// Takes back the change of an address.
  case recoverEmail = "RECOVER_EMAIL"

  /// Takes back the addition of a second factor.
  case revertSecondFactorAddition = "REVERT_SECOND_FACTOR_ADDITION"

  /// The `mode` parameter of links with such a code.
  public var linkMode: String {
    switch self {
    case .passwordReset: "resetPassword"
    case .verifyEmail: "verifyEmail"
    case .emailSignIn: "signIn"
    case .verifyAndChangeEmail: "verifyAndChangeEmail"
    case .recoverEmail: "recoverEmail"
    case .revertSecondFactorAddition: "revertSecondFactorAddition"
    }
  }
}

/// A code to send by e-mail.
public struct SendOobCodeRequest: AuthMessage {
  /// The purpose; `nil` is `MISSING_REQ_TYPE`.
  public var requestType: OobRequestType?

  /// The address; not needed with an ID token.
  public var email: String?

  /// The address to change to.
  public var newEmail: String?

  /// The ID token of the account.
  public var idToken: String?

  /// The URL to continue to.
  public var settings: OobLinkSettings

  /// Creates a value with these properties.
  public init(
    requestType: OobRequestType?,
    email: String? = nil,
    newEmail: String? = nil,
    idToken: String? = nil,
    settings: OobLinkSettings = OobLinkSettings()
  ) {
    self.requestType = requestType
    self.email = email
    self.newEmail = newEmail
    self.idToken = idToken
    self.settings = settings
  }
}

/// The settings of the link in a message.
public struct OobLinkSettings: AuthMessage {
  /// The URL to continue to.
  public var continueURL: String?

  /// Whether the app takes the code itself.
  public var canHandleCodeInApp: Bool

  /// The bundle of the app that takes it.
  public var iosBundleID: String?

  /// The package of the Android app that takes it.
  public var androidPackageName: String?

  /// Whether to install the Android app first.
  public var androidInstallApp: Bool

  /// The Android app's lowest version.
  public var androidMinimumVersion: String?

  /// The domain of the link.
  public var linkDomain: String?

  /// Creates a value with these properties.
  public init(
    continueURL: String? = nil,
    canHandleCodeInApp: Bool = false,
    iosBundleID: String? = nil,
    androidPackageName: String? = nil,
    androidInstallApp: Bool = false,
    androidMinimumVersion: String? = nil,
    linkDomain: String? = nil
  ) {
    self.continueURL = continueURL
    self.canHandleCodeInApp = canHandleCodeInApp
    self.iosBundleID = iosBundleID
    self.androidPackageName = androidPackageName
    self.androidInstallApp = androidInstallApp
    self.androidMinimumVersion = androidMinimumVersion
    self.linkDomain = linkDomain
  }
}

/// That a code is on its way, or that it would be if there were such an account.
public struct SendOobCodeResponse: AuthMessage {
  /// The address.
  public var email: String

  /// Creates a value with these properties.
  public init(email: String) {
    self.email = email
  }
}

/// A code to look at, or to set a new password with.
public struct ResetPasswordRequest: AuthMessage {
  /// The code.
  public var oobCode: String

  /// The new password; `nil` to look at the code only.
  public var newPassword: String?

  /// Creates a value with these properties.
  public init(oobCode: String, newPassword: String? = nil) {
    self.oobCode = oobCode
    self.newPassword = newPassword
  }
}

/// The purpose of a code.
public struct ResetPasswordResponse: AuthMessage {
  /// The purpose.
  public var requestType: OobRequestType

  /// The address it was sent for; `nil` for sign-in links.
  public var email: String?

  /// The address that it changes to.
  public var newEmail: String?

  /// The second factor that it removes, with most of its number hidden.
  public var mfaInfo: MfaEnrollment?

  /// Creates a value with these properties.
  public init(
    requestType: OobRequestType, email: String? = nil, newEmail: String? = nil, mfaInfo: MfaEnrollment? = nil
  ) {
    self.requestType = requestType
    self.email = email
    self.newEmail = newEmail
    self.mfaInfo = mfaInfo
  }
}

/// An address whose ways to sign in are asked for.
public struct CreateAuthURIRequest: AuthMessage {
  /// The e-mail address.
  public var identifier: String

  /// The URL to continue to.
  public var continueURI: String

  /// A session to continue with.
  public var sessionID: String?

  /// Creates a value with these properties.
  public init(identifier: String, continueURI: String = "http://localhost", sessionID: String? = nil) {
    self.identifier = identifier
    self.continueURI = continueURI
    self.sessionID = sessionID
  }
}

/// The ways to sign in that an address has.
public struct CreateAuthURIResponse: AuthMessage {
  /// The session: that of the request, or a new one.
  public var sessionID: String

  /// Whether there is an account; `nil` where the project hides that.
  public var isRegistered: Bool?

  /// The providers that are linked.
  public var allProviders: [String]

  /// The ways to sign in: `password`, `emailLink`, or a provider.
  public var signInMethods: [String]

  /// Creates a value with these properties.
  public init(sessionID: String, isRegistered: Bool? = nil, allProviders: [String] = [], signInMethods: [String] = []) {
    self.sessionID = sessionID
    self.isRegistered = isRegistered
    self.allProviders = allProviders
    self.signInMethods = signInMethods
  }
}

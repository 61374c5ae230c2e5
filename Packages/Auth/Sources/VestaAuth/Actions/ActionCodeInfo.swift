/// The operation of a code from an e-mail.
public enum ActionCodeOperation: Int, Sendable {
  /// Something this version does not know.
  case unknown = 0
  /// A new password.
  case passwordReset = 1
  /// The proof that an e-mail address is the user's.
  case verifyEmail = 2
  /// The way back from a changed e-mail address.
  case recoverEmail = 3
  /// A sign-in.
  case emailLink = 4
  /// A changed e-mail address, once it is proven to be the user's.
  case verifyAndChangeEmail = 5
  /// The way back from a second factor that was added.
  case revertSecondFactorAddition = 6

  /// The operation by the name that requests have, such as "PASSWORD_RESET".
  init(requestType: String?) {
    switch requestType {
    case "PASSWORD_RESET": self = .passwordReset
    case "VERIFY_EMAIL": self = .verifyEmail
    case "RECOVER_EMAIL": self = .recoverEmail
    case "EMAIL_SIGNIN": self = .emailLink
    case "VERIFY_AND_CHANGE_EMAIL": self = .verifyAndChangeEmail
    case "REVERT_SECOND_FACTOR_ADDITION": self = .revertSecondFactorAddition
    default: self = .unknown
    }
  }

  /// The operation by the name that links have, such as "resetPassword".
  init(mode: String?) {
    switch mode {
    case "resetPassword": self = .passwordReset
    case "verifyEmail": self = .verifyEmail
    case "recoverEmail": self = .recoverEmail
    case "signIn": self = .emailLink
    case "verifyAndChangeEmail": self = .verifyAndChangeEmail
    case "revertSecondFactorAddition": self = .revertSecondFactorAddition
    default: self = .unknown
    }
  }
}

/// The purpose and the e-mail address of a code from an e-mail; see `Auth.checkActionCode(_:)`.
public final class ActionCodeInfo: Sendable {
  /// The purpose of the code.
  public let operation: ActionCodeOperation

  /// The e-mail address that the code was sent to, or the new one of a change; empty where the service does not return
  /// it.
  public let email: String

  /// The e-mail address before the change.
  public let previousEmail: String?

  init(operation: ActionCodeOperation, email: String?, newEmail: String?) {
    self.operation = operation
    // As the service returns it: `newEmail` is the address after the code was applied, `email` the one before.
    self.email = newEmail ?? email ?? ""
    previousEmail = newEmail == nil ? nil : email
  }
}

public import VestaAuthBackend

/// A message to a mailbox: a link with a code in it.
public struct EmailMessage: Sendable, CustomStringConvertible, CustomReflectable {
  /// The mailbox.
  public let recipient: String

  /// What the code is for.
  public let requestType: OobRequestType

  /// The account's present address, where it differs from the mailbox.
  public let email: String

  /// The address that the code changes to.
  public let newEmail: String?

  /// The code.
  public let code: String

  /// The link with the code in it.
  public let link: String

  /// The language to write in.
  public let locale: String?

  /// The tenant of the account.
  public let tenantID: String?

  /// What it is for; neither mailbox nor code.
  public var description: String { "EmailMessage(\(requestType.rawValue))" }

  /// A mirror without mailbox and code.
  public var customMirror: Mirror { Mirror(self, children: ["requestType": requestType.rawValue]) }
}

/// A message to a phone: six digits.
public struct TextMessage: Sendable, CustomStringConvertible, CustomReflectable {
  /// The number.
  public let phoneNumber: String

  /// The code.
  public let code: String

  /// Names the verification.
  public let sessionInfo: String

  /// The language to write in.
  public let locale: String?

  /// The tenant of the account.
  public let tenantID: String?

  /// That it is one; neither number nor code.
  public var description: String { "TextMessage" }

  /// A mirror without number and code.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Brings codes to their users.
///
/// Both methods are called after the code has been stored, from any task, several at once. What they throw is logged, and
/// makes the call that asked for the code fail with `UNAVAILABLE`; the code stays valid, so a message that arrived all the
/// same works. A password reset in a project that hides which addresses have accounts is the exception: its message is
/// sent after the call has returned, and a failure is only logged, as both would tell.
public protocol CodeSender: Sendable {
  /// Sends an e-mail.
  ///
  /// - Parameter message: The message.
  func send(_ message: EmailMessage) async throws

  /// Sends a text message.
  ///
  /// - Parameter message: The message.
  func send(_ message: TextMessage) async throws

  /// Whether sending takes no time and cannot fail, so that nobody can learn anything from it; `false` for a sender that
  /// reaches anything outside of the process.
  var isImmediate: Bool { get }

  /// The e-mails that were sent and that developers may read, oldest first; a real sender gives none.
  var recordedEmails: [EmailMessage] { get }

  /// The text messages that were sent and that developers may read, oldest first; a real sender gives none.
  var recordedTexts: [TextMessage] { get }
}

extension CodeSender {
  /// No.
  public var isImmediate: Bool { false }

  /// None.
  public var recordedEmails: [EmailMessage] { [] }

  /// None.
  public var recordedTexts: [TextMessage] { [] }
}

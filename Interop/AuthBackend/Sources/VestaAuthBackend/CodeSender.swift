/// Delivers codes to users: e-mails and text messages.
///
/// A plug-in registers one as a component; the embedded service uses it. Without one, messages are recorded in memory
/// for developers and nothing is sent.
///
/// ```swift
/// enum MailLibrary: Library {
///   static let name = "my-mail", version = "1.0.0"
///   static func components() -> [Component] {
///     [Component((any CodeSender).self) { _, isCacheable in isCacheable = true; return SMTPSender() }]
///   }
/// }
/// ```
///
/// Promises of every implementation; `VestaAuthBackendContracts` checks them:
/// - A method returns when the message has been handed over, and throws when it has not.
/// - Both methods may be called from any task, several at once.
///
/// An implementation may rely on this: the code is stored before the message is sent, and stays valid when sending
/// fails. The error is logged, and the call that asked for the code fails with `UNAVAILABLE`. A password reset in
/// a project that hides which addresses have accounts is the exception: its message is sent after the call has
/// returned, and a failure is only logged, as both would reveal who has an account.
public protocol CodeSender: Sendable {
  /// Sends an e-mail.
  ///
  /// - Parameter message: The message.
  func send(_ message: EmailMessage) async throws

  /// Sends a text message.
  ///
  /// - Parameter message: The message.
  func send(_ message: TextMessage) async throws

  /// Whether sending takes no time and cannot fail, so that its duration reveals nothing; `false` for a sender
  /// that reaches anything outside of the process.
  var isImmediate: Bool { get }

  /// The e-mails that were sent and that developers may read, oldest first; empty for a real sender.
  var recordedEmails: [EmailMessage] { get }

  /// The text messages that were sent and that developers may read, oldest first; empty for a real sender.
  var recordedTexts: [TextMessage] { get }
}

extension CodeSender {
  /// `false`.
  public var isImmediate: Bool { false }

  /// Empty.
  public var recordedEmails: [EmailMessage] { [] }

  /// Empty.
  public var recordedTexts: [TextMessage] { [] }
}

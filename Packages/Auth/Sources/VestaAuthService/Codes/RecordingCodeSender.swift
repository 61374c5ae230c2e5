public import VestaAuthBackend
import VestaConcurrency
import VestaCore

/// Sends nothing, and keeps the last thousand messages of each kind in memory for a developer to read.
///
/// The default, until an app brings its own. It logs that there was a message; the link and the digits only on request.
public final class RecordingCodeSender: CodeSender {
  private struct Recorded: Sendable {
    var emails: [EmailMessage] = []
    var texts: [TextMessage] = []
  }

  private static let capacity = 1000

  private let recorded = Locked(Recorded())
  private let logsSecrets: Bool
  private let loggedLink: @Sendable (EmailMessage) -> String

  /// A sender without messages.
  ///
  /// - Parameters:
  ///   - logsSecrets: Whether links and digits are logged, as is handy in development and wrong elsewhere.
  ///   - loggedLink: The link that is logged for an e-mail, where a server has the page behind it; its own by default.
  public init(
    logsSecrets: Bool = false, loggedLink: @escaping @Sendable (_ message: EmailMessage) -> String = { $0.link }
  ) {
    self.logsSecrets = logsSecrets
    self.loggedLink = loggedLink
  }

  /// Yes: everything stays in memory.
  public var isImmediate: Bool { true }

  /// Records an e-mail.
  ///
  /// - Parameter message: The message.
  public func send(_ message: EmailMessage) {
    record(message)
    let secret = logsSecrets ? " \(Self.purpose(of: message)), follow this link: \(loggedLink(message))" : ""
    log.notice("I-AUS000001", "A \(message.requestType.rawValue) code was made; no mail is sent.\(secret)")
  }

  /// Records an e-mail that nothing is to be said about.
  func record(_ message: EmailMessage) { recorded.withLock { Self.append(message, to: &$0.emails) } }

  /// The purpose of a link, as the Emulator Suite names it.
  private static func purpose(of message: EmailMessage) -> String {
    switch message.requestType {
    case .emailSignIn: "To sign in as \(message.email)"
    case .passwordReset: "To reset the password for \(message.email) (add &newPassword=NEW_PASSWORD)"
    case .verifyEmail: "To verify the email address \(message.email)"
    case .verifyAndChangeEmail: "To verify and change the email address from \(message.email) to \(message.recipient)"
    case .recoverEmail: "To change the email address back to \(message.email)"
    default: "For \(message.recipient)"
    }
  }

  /// Records a text message.
  ///
  /// - Parameter message: The message.
  public func send(_ message: TextMessage) {
    recorded.withLock { Self.append(message, to: &$0.texts) }
    let secret = logsSecrets ? " To verify the phone number \(message.phoneNumber), use the code \(message.code)." : ""
    log.notice("I-AUS000002", "A code for a phone was made; no text message is sent.\(secret)")
  }

  /// The last e-mails, oldest first.
  public var recordedEmails: [EmailMessage] { recorded.withLock { $0.emails } }

  /// The last text messages, oldest first.
  public var recordedTexts: [TextMessage] { recorded.withLock { $0.texts } }

  private static func append<Message>(_ message: Message, to list: inout [Message]) {
    if list.count >= capacity { list.removeFirst() }
    list.append(message)
  }
}

private let log = Logger(service: "VestaAuthService")

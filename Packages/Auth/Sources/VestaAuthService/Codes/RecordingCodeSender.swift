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

  /// A sender without messages.
  ///
  /// - Parameter logsSecrets: Whether links and digits are logged, as is handy in development and wrong elsewhere.
  public init(logsSecrets: Bool = false) { self.logsSecrets = logsSecrets }

  /// Yes: everything stays in memory.
  public var isImmediate: Bool { true }

  /// Records an e-mail.
  ///
  /// - Parameter message: The message.
  public func send(_ message: EmailMessage) {
    recorded.withLock { Self.append(message, to: &$0.emails) }
    let secret = logsSecrets ? " To: \(message.recipient), \(message.link)" : ""
    log.notice("I-AUS000001", "A \(message.requestType.rawValue) code was made; no mail is sent.\(secret)")
  }

  /// Records a text message.
  ///
  /// - Parameter message: The message.
  public func send(_ message: TextMessage) {
    recorded.withLock { Self.append(message, to: &$0.texts) }
    let secret = logsSecrets ? " To: \(message.phoneNumber), \(message.code)" : ""
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

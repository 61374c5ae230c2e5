/// An e-mail with a code, for a ``CodeSender`` to deliver.
public struct EmailMessage: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// The mailbox.
  public var recipient: String

  /// The purpose of the code.
  public var requestType: OobRequestType

  /// The current address of the account, where it differs from the mailbox.
  public var email: String

  /// The address that the code changes to.
  public var newEmail: String?

  /// The code.
  public var code: String

  /// The link with the code in it.
  public var link: String

  /// The language to write in.
  public var locale: String?

  /// The tenant of the account.
  public var tenantID: String?

  /// An e-mail.
  public init(
    recipient: String, requestType: OobRequestType, email: String? = nil, newEmail: String? = nil, code: String,
    link: String, locale: String? = nil, tenantID: String? = nil
  ) {
    self.recipient = recipient
    self.requestType = requestType
    self.email = email ?? recipient
    self.newEmail = newEmail
    self.code = code
    self.link = link
    self.locale = locale
    self.tenantID = tenantID
  }

  /// The purpose; neither mailbox nor code.
  public var description: String { "EmailMessage(\(requestType.rawValue))" }

  /// A mirror without mailbox and code.
  public var customMirror: Mirror { Mirror(self, children: ["requestType": requestType.rawValue]) }
}

/// A text message with six digits, for a ``CodeSender`` to deliver.
public struct TextMessage: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// The phone number.
  public var phoneNumber: String

  /// The six digits.
  public var code: String

  /// The id of the verification, which the client presents together with the digits.
  public var sessionInfo: String

  /// The language to write in.
  public var locale: String?

  /// The tenant of the account.
  public var tenantID: String?

  /// A text message.
  public init(
    phoneNumber: String, code: String, sessionInfo: String, locale: String? = nil, tenantID: String? = nil
  ) {
    self.phoneNumber = phoneNumber
    self.code = code
    self.sessionInfo = sessionInfo
    self.locale = locale
    self.tenantID = tenantID
  }

  /// The kind of message; neither number nor code.
  public var description: String { "TextMessage" }

  /// A mirror without number and code.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

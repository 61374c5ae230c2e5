public import VestaAuthBackend
public import VestaTesting

/// A sender that is held to its contract, and the other end of it.
public struct CodeSenderSubject: Sendable {
  /// The sender.
  public let sender: any CodeSender

  /// The e-mails that have arrived, in any order; by the mailbox and the link that a person would see.
  public let arrivedEmails: @Sendable () async throws -> [(recipient: String, link: String)]

  /// The text messages that have arrived, in any order; by the number and the digits that a person would see.
  public let arrivedTexts: @Sendable () async throws -> [(phoneNumber: String, code: String)]

  /// Makes delivery impossible, or possible again; `nil` where that cannot be arranged.
  public let setFails: (@Sendable (Bool) async throws -> Void)?

  /// A sender to check.
  ///
  /// - Parameters:
  ///   - sender: The sender.
  ///   - arrivedEmails: Gives the e-mails that have arrived.
  ///   - arrivedTexts: Gives the text messages that have arrived.
  ///   - setFails: Makes delivery impossible, or possible again.
  public init(
    _ sender: any CodeSender,
    arrivedEmails: @escaping @Sendable () async throws -> [(recipient: String, link: String)],
    arrivedTexts: @escaping @Sendable () async throws -> [(phoneNumber: String, code: String)],
    setFails: (@Sendable (Bool) async throws -> Void)? = nil
  ) {
    self.sender = sender
    self.arrivedEmails = arrivedEmails
    self.arrivedTexts = arrivedTexts
    self.setFails = setFails
  }
}

/// The promises of `CodeSender` as checks.
public enum CodeSenderContracts {
  /// All promises.
  public static let all: [Contract<CodeSenderSubject>] = [
    Contract("an e-mail has arrived, with its link unchanged, when sending returns") { subject in
      for (index, type) in OobRequestType.allKnown.enumerated() {
        let message = email(index, type)
        try await subject.sender.send(message)
        let arrived = try await subject.arrivedEmails()
        try expect(
          arrived.contains { $0.recipient == message.recipient && $0.link == message.link },
          "the message for \(type.rawValue) has not arrived, or has another link")
      }
    },
    Contract("a text message has arrived, with its digits unchanged, when sending returns") { subject in
      for code in ["000000", "012345", "999999"] {
        try await subject.sender.send(TextMessage(phoneNumber: "+15550000001", code: code, sessionInfo: "session"))
        try expect(
          try await subject.arrivedTexts().contains { $0.phoneNumber == "+15550000001" && $0.code == code },
          "the digits \(code) have not arrived")
      }
    },
    Contract("messages that are sent at once all arrive, each once") { subject in
      let sender = subject.sender
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<32 { group.addTask { try await sender.send(email(index, .emailSignIn)) } }
        try await group.waitForAll()
      }
      let recipients = try await subject.arrivedEmails().map(\.recipient).sorted()
      try expect(recipients == (0..<32).map { "user\($0)@example.com" }.sorted(), "\(recipients.count) of 32 arrived")
    },
    Contract("a message that cannot be delivered is an error, and the next one arrives") { subject in
      guard let setFails = subject.setFails else { return }
      try await setFails(true)
      do {
        try await subject.sender.send(email(1, .passwordReset))
      } catch {
        try await setFails(false)
        try await subject.sender.send(email(2, .passwordReset))
        return try expect(
          try await subject.arrivedEmails().contains { $0.recipient == "user2@example.com" }, "nothing arrives any more"
        )
      }
      throw ContractViolation("sending returned although nothing can be delivered")
    },
    Contract("a real sender shows nobody what it sent") { subject in
      guard !subject.sender.isImmediate else { return }
      try await subject.sender.send(email(1, .passwordReset))
      try expect(subject.sender.recordedEmails.isEmpty, "codes can be read that went to a mailbox")
    },
  ]

  private static func email(_ index: Int, _ type: OobRequestType) -> EmailMessage {
    let code = "code-\(index)_~."
    return EmailMessage(
      recipient: "user\(index)@example.com", requestType: type, newEmail: nil, code: code,
      link:
        "https://example.com/__/auth/action?mode=\(type.linkMode)&oobCode=\(code)&continueUrl=https%3A%2F%2Fa%2F%3Fb%3Dc"
    )
  }
}

extension OobRequestType {
  fileprivate static let allKnown: [Self] = [
    .passwordReset, .verifyEmail, .emailSignIn, .verifyAndChangeEmail, .recoverEmail,
  ]
}

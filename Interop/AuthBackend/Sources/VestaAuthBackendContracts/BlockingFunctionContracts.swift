public import VestaAuthBackend
import VestaBytes
public import VestaTesting

/// A way to ask blocking functions that is held to its contract, and the function at the other end.
public struct BlockingFunctionSubject: Sendable {
  /// The reply of the function.
  public enum Reply: Sendable {
    /// The function changes the account.
    case changes(BlockingAnswer)
    /// The function refuses, with a text.
    case refuses(String)
    /// No function answers at the URL.
    case isAbsent
  }

  /// Asks the function.
  public let functions: any AuthBlockingFunctions

  /// The URL of the function.
  public let url: String

  /// Sets the reply to all later questions.
  public let setReply: @Sendable (Reply) async throws -> Void

  /// The questions that the function has received: the event, the user's id and the way to sign in.
  public let received: @Sendable () async throws -> [String]

  /// A way to ask and the other end of it.
  public init(
    _ functions: any AuthBlockingFunctions, url: String, setReply: @escaping @Sendable (Reply) async throws -> Void,
    received: @escaping @Sendable () async throws -> [String]
  ) {
    (self.functions, self.url) = (functions, url)
    (self.setReply, self.received) = (setReply, received)
  }

  func ask(_ event: BlockingEvent, _ localID: String = "ada") async throws -> BlockingAnswer {
    let question = BlockingQuestion(
      event: event, url: url, project: "demo", user: AuthUser(localID: localID), signInMethod: "password")
    return try await functions.answer(to: question)
  }
}

/// The promises of `AuthBlockingFunctions` as checks.
public enum BlockingFunctionContracts {
  /// All promises; each wants a fresh subject.
  public static let all: [Contract<BlockingFunctionSubject>] = [
    Contract("the function gets the event, the account and the way to sign in, once for each question") { subject in
      try await subject.setReply(.changes(BlockingAnswer()))
      for event in BlockingEvent.allCases { _ = try await subject.ask(event) }
      try expect(
        try await subject.received(), equals: ["beforeCreate ada password", "beforeSignIn ada password"],
        "the questions")
    },
    Contract("a function that changes nothing has an empty answer") { subject in
      try await subject.setReply(.changes(BlockingAnswer()))
      for event in BlockingEvent.allCases {
        try expect(try await subject.ask(event), equals: BlockingAnswer(), "the answer to \(event)")
      }
    },
    Contract("the changes of a function are its answer") { subject in
      let all = BlockingAnswer(
        displayName: "Ada", photoURL: "https://a.example/p", disabled: true, emailVerified: false,
        customClaims: ["a": 1], sessionClaims: ["b": true])
      try await subject.setReply(.changes(all))
      try expect(try await subject.ask(.beforeSignIn), equals: all, "the answer")
    },
    Contract("claims of a session are part of sign-ins alone") { subject in
      try await subject.setReply(.changes(BlockingAnswer(displayName: "Ada", sessionClaims: ["b": true])))
      try expect(
        try await subject.ask(.beforeCreate), equals: BlockingAnswer(displayName: "Ada"), "the answer to beforeCreate")
    },
    Contract("a refusal is an error with the text of the function") { subject in
      try await subject.setReply(.refuses("not on Sundays"))
      let error = try await expectThrows(AuthServiceError.self, "the question") { try await subject.ask(.beforeCreate) }
      try expect(error.code, equals: .blockingFunctionError, "the code")
      try expect(error.detail?.contains("not on Sundays") == true, "the text is lost: \(error)")
    },
    Contract("a function that does not answer is a refusal, and the next question is asked again") { subject in
      try await subject.setReply(.isAbsent)
      try await expectRefusal(.blockingFunctionError, of: "the question") { try await subject.ask(.beforeSignIn) }
      try await subject.setReply(.changes(BlockingAnswer(displayName: "Ada")))
      try expect(try await subject.ask(.beforeSignIn).displayName, equals: "Ada", "the name")
    },
    Contract("concurrent questions get their own answers") { subject in
      try await subject.setReply(.changes(BlockingAnswer(displayName: "Ada")))
      let results = await atOnce(16) { try await subject.ask(.beforeSignIn).displayName }
      try expect(try results.map { try $0.get() } == Array(repeating: "Ada", count: 16), "an answer is missing")
      try expect(try await subject.received().count, equals: 16, "the number of questions")
    },
  ]
}

public import VestaAuthBackend
import VestaBytes
import VestaConcurrency
import VestaServiceInterop
public import VestaTesting

/// A service that asks blocking functions, which the checks script.
///
/// The project has a function for each event, allows passwords and anonymous accounts, and has no users.
public struct BlockingEngineSubject: Sendable {
  let functions: BlockingScript
  let backend: any AuthBackend
  /// Creates an account as an owner.
  public var createUser: @Sendable (CreateUserRequest) async throws -> AuthUser

  /// The functions, as a wrong service may call them.
  public var script: any AuthBlockingFunctions { functions }

  /// A subject.
  ///
  /// - Parameter make: Makes the service with these functions.
  public init(
    _ make: (any AuthBlockingFunctions) async throws -> (backend: any AuthBackend, administration: any AuthAdminBackend)
  ) async throws {
    functions = BlockingScript()
    let made = try await make(functions)
    backend = made.backend
    createUser = { try await made.administration.createUser($0, context: .owner) }
  }

  fileprivate func signUp() async throws -> SignUpResponse {
    let request = SignUpRequest(email: "ada@example.com", password: "correct horse")
    return try await backend.signUp(request, context: CallContext())
  }

  fileprivate func signIn() async throws -> PasswordSignInResponse {
    let request = PasswordSignInRequest(email: "ada@example.com", password: "correct horse")
    return try await backend.signInWithPassword(request, context: CallContext())
  }

  /// The claims of a token, which was received and needs no verification.
  fileprivate func claims(_ token: String) throws -> JSONObject {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    try expect(parts.count, equals: 3, "the number of parts of a token")
    return try JSONObject(json: try Base64.url.decode(String(parts[1])))
  }
}

/// Functions that answer as a check says, and record all questions.
final class BlockingScript: AuthBlockingFunctions {
  typealias Reply = @Sendable (BlockingQuestion) throws(AuthServiceError) -> BlockingAnswer

  private struct State {
    var asked: [BlockingQuestion] = []
    var reply: Reply = { _ in BlockingAnswer() }
  }

  private let state = Locked(State())

  var asked: [BlockingQuestion] { state.withLock { $0.asked } }

  func replies(_ reply: @escaping Reply) { state.withLock { $0.reply = reply } }

  func answer(to question: BlockingQuestion) async throws(AuthServiceError) -> BlockingAnswer {
    let reply = state.withLock { state in
      state.asked.append(question)
      return state.reply
    }
    return try reply(question)
  }
}

/// The promises of a service that asks blocking functions as checks.
public enum BlockingEngineContracts {
  /// All promises; each wants a fresh subject.
  public static let all: [Contract<BlockingEngineSubject>] = [
    Contract("an account is asked about before it is created, and once before each sign-in") { subject in
      let made = try await subject.signUp()
      try expect(subject.functions.asked.map(\.event), equals: [.beforeCreate, .beforeSignIn], "the first events")
      _ = try await subject.signIn()
      let asked = subject.functions.asked
      try expect(asked.map(\.event), equals: [.beforeCreate, .beforeSignIn, .beforeSignIn], "the events")
      try expect(Set(asked.map(\.user.localID)), equals: [made.localID], "the accounts")
      try expect(Set(asked.map(\.user.email)), equals: ["ada@example.com"], "the addresses")
      try expect(Set(asked.map(\.signInMethod)), equals: ["password"], "the ways to sign in")
    },
    // Also the refusal of the first sign-in: production keeps an account when that has succeeded. The Emulator Suite
    // keeps it before.
    Contract("a refusal creates no account, and opens no session") { subject in
      for event in BlockingEvent.allCases {
        subject.functions.replies { question throws(AuthServiceError) in
          if question.event == event { throw AuthServiceError(.blockingFunctionError, "no") }
          return BlockingAnswer()
        }
        try await expectRefusal(.blockingFunctionError, of: "a sign-up with \(event)") { try await subject.signUp() }
      }
      subject.functions.replies { _ in BlockingAnswer() }
      _ = try await subject.signUp()
      subject.functions.replies { _ throws(AuthServiceError) in throw AuthServiceError(.blockingFunctionError, "no") }
      try await expectRefusal(.blockingFunctionError, of: "a sign-in") { try await subject.signIn() }
    },
    Contract("the account and the token are as the functions say") { subject in
      subject.functions.replies { question in
        question.event == .beforeCreate
          ? BlockingAnswer(displayName: "Ada", customClaims: ["role": "keeper"])
          : BlockingAnswer(sessionClaims: ["session": "first"])
      }
      let tokens = try await subject.signUp().tokens
      let found = try await subject.backend.lookup(LookupRequest(idToken: tokens.idToken), context: CallContext())
      try expect(found.users.first?.displayName, equals: "Ada", "the name")
      let claims = try subject.claims(tokens.idToken)
      try expect(claims["role"], equals: "keeper", "the claim of the account")
      try expect(claims["session"], equals: "first", "the claim of the session")
      subject.functions.replies { _ in BlockingAnswer() }
      let later = try subject.claims(try expectValue(try await subject.signIn().outcome.tokens, "tokens").idToken)
      try expect(later["role"], equals: "keeper", "the claim of the account, later")
      try expect(later["session"] == nil, "the claim of another session")
    },
    Contract("accounts of owners and anonymous accounts are not asked about") { subject in
      subject.functions.replies { _ throws(AuthServiceError) in throw AuthServiceError(.blockingFunctionError, "no") }
      _ = try await subject.createUser(CreateUserRequest(email: "bob@example.com", password: "correct horse"))
      _ = try await subject.backend.signUp(SignUpRequest(), context: CallContext())
      try expect(subject.functions.asked.count, equals: 0, "the number of questions")
    },
    Contract("a reserved claim is refused, and creates no account") { subject in
      subject.functions.replies { _ in BlockingAnswer(customClaims: ["sub": "root"]) }
      try await expectRefusal(.forbiddenClaim, of: "a sign-up") { try await subject.signUp() }
      subject.functions.replies { _ in BlockingAnswer() }
      _ = try await subject.signUp()
    },
  ]
}

public import VestaAuthBackend
import VestaServiceInterop
import VestaTesting

/// A backend that is held to its contract, and the mailboxes and phones of its users.
///
/// The project allows passwords, e-mail links, anonymous accounts and phones, has the default password policy, and has
/// no users. Whether it hides which addresses have accounts is its own affair.
public struct AuthSubject: Sendable {
  /// The backend.
  public let backend: any AuthBackend

  /// The code of the last message of a kind to a mailbox; throws when there is none.
  public let emailedCode: @Sendable (_ type: OobRequestType, _ recipient: String) async throws -> String

  /// The code of the message that belongs to a verification; throws when there is none.
  public let textedCode: @Sendable (_ sessionInfo: String) async throws -> String

  /// A backend and how to read its messages.
  ///
  /// - Parameters:
  ///   - backend: The backend.
  ///   - emailedCode: Gives the code of the last message of a kind to a mailbox.
  ///   - textedCode: Gives the code of the message that belongs to a verification.
  public init(
    _ backend: any AuthBackend,
    emailedCode: @escaping @Sendable (_ type: OobRequestType, _ recipient: String) async throws -> String,
    textedCode: @escaping @Sendable (_ sessionInfo: String) async throws -> String
  ) {
    self.backend = backend
    self.emailedCode = emailedCode
    self.textedCode = textedCode
  }
}

// Helpers of all checks.
extension AuthSubject {
  var context: CallContext { CallContext() }

  func signUp(_ email: String = "ada@example.com", _ password: String = "correct horse") async throws -> SignUpResponse
  {
    try await backend.signUp(SignUpRequest(email: email, password: password), context: context)
  }

  func signIn(_ email: String = "ada@example.com", _ password: String = "correct horse") async throws
    -> PasswordSignInResponse
  {
    try await backend.signInWithPassword(PasswordSignInRequest(email: email, password: password), context: context)
  }

  func user(_ tokens: AuthTokens) async throws -> AuthUser {
    let users = try await backend.lookup(LookupRequest(idToken: tokens.idToken), context: context).users
    try expect(users.count, equals: 1, "the number of accounts of a token")
    return users[0]
  }

  func sendCode(_ type: OobRequestType, to email: String = "ada@example.com", idToken: String? = nil) async throws
    -> String
  {
    let request = SendOobCodeRequest(requestType: type, email: email, idToken: idToken)
    _ = try await backend.sendOobCode(request, context: context)
    return try await emailedCode(type, email)
  }

  func sendText(to number: String = "+15550000001") async throws -> (sessionInfo: String, code: String) {
    let sent = try await backend.sendVerificationCode(
      SendVerificationCodeRequest(phoneNumber: number), context: context)
    return (sent.sessionInfo, try await textedCode(sent.sessionInfo))
  }
}

/// Expects a call to be refused with one of some codes.
func expectRefusal<Value>(
  _ codes: AuthServiceError.Code...,
  of what: String,
  file: String = #fileID,
  line: Int = #line,
  _ call: () async throws -> Value
) async throws {
  let error = try await expectThrows(AuthServiceError.self, what, file: file, line: line, call)
  try expect(codes.contains(error.code), "\(what): expected \(codes), found \(error.code)", file: file, line: line)
}

/// Runs a call many times at once.
func atOnce<Value: Sendable>(
  _ count: Int, _ call: @escaping @Sendable () async throws -> Value
) async -> [Result<Value, any Error>] {
  await withTaskGroup(of: Result<Value, any Error>.self) { group in
    for _ in 0..<count {
      group.addTask {
        do {
          return .success(try await call())
        } catch {
          return .failure(error)
        }
      }
    }
    var results: [Result<Value, any Error>] = []
    for await result in group { results.append(result) }
    return results
  }
}

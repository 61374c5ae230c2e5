import Testing
import VestaAuthBackend
import VestaConcurrency
import VestaCryptoInterop
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes

@testable import VestaAuthService

/// An engine over a model store, with a clock that the test moves.
final class World: Sendable {
  let store: any OrderedStore
  let crypto: FakeCrypto
  let sender: RecordingCodeSender
  let engine: AuthEngine
  let options: AuthServiceOptions
  private let clock: Locked<Int64>

  /// 2026-01-01T00:00:00Z.
  static let start: Int64 = 1_767_225_600_000

  init(
    store: any OrderedStore = ModelStore(), at time: Int64 = World.start, crypto: FakeCrypto = FakeCrypto(),
    configure: (inout AuthServiceOptions) -> Void = { _ in }
  ) {
    let clock = Locked(time)
    let sender = RecordingCodeSender()
    var options = AuthServiceOptions()
    options.clock = ServiceClock(
      now: { clock.withLock { $0 } * 1000 }, schedule: { _, _ in ListenerRegistration {} })
    options.codeSender = sender
    options.passwordScheme = .pbkdf2(.sha256, iterations: 1)
    // Tests guess more than people do, but where they test just that.
    options.accountGuesses = RateLimit(burst: 10_000, refillInterval: .milliseconds(1000))
    options.digitGuesses = RateLimit(burst: 10_000, refillInterval: .milliseconds(1000))
    options.codesPerRecipient = RateLimit(burst: 10_000, refillInterval: .milliseconds(1000))
    configure(&options)
    self.store = store
    self.crypto = crypto
    self.sender = sender
    self.clock = clock
    self.options = options
    engine = AuthEngine(projectID: "demo", options: options, crypto: crypto) { store }
  }

  var now: Int64 { clock.withLock { $0 } }
  let context = CallContext()

  /// Moves the clock.
  func pass(seconds: Int64) { clock.withLock { $0 += seconds * 1000 } }

  /// Everything in the store, to see that nothing has changed.
  func contents() async throws -> [StoreEntry] {
    try await store.read { try await $0.entries(in: .all) }
  }

  // MARK: Short forms

  @discardableResult
  func signUp(_ email: String = "ada@example.com", _ password: String = "correct horse") async throws -> SignUpResponse
  {
    try await engine.signUp(SignUpRequest(email: email, password: password), context: context)
  }

  @discardableResult
  func signIn(
    _ email: String = "ada@example.com", _ password: String = "correct horse", from address: String? = nil
  ) async throws -> PasswordSignInResponse {
    try await engine.signInWithPassword(
      PasswordSignInRequest(email: email, password: password), context: CallContext(clientAddress: address))
  }

  func refresh(_ tokens: AuthTokens) async throws -> RefreshResponse {
    try await engine.refresh(RefreshRequest(refreshToken: tokens.refreshToken), context: context)
  }

  func lookup(_ tokens: AuthTokens) async throws -> AuthUser {
    try #require(try await engine.lookup(LookupRequest(idToken: tokens.idToken), context: context).users.first)
  }

  func claims(_ tokens: AuthTokens) throws -> JWTObject { try JWT(unverified: tokens.idToken).claims }

  func send(
    _ type: OobRequestType, to email: String? = "ada@example.com", newEmail: String? = nil, idToken: String? = nil,
    url: String? = nil
  ) async throws {
    let request = SendOobCodeRequest(
      requestType: type, email: email, newEmail: newEmail, idToken: idToken,
      settings: OobLinkSettings(continueURL: url))
    _ = try await engine.sendOobCode(request, context: context)
  }

  /// Signs in with the code of an e-mail link, or links the address to the account of an ID token.
  @discardableResult
  func signInByLink(
    _ email: String = "ada@example.com", linkTo idToken: String? = nil
  ) async throws -> EmailLinkSignInResponse {
    try await send(.emailSignIn, to: email)
    return try await engine.signInWithEmailLink(
      EmailLinkSignInRequest(
        email: email, oobCode: try emailedCode(.emailSignIn, to: Checks.canonicalEmail(email)), idToken: idToken),
      context: context)
  }

  /// Signs in by phone, or links the number to the account of an ID token.
  @discardableResult
  func signInByPhone(_ number: String, linkTo idToken: String? = nil) async throws -> (uid: String, AuthTokens) {
    let sent = try await engine.sendVerificationCode(
      SendVerificationCodeRequest(phoneNumber: number), context: context)
    let proof = PhoneProof.code(sessionInfo: sent.sessionInfo, code: try textedCode(sent.sessionInfo))
    let response = try await engine.signInWithPhoneNumber(
      PhoneSignInRequest(proof: proof, idToken: idToken), context: context)
    guard case .signedIn(let uid, _, _, let tokens) = response else { throw AuthServiceError(.phoneNumberExists) }
    return (uid, tokens)
  }

  func reset(_ code: String, _ password: String) async throws {
    _ = try await engine.resetPassword(
      ResetPasswordRequest(oobCode: code, newPassword: password), context: context)
  }

  func apply(_ code: String) async throws -> UpdateResponse {
    try await engine.update(UpdateRequest(oobCode: code), context: context)
  }

  func record(_ localID: String) async throws -> UserRecord {
    try #require(try await store.read { try await $0.user("", localID) })
  }

  func emailedCode(_ type: OobRequestType, to recipient: String = "ada@example.com") throws -> String {
    try #require(sender.recordedEmails.last { $0.requestType == type && $0.recipient == recipient }).code
  }

  func textedCode(_ sessionInfo: String) throws -> String {
    try #require(sender.recordedTexts.last { $0.sessionInfo == sessionInfo }).code
  }

  /// An account with a verified address, as second factors need it.
  func verifiedAccount(_ email: String = "ada@example.com") async throws -> AuthTokens {
    let made = try await signUp(email)
    _ = try await engine.administration.updateUser(
      AdminUpdateRequest(localID: made.localID, emailVerified: true), context: .owner)
    return made.tokens
  }

  /// A token signed by a key of the project, with claims that a test has changed.
  func signed(_ claims: JWTObject) async throws -> String {
    try JWT.sign(claims, with: await engine.core.keyRing.signer())
  }
}

/// The code with which a call is refused; `nil` when it is not.
func refusal<Value>(_ call: () async throws -> Value) async -> AuthServiceError.Code? {
  do {
    _ = try await call()
    return nil
  } catch let error as AuthServiceError {
    return error.code
  } catch {
    Issue.record("threw \(error)")
    return nil
  }
}

/// Runs a call many times at once and returns the results.
func atOnce<Value: Sendable>(
  _ count: Int, _ call: @escaping @Sendable (Int) async throws -> Value
) async -> [Result<Value, any Error>] {
  await withTaskGroup(of: Result<Value, any Error>.self) { group in
    for index in 0..<count {
      group.addTask {
        do {
          return .success(try await call(index))
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

extension Result {
  var value: Success? { try? get() }
}

/// Counts from 1.
final class Counter: Sendable {
  private let value = Locked(0)
  func next() -> Int {
    value.withLock { value in
      value += 1
      return value
    }
  }
}

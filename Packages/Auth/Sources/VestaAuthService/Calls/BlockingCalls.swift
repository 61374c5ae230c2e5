import VestaAuthBackend
import VestaBytes
import VestaCryptoInterop
import VestaEngineInterop
import VestaServiceInterop
import VestaStoreInterop

/// The answers of blocking functions that a sign-in has so far, and what it has asked with.
///
/// A function is asked by a request, and no transaction waits for one. So a sign-in is rehearsed: its transaction ends
/// with a ``BlockingPause`` where it needs an answer, and nothing of it is kept. The function is asked, and the sign-in
/// is made again, with the answer.
///
/// | transaction | ends with |
/// |---|---|
/// | first | the pause for `beforeCreate` |
/// | second | the pause for `beforeSignIn`, of the account as `beforeCreate` has changed it |
/// | third | the account and its session |
///
/// An account that has changed between two of them is asked about again.
///
/// A sign-up that `beforeSignIn` refuses leaves no account, as in production, which keeps an account only when its
/// first sign-in has succeeded (firebase-functions issue 1409). The Emulator Suite keeps it.
struct BlockingAnswers: Sendable {
  /// The id of the account that would be created, which is the same in each rehearsal.
  var localID: String?
  fileprivate var answers: [BlockingEvent: (user: UserRecord, answer: BlockingAnswer)] = [:]
  var signInMethod: String?

  /// The answer for an account as it would be kept.
  fileprivate func answer(_ event: BlockingEvent, about user: UserRecord) -> BlockingAnswer? {
    guard let known = answers[event], known.user.isSame(as: user) else { return nil }
    return known.answer
  }
}

/// Ends a rehearsal: a blocking function has to be asked.
struct BlockingPause: Error {
  let event: BlockingEvent
  let url: String
  let user: UserRecord
  /// Whether the account is a new one.
  let isNew: Bool
  let tenantID: String?
  let method: String
  let secondFactor: String?
  let settings: BlockingFunctionSettings
}

extension UserRecord {
  /// Whether two rehearsals speak of the same account: times and the random epoch of a new one differ.
  fileprivate func isSame(as other: UserRecord) -> Bool {
    var (left, right) = (self, other)
    for path in [\UserRecord.createdAt, \.epoch, \.sessionCount] { left[keyPath: path] = right[keyPath: path] }
    (left.lastLoginAt, left.lastRefreshAt) = (right.lastLoginAt, right.lastRefreshAt)
    (left.passwordUpdatedAt, left.validSince) = (right.passwordUpdatedAt, right.validSince)
    left.passwordHash = right.passwordHash
    return left == right
  }

  /// Changes what a function has changed.
  fileprivate mutating func apply(_ answer: BlockingAnswer) throws {
    if let name = answer.displayName { displayName = name.isEmpty ? nil : name }
    if let url = answer.photoURL { photoURL = url.isEmpty ? nil : url }
    if let flag = answer.disabled { disabled = flag }
    if let flag = answer.emailVerified { emailVerified = flag }
    if let claims = answer.customClaims {
      let text = String(decoding: try claims.json(), as: UTF8.self)
      try Checks.customClaims(text)
      customAttributes = text
    }
  }
}

extension AuthWriteCall {
  /// Has the blocking functions of the project decide about a sign-in.
  ///
  /// - Parameters:
  ///   - user: The account as it would be kept; changed as the functions say.
  ///   - old: The account as it is kept; `nil` for a new one.
  ///   - provider: How the user signs in.
  ///   - isSignIn: Whether a session is opened; otherwise a second factor follows, and is asked about then.
  ///   - secondFactor: The second factor that was used.
  /// - Returns: The claims of the session.
  /// - Throws: ``BlockingPause`` where a function has to be asked first.
  func askBlockingFunctions(
    _ user: inout UserRecord, replacing old: UserRecord?, provider: String, isSignIn: Bool = true,
    secondFactor: String? = nil
  ) async throws -> String? {
    let settings = scope.config.blockingFunctions
    guard core.options.blockingFunctions != nil, settings != BlockingFunctionSettings() else { return nil }
    let method = answers.signInMethod ?? provider
    func ask(_ event: BlockingEvent) throws -> BlockingAnswer? {
      guard let url = settings.url(of: event) else { return nil }
      if let answer = answers.answer(event, about: user) { return answer }
      throw BlockingPause(
        event: event, url: url, user: user, isNew: old == nil, tenantID: scope.tenantID, method: method,
        secondFactor: secondFactor,
        settings: settings)
    }
    if old == nil, let answer = try ask(.beforeCreate) { try user.apply(answer) }
    guard isSignIn, !user.disabled, let answer = try ask(.beforeSignIn) else { return nil }
    try user.apply(answer)
    return try answer.sessionClaims.map { claims in
      let text = String(decoding: try claims.json(), as: UTF8.self)
      try Checks.customClaims(text)
      return text
    }
  }
}

extension AuthOperation {
  /// Writes with the answers of blocking functions, which are asked between rehearsals.
  ///
  /// - Parameters:
  ///   - method: How the user signs in, where functions know it by another name than tokens do.
  ///   - identity: What an identity provider says of the user, and the credential that says it.
  ///   - body: The write.
  func writeAsking<Value: Sendable>(
    for proof: Proof? = nil, method: String? = nil, identity: (said: IdpAssertion, credential: IdpCredential)? = nil,
    _ body: @escaping @Sendable (AuthWriteCall) async throws -> Value
  ) async throws -> Value {
    var answers = BlockingAnswers()
    answers.signInMethod = method
    for _ in 0..<options.tuning.blockingRehearsals {
      do {
        return try await write(for: proof, answers: answers, body)
      } catch let pause as BlockingPause {
        if pause.isNew { answers.localID = pause.user.localID }
        answers.answers[pause.event] = (pause.user, try await ask(pause, identity?.said, identity?.credential))
      }
    }
    throw AuthServiceError(.aborted, "The account has changed while blocking functions were asked.")
  }

  private func ask(
    _ pause: BlockingPause, _ said: IdpAssertion?, _ credential: IdpCredential?
  ) async throws -> BlockingAnswer {
    guard let functions = options.blockingFunctions else { return BlockingAnswer() }
    var shown = credential
    if !pause.settings.forwardsAccessTokens {
      shown?.accessToken = nil
      shown?.oauthTokenSecret = nil
    }
    if !pause.settings.forwardsIDTokens { shown?.idToken = nil }
    return try await functions.answer(
      to: BlockingQuestion(
        event: pause.event, url: pause.url, project: projectID, user: pause.user.view(tenantID: pause.tenantID),
        signInMethod: pause.method, secondFactor: pause.secondFactor, credential: shown,
        rawUserInfo: said?.rawUserInfo, signInAttributes: said?.attributes,
        credentialLifetime: said?.expiry.map { max(0, $0 - nowSeconds) }, clientAddress: context.clientAddress,
        locale: context.locale))
  }
}

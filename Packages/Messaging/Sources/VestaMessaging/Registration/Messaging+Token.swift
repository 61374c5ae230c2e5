import Foundation
public import VestaConcurrency
import VestaCore
import VestaMessagingBackend
import VestaServiceInterop

extension Messaging {
  /// The registration token, if the app is registered.
  ///
  /// If it is not, one is asked for in the background, while ``isAutoInitEnabled``.
  public var fcmToken: String? {
    let token = fcmTokenIfKnown
    if token == nil, isAutoInitEnabled { registerInBackground() }
    return token
  }

  /// The registration token: registers the app if it is not, and confirms a token that is older than a week.
  ///
  /// - Returns: The token.
  /// - Throws: ``MessagingError``. An existing registration stays.
  public func token() async throws -> String {
    if let token = fcmTokenIfKnown, !isTokenStale { return token }
    return try await renewToken()
  }

  /// Deletes the registration token: the app receives nothing until it asks for another one.
  ///
  /// - Throws: ``MessagingError`` when the service could not be reached; the token is deleted here all the same.
  public func deleteToken() async throws {
    try checkAppIsThere()
    try await perform { messaging in
      guard let token = messaging.forgetToken() else { return }
      try await messaging.unregister(token)
    }
  }

  /// The registration token for messages of another sender.
  ///
  /// - Parameter senderID: The sender; it must not be empty.
  /// - Throws: ``MessagingError``.
  public func retrieveFCMToken(forSenderID senderID: String) async throws -> String {
    guard !senderID.isEmpty else { throw MessagingError(.invalidRequest, "Sender ID is required.") }
    if senderID == self.senderID { return try await token() }
    try checkAppIsThere()
    return try await perform { messaging in
      let known = messaging.state.withLock { $0.stored.otherTokens[senderID] }
      do throws(MessagingServiceError) {
        let request = messaging.request(senderID: senderID, currentToken: known)
        let token = try await messaging.backend.register(request, context: messaging.context)
        messaging.change { $0.otherTokens[senderID] = token }
        return token
      } catch {
        throw MessagingError(error)
      }
    }
  }

  /// Deletes the registration token for another sender.
  ///
  /// - Parameter senderID: The sender; it must not be empty.
  /// - Throws: ``MessagingError`` when the service could not be reached; the token is deleted here all the same.
  public func deleteFCMToken(forSenderID senderID: String) async throws {
    guard !senderID.isEmpty else { throw MessagingError(.invalidRequest, "Sender ID is required.") }
    if senderID == self.senderID { return try await deleteToken() }
    try checkAppIsThere()
    try await perform { messaging in
      guard let token = messaging.state.withLock({ $0.stored.otherTokens[senderID] }) else { return }
      messaging.change { $0.otherTokens[senderID] = nil }
      try await messaging.unregister(token)
    }
  }

  /// Deletes all tokens; a new one is made only while ``isAutoInitEnabled``.
  ///
  /// - Throws: ``MessagingError`` when the service could not be reached; the tokens are deleted here all the same.
  public func deleteData() async throws {
    try checkAppIsThere()
    try await perform { messaging in
      let tokens = messaging.state.withLock { [$0.stored.token].compactMap { $0 } + $0.stored.otherTokens.values }
      _ = messaging.forgetToken()
      messaging.change { $0.otherTokens = [:] }
      var failure: (any Error)?
      for token in tokens {
        do {
          try await messaging.unregister(token)
        } catch {
          failure = error
        }
      }
      if let failure { throw failure }
    }
    if isAutoInitEnabled { registerInBackground() }
  }

  /// Registers by the id of the installation: not supported, see ``isInstallationIdEnabled``.
  ///
  /// - Throws: ``MessagingError`` with `invalidRequest`. Use ``token()``.
  public func register() async throws { throw Self.noInstallationID }

  /// Ends a registration by the id of the installation: not supported, see ``isInstallationIdEnabled``.
  ///
  /// - Throws: ``MessagingError`` with `invalidRequest`. Use ``deleteToken()``.
  public func unregister() async throws { throw Self.noInstallationID }

  private static let noInstallationID = MessagingError(
    .invalidRequest,
    "FirebaseMessagingInstallationIdEnabled is not set to YES, so FID operations are not supported. Use token().")

  /// The token now, and each new one.
  ///
  /// Nothing is dropped. The listener is removed when the loop is left, its task is cancelled or the stream is dropped.
  /// The stream ends with the app.
  public var tokenUpdates: AsyncStream<String> {
    .events { sink in
      tokens.add(onEnd: { sink.finish() }) { token in if let token { sink.send(token) } }
    }
  }

  /// Adds a listener that receives each new token.
  ///
  /// - Parameter listener: Called with the current token first, then with each new one; `nil` while there is none.
  /// - Returns: Removes the listener on `cancel()`.
  public func addFCMTokenListener(_ listener: @escaping @Sendable (String?) -> Void) -> ListenerRegistration {
    tokens.add(listener)
  }

  // MARK: One request

  var fcmTokenIfKnown: String? { tokens.read { $0 } }

  var context: CallContext { CallContext().limited(to: tuning.callTimeout, by: clock) }

  /// A token is confirmed once a week, and when the app or its language has changed.
  var isTokenStale: Bool {
    let (time, context) = state.withLock { ($0.stored.tokenTime, $0.stored.context) }
    let age = clock.now() - time
    return context != tokenContext || age < 0 || age > tuning.tokenAge.microseconds
  }

  private var tokenContext: String {
    let version = Bundle.main.infoDictionary?["CFBundleShortVersionString"] as? String ?? ""
    return "\(appID) \(version) \(Locale.current.identifier)"
  }

  /// Performs an operation to its end, one at a time.
  ///
  /// A caller whose task is cancelled is not kept waiting, whatever the service does; what has begun is not left half
  /// done.
  private func perform<Value: Sendable>(
    _ body: @escaping @Sendable (Messaging) async throws -> Value
  ) async throws -> Value {
    try await Turn<Value>().wait { turn in
      Task {
        let outcome: Result<Value, any Error>
        do {
          outcome = .success(try await operations.run { try await body(self) })
        } catch {
          outcome = .failure(error)
        }
        turn.begin()?.resume(with: outcome)
      }
    }
  }

  private func unregister(_ token: String) async throws {
    do throws(MessagingServiceError) {
      try await backend.unregister(token: token, context: context)
    } catch {
      throw MessagingError(error)
    }
  }

  /// Asks the service for the token; requests at the same time are one request.
  func renewToken() async throws -> String {
    try checkAppIsThere()
    do {
      return try await flight.value(for: senderID) {
        try await self.operations.run { try await self.loadToken() }
      }
    } catch let error as MessagingServiceError {
      throw MessagingError(error)
    } catch {
      throw error
    }
  }

  private func loadToken() async throws -> String {
    let known = fcmTokenIfKnown
    let token = try await backend.register(request(senderID: nil, currentToken: known), context: context)
    try checkAppIsThere()
    let context = tokenContext
    change { stored in
      (stored.token, stored.tokenTime, stored.context) = (token, clock.now(), context)
    }
    publish(token)
    workOnTopics()
    return token
  }

  private func request(senderID: String?, currentToken: String?) -> RegisterRequest {
    RegisterRequest(
      installationID: installationID(), senderID: senderID, platform: VestaApp.systemName, appID: appID,
      currentToken: currentToken)
  }

  /// Makes a token the current one, and notifies listeners and delegate if it is another one.
  private func publish(_ token: String?) {
    let isNew = tokens.change { current, announce in
      guard current != token else { return false }
      current = token
      announce(token)
      return true
    }
    delivery.setToken(token)
    guard isNew else { return }
    notifyDelegate(token)
    callbackQueue.async { NotificationCenter.default.post(name: .MessagingRegistrationTokenRefreshed, object: token) }
  }

  func notifyDelegate(_ token: String?) {
    callbackQueue.async { [self] in
      let delegate = state.withLock { $0.delegate }
      delegate.object?.messaging(self, didReceiveRegistrationToken: token)
    }
  }

  func notifyDropped(_ count: Int) {
    callbackQueue.async { [self] in
      let delegate = state.withLock { $0.delegate }
      delegate.object?.messaging(self, didDropMessages: count)
      NotificationCenter.default.post(name: .MessagingMessagesDeleted, object: count)
    }
  }

  private func forgetToken() -> String? {
    let token = fcmTokenIfKnown
    // A registration that waits for the service would undo this.
    state.withLock { $0.wantsRegistration = false }
    change { $0.token = nil }
    publish(nil)
    return token
  }
}

extension MessagingError {
  /// An error of the service in terms of this API.
  init(_ error: MessagingServiceError) {
    let code: Code =
      switch error.code {
      case .invalidArgument, .failedPrecondition, .outOfRange: .invalidRequest
      case .unauthenticated: .authentication
      case .permissionDenied: .noAccess
      case .deadlineExceeded: .timeout
      case .unavailable: .network
      case .aborted: .operationInProgress
      default: .unknown
      }
    self.init(code, error.message)
  }
}

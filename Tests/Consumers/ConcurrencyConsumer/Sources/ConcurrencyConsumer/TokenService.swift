import VestaConcurrency

struct Token: Sendable, Equatable {
  let text: String
  let isValid: Bool
}

/// Hands out access tokens; loads one when there is none that is valid, and only one however many ask.
final class TokenService: Sendable {
  private let token = Locked<Token?>(nil)
  private let flights = SingleFlight<String, Token>()
  private let listeners = ListenerRegistry<Token>()
  private let load: @Sendable () async throws -> Token

  init(load: @escaping @Sendable () async throws -> Token) { self.load = load }

  /// The tokens that are loaded from now on.
  var tokenChanges: AsyncStream<Token> { listeners.events }

  var listenerCount: Int { listeners.count }

  func retrieveToken() async throws -> Token {
    if let token = validToken { return token }
    return try await flights.value(for: "token") { [self] in
      // Another flight may have landed between the look at the token and the start of this one.
      if let token = validToken { return token }
      let fresh = try await load()
      token.withLock { $0 = fresh }
      listeners.emit(fresh)
      return fresh
    }
  }

  private var validToken: Token? {
    token.withLock { $0.flatMap { $0.isValid ? $0 : nil } }
  }

  func invalidate() { token.withLock { $0 = nil } }
}

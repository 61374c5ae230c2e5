import VestaAuthBackend
public import VestaAuthInterop
public import VestaConcurrency

/// Auth as other products see it.
extension Auth: AuthInterop {
  /// The ID token of the current user.
  ///
  /// - Parameter forcingRefresh: Whether to fetch a new token even though the current one is still valid.
  /// - Returns: The token; `nil` when no user is signed in.
  /// - Throws: `AuthInteropError`; `CancellationError` when the task was cancelled.
  public func getToken(forcingRefresh: Bool) async throws -> String? {
    do {
      return try await tokenOfCurrentUser(forcingRefresh: forcingRefresh)
    } catch let error as CancellationError {
      throw error
    } catch {
      throw AuthInteropError(error)
    }
  }

  /// The id of the current user; `nil` when no user is signed in.
  public func getUserID() -> String? { currentUser?.uid }

  /// Adds a listener that is called with the current state first, then with each new user and each new token.
  ///
  /// - Parameter listener: Is called on a queue of Auth's that serves nothing else.
  /// - Returns: Removes the listener on `cancel()`.
  public func addTokenListener(_ listener: @escaping @Sendable (AuthTokenChange) -> Void) -> ListenerRegistration {
    let receiver = QueuedReceiver(queue: interopQueue, receive: listener)
    let registration = AuthActor.sync {
      receiver.post(AuthTokenChange(to: currentUserIfReadable()))
      return tokenChanges.add(
        onEnd: { _ in receiver.end() },
        // The registry is notified on the work queue only, so the user's token is the one of this change.
        { user in receiver.post(AuthActor.assumeIsolated { AuthTokenChange(to: user) }) }
      )
    }
    return ListenerRegistration {
      receiver.silence()
      registration.cancel()
    }
  }

  @AuthActor
  private func tokenOfCurrentUser(forcingRefresh: Bool) async throws -> String? {
    while let asked = currentUserIfReadable() {
      let tokens: TokenSet
      do {
        tokens = try await asked.currentTokens(forcingRefresh: forcingRefresh)
      } catch  where asked !== user && user != nil {
        continue
      }
      // Another user may have signed in since, whose token it is not.
      if asked === user { return tokens.idToken }
    }
    return nil
  }
}

extension AuthTokenChange {
  /// The change to a user, or to none.
  @AuthActor
  fileprivate init(to user: User?) {
    self = user.map { AuthTokenChange(userID: $0.uid, token: $0.tokens.idToken) } ?? .signedOut
  }
}

extension AuthInteropError {
  /// The error of a token that could not be fetched.
  fileprivate init(_ error: any Error) {
    let cause = (error as? AuthError)?.underlying as? AuthServiceError
    if cause?.endsSession == true {
      self.init(.userRejected, "The backend does not accept the user any more.", underlying: error)
    } else if cause?.isTransient == true {
      self.init(.unavailable, "The token could not be refreshed; try again later.", underlying: error)
    } else {
      self.init(.unknown, "The token could not be refreshed.", underlying: error)
    }
  }
}

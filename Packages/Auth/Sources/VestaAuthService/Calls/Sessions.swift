import VestaAuthBackend
import VestaBytes
import VestaCryptoInterop
import VestaStoreInterop

/// A session that has been opened in a transaction; its ID token is signed afterwards.
struct Grant: Sendable {
  var user: UserRecord
  var tenantID: String?
  var facts: SessionFacts
  var refreshToken: String
  /// The ID token, if it is being signed already.
  var signing: Task<String, any Error>?
}

/// The outcome of a first factor.
enum FirstFactorOutcome: Sendable {
  case session(Grant)
  case pending(PendingSecondFactor)
  /// A blocking function has disabled the account, which is kept so.
  case refused(AuthServiceError)
}

extension AuthWriteCall {
  /// The sessions, as far as this call opens them.
  var sessions: SessionBook { SessionBook(call: self) }
}

extension AuthOperation {
  /// The tokens of a session.
  func tokens(_ grant: Grant) async throws -> AuthTokens {
    guard let signing = grant.signing else {
      return AuthTokens(
        idToken: try await core.idToken(grant), refreshToken: grant.refreshToken,
        expiresIn: options.idTokenLifetime.seconds)
    }
    return AuthTokens(
      idToken: try await signing.value, refreshToken: grant.refreshToken, expiresIn: options.idTokenLifetime.seconds,
      account: grant.user.view(tenantID: grant.tenantID))
  }

  /// The outcome of a first factor, for the response.
  func outcome(_ first: FirstFactorOutcome) async throws -> SignInOutcome {
    switch first {
    case .session(let grant): .signedIn(try await tokens(grant))
    case .pending(let pending): .secondFactorRequired(pending)
    case .refused(let error): throw error
    }
  }
}

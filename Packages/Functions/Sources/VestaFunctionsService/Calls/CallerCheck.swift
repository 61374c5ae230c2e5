import VestaAuthInterop
import VestaBytes
import VestaConcurrency
import VestaFunctionsBackend
import VestaServiceInterop

/// Verifies the caller that a context names.
///
/// An ID token is valid when the app's own Auth has issued it in this process: the service and the client share it. A
/// server in front of the service verifies tokens itself and passes a verified user.
final class CallerCheck: Sendable {
  private let auth: (any AuthInterop)?
  private let verifyAppCheckToken: (@Sendable (String) async throws -> String)?
  /// The last tokens that Auth has issued, newest last: a call may carry the one before a refresh.
  private let issued = Locked<[String]>([])
  private let listening = Locked<ListenerRegistration?>(nil)

  init(auth: (any AuthInterop)?, verifyAppCheckToken: (@Sendable (String) async throws -> String)?) {
    self.auth = auth
    self.verifyAppCheckToken = verifyAppCheckToken
    let registration = auth?.addTokenListener { [weak self] change in
      if let token = change.token { self?.note(token) }
    }
    listening.withLock { $0 = registration }
  }

  func close() { listening.withLock { $0.take() }?.cancel() }

  /// The user who calls; `nil` for nobody.
  ///
  /// - Parameters:
  ///   - context: The caller.
  ///   - now: The time in microseconds since 1970; a token is valid until it expires.
  /// - Throws: `unauthenticated` for a token that is not valid; `unavailable` when Auth cannot say whether it is, as
  ///   while its backend cannot be reached: the caller keeps the token and tries again.
  func user(_ context: CallContext, now: Int64) async throws(FunctionsServiceError) -> CallableRequest.Auth? {
    switch context.caller {
    case .nobody, .owner: return nil
    case .user(let user): return CallableRequest.Auth(uid: user.uid, token: user.claims)
    case .credential(let credential):
      let token = credential.token
      guard try await isIssued(token), let claims = TokenClaims.claims(of: token), let uid = TokenClaims.uid(claims),
        !TokenClaims.hasExpired(claims, now: now)
      else {
        throw FunctionsServiceError(.unauthenticated, "Unauthenticated")
      }
      return CallableRequest.Auth(uid: uid, token: claims)
    }
  }

  /// The id of the app whose App Check token the call carries; `nil` when none was verified.
  ///
  /// - Throws: When the function enforces App Check: `unauthenticated` when the token is missing or not valid, and the
  ///   error of the verification when that could not be carried out.
  func appID(_ context: CallContext, enforced: Bool) async throws(FunctionsServiceError) -> String? {
    if let verified = context.appCheck.appID { return verified }
    guard let verifyAppCheckToken else {
      guard !enforced else {
        throw FunctionsServiceError(
          .failedPrecondition,
          "The function enforces App Check. Set verifyAppCheckToken in FunctionsServiceOptions.")
      }
      return nil
    }
    var refusal = FunctionsServiceError(.unauthenticated, "Unauthenticated")
    if let token = context.appCheck.unverifiedToken {
      do {
        return try await verifyAppCheckToken(token)
      } catch let failure as FunctionsServiceError {
        refusal = failure
      } catch is CancellationError {
        refusal = FunctionsServiceError(.cancelled, "The call was cancelled.")
      } catch {}
    }
    guard !enforced else { throw refusal }
    return nil
  }

  /// Whether the app's Auth has issued a token.
  ///
  /// - Throws: An error when Auth cannot say; a user whom it rejects has no valid token.
  private func isIssued(_ token: String) async throws(FunctionsServiceError) -> Bool {
    if issued.withLock({ $0.contains(token) }) { return true }
    guard let auth else { return false }
    let current: String?
    do {
      current = try await auth.getToken(forcingRefresh: false)
    } catch AuthInteropError.Code.userRejected {
      return false
    } catch is CancellationError {
      throw FunctionsServiceError(.cancelled, "The call was cancelled.")
    } catch {
      throw FunctionsServiceError(.unavailable, "The ID token could not be verified; try again later. \(error)")
    }
    guard let current else { return false }
    note(current)
    return current == token
  }

  private func note(_ token: String) {
    issued.withLock { issued in
      guard !issued.contains(token) else { return }
      issued.append(token)
      if issued.count > 4 { issued.removeFirst() }
    }
  }
}

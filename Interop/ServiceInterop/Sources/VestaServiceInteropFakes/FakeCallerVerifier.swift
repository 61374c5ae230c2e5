public import VestaBytes
import VestaConcurrency
public import VestaServiceInterop
import VestaTesting

/// A `CallerVerifier` for tests: it accepts the tokens that it has made, until they expire.
///
/// A token is readable, as an ID token is: `fake|number|uid`. Only the table of the fake counts.
///
/// ```swift
/// let verifier = FakeCallerVerifier(clock: clock.service)
/// let credential = verifier.issue("ada", claims: ["admin": true])
/// let context = CallContext(caller: .credential(credential))
/// ```
public final class FakeCallerVerifier: CallerVerifier {
  private struct State {
    var issued: [Credential: VerifiedCaller] = [:]
    var projects: [Credential: String] = [:]
    var failure: ServiceStatus?
    var verifications = 0
  }

  private let clock: ServiceClock
  private let state = Locked(State())
  private let gate = Gate(isOpen: true)

  /// A verifier that has issued nothing.
  ///
  /// - Parameter clock: The clock by which tokens expire.
  public init(clock: ServiceClock = .system) { self.clock = clock }

  /// Makes an ID token of a user.
  ///
  /// - Parameters:
  ///   - uid: The user's id.
  ///   - claims: The claims of the token.
  ///   - project: The project of the token.
  ///   - lifetime: The time for which it is valid.
  /// - Returns: The credential that a caller sends.
  public func issue(
    _ uid: String, claims: JSONObject = JSONObject(), project: String? = nil, lifetime: Duration = .seconds(3600)
  ) -> Credential {
    let now = clock.now()
    let expiry = now + lifetime.microseconds
    let user = VerifiedUser(uid: uid, claims: claims, project: project, authenticationTime: now, expiry: expiry)
    return state.withLock { state in
      let credential = Credential.idToken("fake|\(state.issued.count)|\(uid)")
      state.issued[credential] = VerifiedCaller(.user(user), expiry: expiry)
      state.projects[credential] = project
      return credential
    }
  }

  /// Accepts a bearer token of an owner; its answer holds for one call.
  ///
  /// - Parameters:
  ///   - owner: The owner.
  ///   - token: The token.
  public func accept(_ owner: Owner, token: String) {
    state.withLock { $0.issued[.bearer(token)] = VerifiedCaller(.owner(owner)) }
  }

  /// Has all verifications fail; `nil` ends that.
  ///
  /// - Parameter failure: The failure.
  public func fail(_ failure: ServiceStatus?) { state.withLock { $0.failure = failure } }

  /// Holds verifications back, or lets them pass.
  public func hold(_ isHeld: Bool) { if isHeld { gate.close() } else { gate.open() } }

  /// The number of verifications.
  public var verifications: Int { state.withLock { $0.verifications } }

  /// Verifies a credential.
  public func verify(_ credential: Credential, project: String?) async throws(ServiceStatus) -> VerifiedCaller {
    state.withLock { $0.verifications += 1 }
    do { try await gate.pass() } catch { throw ServiceStatus(.cancelled, "The call was cancelled.") }
    let (answer, own, failure) = state.withLock { ($0.issued[credential], $0.projects[credential], $0.failure) }
    if let failure { throw failure }
    guard let answer, clock.now() < answer.expiry ?? .max else { throw .unauthenticated }
    if let own, let project, own != project { throw .unauthenticated }
    return answer
  }
}

/// An `AppCheckVerifier` for tests: it accepts one token for each app.
public struct FakeAppCheckVerifier: AppCheckVerifier {
  private let apps: [String: String]
  private let consumed = Locked<Set<String>>([])

  /// A verifier.
  ///
  /// - Parameter apps: The ids of apps, by token.
  public init(_ apps: [String: String]) { self.apps = apps }

  /// Verifies a token.
  public func verify(
    appCheckToken token: String, project: String?
  ) async throws(ServiceStatus) -> (appID: String, tokenID: String?) {
    guard let app = apps[token] else { throw .unauthenticated }
    return (app, "id-of-\(token)")
  }

  /// Consumes a token.
  public func consume(appCheckToken token: String, project: String?) async throws(ServiceStatus) -> Bool {
    guard apps[token] != nil else { throw .unauthenticated }
    return !consumed.withLock { $0.insert(token).inserted }
  }
}

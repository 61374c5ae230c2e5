public import VestaAuthBackend
public import VestaConcurrency
public import VestaServiceInterop

/// A backend that does as the test says: small accounts in memory, errors and delays on request, every call recorded.
///
/// ```swift
/// let backend = ScriptedAuthBackend()
/// backend.addAccount("ada@example.com", password: "secret1")
/// backend.fail("lookup", with: .unavailable)
/// ```
///
/// Calls are named by the methods of `AuthBackend`. Its tokens are no proof of anything.
public final class ScriptedAuthBackend: AuthBackend {
  /// An account of the script.
  public struct Account: Sendable {
    /// The account as a look-up shows it.
    public var user: AuthUser
    /// The password; `nil` for none.
    public var password: String?
  }

  /// A call that has arrived.
  public struct Call: Sendable {
    /// The method of `AuthBackend`, such as "signUp".
    public let name: String
    /// The request.
    public let request: any AuthMessage
    /// The context.
    public let context: CallContext
    /// The answer of the closure of ``ScriptedAuthBackend/init(observing:)`` when the call arrived.
    public let observed: Bool
  }

  /// The state that a test sets; all of it may be changed at any time.
  public struct State: Sendable {
    /// The accounts, by their ids.
    public var accounts: [String: Account] = [:]
    /// The purpose of each code by e-mail, by the code.
    public var codes: [String: ResetPasswordResponse] = [:]
    /// The response to every sign-in with a provider, instead of what the accounts say.
    public var idpResponse: IdpSignInResponse?
    /// Whether another account has every phone number that is linked.
    public var phoneInUse = false
    /// For how many seconds ID tokens are valid.
    public var lifetime: Int64 = 3600
    /// Whether responses with tokens include their account.
    public var tellsAccounts = false
    /// Whether a refresh answers with the token of before, as within the same second.
    public var repeatsTokens = false

    var calls: [Call] = []
    var errors: [String: AuthServiceError] = [:]
    var held: Set<String> = []
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    var lastNumber = 0
    var pending: [String: String] = [:]
    var owners: [String: String] = [:]
    var arrivals: [(name: String, count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  /// The state that a test sets.
  public let state = Locked(State())

  private let observe: @Sendable () -> Bool

  /// A backend without accounts.
  ///
  /// - Parameter observe: Is asked at each call, on whatever thread it arrives; a test of threads reads the answers in
  ///   ``Call/observed``.
  public init(observing observe: @escaping @Sendable () -> Bool = { false }) { self.observe = observe }

  // MARK: The script

  /// Makes a call fail from now on; `nil` ends that.
  public func fail(_ name: String, with code: AuthServiceError.Code?) {
    state.withLock { $0.errors[name] = code.map { AuthServiceError($0) } }
  }

  /// Whether a call has been made to fail.
  public var isFailing: Bool { state.withLock { !$0.errors.isEmpty } }

  /// Makes a call wait until it is released.
  public func hold(_ name: String) { state.withLock { _ = $0.held.insert(name) } }

  /// Lets the calls that wait continue, and later ones pass.
  public func release(_ name: String) {
    let waiting = state.withLock { state in
      state.held.remove(name)
      defer { state.waiting = [:] }
      return state.waiting
    }
    for continuation in waiting.values { continuation.resume() }
  }

  /// Makes an account with a password, and perhaps second factors.
  ///
  /// - Returns: The id of the account.
  @discardableResult
  public func addAccount(_ email: String, password: String = "secret1", factors: [MfaEnrollment] = []) -> String {
    state.withLock { state in
      let uid = state.newID("user")
      var user = AuthUser(localID: uid, email: email, hasPassword: true, createdAt: 1_700_000_000_000)
      user.mfaInfo = factors
      user.providerUserInfo = [ProviderUserInfo(providerID: "password", rawID: email, email: email)]
      state.accounts[uid] = Account(user: user, password: password)
      return uid
    }
  }

  /// Changes an account.
  public func change(_ uid: String, _ body: (inout AuthUser) -> Void) {
    state.withLock { state in
      guard var account = state.accounts[uid] else { return }
      body(&account.user)
      state.accounts[uid] = account
    }
  }

  // MARK: Received requests

  /// Returns when a call has arrived that often.
  public func arrival(of name: String, count: Int = 1) async {
    await withCheckedContinuation { continuation in
      let hasArrived = state.withLock { state in
        if state.calls.count(where: { $0.name == name }) >= count { return true }
        state.arrivals.append((name, count, continuation))
        return false
      }
      if hasArrived { continuation.resume() }
    }
  }

  /// How often a call has arrived.
  public func count(of name: String) -> Int { state.withLock { $0.calls.count { $0.name == name } } }

  /// The calls that have arrived, in order.
  public var calls: [Call] { state.withLock { $0.calls } }

  /// The last request of a type.
  public func last<Request: AuthMessage>(_ type: Request.Type) -> Request? {
    calls.reversed().lazy.compactMap { $0.request as? Request }.first
  }

  // MARK: Serving

  func serve<Response>(
    _ name: String, _ request: some AuthMessage, _ context: CallContext,
    _ body: @Sendable (inout State) throws(AuthServiceError) -> Response
  ) async throws(AuthServiceError) -> Response {
    let call = Call(name: name, request: request, context: context, observed: observe())
    let (mustWait, arrived) = state.withLock { state in
      state.calls.append(call)
      let count = state.calls.count { $0.name == name }
      let arrived = state.arrivals.filter { $0.name == name && $0.count <= count }.map(\.continuation)
      state.arrivals.removeAll { $0.name == name && $0.count <= count }
      return (state.held.contains(name), arrived)
    }
    for continuation in arrived { continuation.resume() }
    if mustWait { await wait(for: name) }
    if Task.isCancelled { throw AuthServiceError(.cancelled) }
    return try state.withLock { state throws(AuthServiceError) in
      if let error = state.errors[name] { throw error }
      return try body(&state)
    }
  }

  private func wait(for name: String) async {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let goesOn = state.withLock { state in
          if Task.isCancelled || !state.held.contains(name) { return true }
          state.waiting[number] = continuation
          return false
        }
        if goesOn { continuation.resume() }
      }
    } onCancel: {
      let continuation = state.withLock { $0.waiting.removeValue(forKey: number) }
      continuation?.resume()
    }
  }
}

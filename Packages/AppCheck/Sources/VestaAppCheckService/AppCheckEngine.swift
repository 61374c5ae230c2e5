public import VestaAppCheckBackend
import VestaAppCheckTokens
public import VestaBytes
import VestaCore
public import VestaCryptoInterop
import VestaEngineInterop
public import VestaServiceInterop
public import VestaStoreInterop

/// The service of App Check on any ordered store.
///
/// Tokens are signed by a key of the project's own, which the store keeps; the store also has the digests of secrets
/// for development, and the ids of consumed tokens until those would have ended.
///
/// ```swift
/// let engine = AppCheckEngine(projectID: "demo", projectNumber: "1", crypto: crypto) { try await openStore() }
/// let token = try await engine.exchange(.debug(secret), appID: "1:2:web:3", context: CallContext())
/// ```
public final class AppCheckEngine: AppCheckBackend, AppCheckVerifier {
  private let options: AppCheckServiceOptions
  private let crypto: any CryptoProvider
  private let frame: EngineFrame<AppCheckServiceError>
  private let rules: AppCheckTokenRules
  private let ring: AppCheckKeyRing

  /// An engine; nothing is opened yet.
  ///
  /// - Parameters:
  ///   - projectID: The id of the project.
  ///   - projectNumber: Its number.
  ///   - crypto: Makes keys, signs and verifies.
  ///   - options: The settings of the service.
  ///   - callers: The check of who calls; one that refuses every credential unless given.
  ///   - openStore: Opens the store, at the first call; called again at the next one when it throws.
  public init(
    projectID: String, projectNumber: String, crypto: any CryptoProvider,
    options: AppCheckServiceOptions = AppCheckServiceOptions(), callers: CallerCheck = CallerCheck(),
    openStore: @escaping @Sendable () async throws -> any OrderedStore
  ) {
    self.options = options
    self.crypto = crypto
    rules = AppCheckTokenRules(projectID: projectID, projectNumber: projectNumber, lifetime: options.tokenLifetime)
    let frame = EngineFrame<AppCheckServiceError>(
      "App Check", clock: options.clock, callers: callers, openStore: openStore
    ) { log.error("I-ACS000001", "A call failed unexpectedly: \($0)") }
    self.frame = frame
    ring = AppCheckKeyRing(crypto: crypto, options: options) { try await frame.store() }
  }

  /// Closes the store; every later call fails with `UNAVAILABLE`.
  ///
  /// - Throws: `StoreError` when the store could not be closed well.
  public func close() async throws { try await frame.close() }

  /// Gives a token for a proof.
  public func exchange(
    _ proof: AppCheckProof, appID: String, context: CallContext
  ) async throws(AppCheckServiceError) -> AppCheckToken {
    try await frame.serve(context) { [self] _ in
      guard AppCheckTokenRules.isAppID(appID) else {
        throw AppCheckServiceError(.invalidArgument, "\"\(appID.prefix(100))\" is no id of an app.")
      }
      let now = frame.clock.now()
      guard try await holds(proof, appID, now) else {
        throw AppCheckServiceError(.permissionDenied, "App attestation failed: the proof does not hold for the app.")
      }
      let id = Base64.url.encode(try crypto.randomBytes(count: 16))
      let key = try await ring.signer(now: now)
      return AppCheckToken(
        text: try JWT.sign(rules.claims(appID: appID, tokenID: id, now: now), with: key),
        lifetime: options.tokenLifetime)
    }
  }

  /// The keys that verify tokens.
  public func keys(context: CallContext) async throws(AppCheckServiceError) -> JSONObject {
    try await frame.serve(context) { [self] _ in
      let keys = try await ring.verifiers(now: frame.clock.now()).map { key -> JSONValue in
        var object = try JSONObject(json: try key.jsonWebKey().json())
        object["use"] = "sig"
        object["alg"] = "RS256"
        return .object(object)
      }
      return ["keys": .array(keys)]
    }
  }

  /// Verifies a token, and consumes it where asked to.
  public func verify(
    token: String, consumes: Bool, context: CallContext
  ) async throws(AppCheckServiceError) -> VerifiedAppCheckToken {
    try await frame.serve(context) { [self] _ in
      let claims = try await claims(of: token)
      var verified = VerifiedAppCheckToken(appID: claims.appID, tokenID: claims.tokenID)
      guard consumes else { return verified }
      let (now, limit) = (frame.clock.now(), options.tuning.sweptTokens)
      verified.isAlreadyConsumed = try await frame.write { transaction in
        try await ConsumedTokens(transaction: transaction).consume(claims.tokenID, end: claims.end, now, limit)
      }
      return verified
    }
  }

  /// Verifies the token of a call, for the other services.
  public func verify(
    appCheckToken token: String, project: String?
  ) async throws(ServiceStatus) -> (appID: String, tokenID: String?) {
    guard project == nil || project == rules.projectID else { throw .unauthenticated }
    do {
      let verified = try await verify(token: token, consumes: false, context: CallContext())
      return (verified.appID, verified.tokenID)
    } catch {
      throw error.status
    }
  }

  /// Consumes the token of a call, for the other services.
  public func consume(appCheckToken token: String, project: String?) async throws(ServiceStatus) -> Bool {
    guard project == nil || project == rules.projectID else { throw .unauthenticated }
    do {
      return try await verify(token: token, consumes: true, context: CallContext()).isAlreadyConsumed
    } catch {
      throw error.status
    }
  }

  /// Makes a secret for development.
  public func addDebugSecret(
    _ secret: String, appID: String, context: CallContext
  ) async throws(AppCheckServiceError) {
    try await change(secret, appID, context) { try await $0.put([], for: $1) }
  }

  /// Removes a secret for development.
  public func removeDebugSecret(
    _ secret: String, appID: String, context: CallContext
  ) async throws(AppCheckServiceError) {
    try await change(secret, appID, context) { try await $0.delete($1) }
  }

  // MARK: Parts

  private func change(
    _ secret: String, _ appID: String, _ context: CallContext,
    _ change: @escaping @Sendable (any StoreTransaction, [UInt8]) async throws -> Void
  ) async throws(AppCheckServiceError) {
    try await frame.serve(context) { [frame] context in
      guard context.isOwner else {
        throw AppCheckServiceError(.permissionDenied, "Secrets for development are made by the owner.")
      }
      guard secret.utf8.count == 36, AppCheckTokenRules.isAppID(appID) else {
        throw AppCheckServiceError(.invalidArgument, "A secret for development is a UUID of 36 characters, of an app.")
      }
      try await frame.write { try await change($0, AppCheckKeys.debug(appID, secret)) }
    }
  }

  private func holds(_ proof: AppCheckProof, _ appID: String, _ now: Int64) async throws -> Bool {
    switch proof {
    case .debug(let secret):
      if options.acceptsEveryDebugSecret, secret.utf8.count == 36 { return true }
      return try await frame.store().read { try await $0.get(AppCheckKeys.debug(appID, secret)) != nil }
    case .custom(let token):
      let verifier = JWTVerifier(issuers: nil, audiences: [AppCheckTokenRules.exchange], algorithms: [.rs256])
      guard let token = try? verifier.verify(token, at: now / 1_000_000, keys: options.customKeys) else { return false }
      return token.claims["app_id"]?.string == appID
    }
  }

  private func claims(of token: String) async throws -> AppCheckTokenRules.Claims {
    let now = frame.clock.now()
    do {
      let keyID = try JWT(unverified: token).header.keyID
      return try rules.verified(token, try await ring.verifiers(now: now, for: keyID), now: now)
    } catch is CryptoError {
      throw AppCheckServiceError(.unauthenticated, "The App Check token is not valid, or not any more.")
    }
  }
}

private let log = Logger(service: "VestaAppCheckService")

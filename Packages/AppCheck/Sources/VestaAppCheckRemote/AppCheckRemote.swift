public import VestaAppCheckBackend
import VestaAppCheckTokens
import VestaAppCheckWire
public import VestaBytes
public import VestaCryptoInterop
public import VestaServiceInterop
public import VestaTransportInterop

/// The service of App Check on another machine: a server, an emulator, or Firebase.
///
/// - Each call is one request, as Firebase's SDKs and Admin SDKs send it. Nothing is kept and nothing is repeated here.
/// - A token is verified here, by the keys that the service publishes, as Admin SDKs do it: the service has no call for
///   that. It takes a crypto provider. Consuming a token is a call of the service afterwards.
/// - Firebase names secrets for development by ids that it makes, and returns no secret: one cannot be removed there by
///   its text, and the call says so.
///
/// ```swift
/// let service = try RESTService(client, at: "https://vesta.example", options: RESTOptions(apiKey: "key"))
/// let remote = AppCheckRemote(project: "demo", number: "7", on: service, crypto: crypto)
/// let token = try await remote.exchange(.debug(secret), appID: "1:7:ios:3", context: CallContext())
/// ```
public final class AppCheckRemote: AppCheckBackend {
  private let project: String
  private let rules: AppCheckTokenRules
  private let crypto: (any CryptoProvider)?
  private let options: AppCheckRemoteOptions
  private let clock: ServiceClock
  private let rest: RESTChannel<AppCheckServiceError>

  /// A service on another machine; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - project: The id of the project.
  ///   - number: Its number, which its tokens name.
  ///   - service: The server.
  ///   - crypto: Verifies signatures; without one tokens are exchanged and not verified.
  ///   - options: The settings.
  public init(
    project: String, number: String, on service: RESTService, crypto: (any CryptoProvider)? = nil,
    options: AppCheckRemoteOptions = AppCheckRemoteOptions()
  ) {
    self.project = project
    self.crypto = crypto
    self.options = options
    rules = AppCheckTokenRules(projectID: project, projectNumber: number)
    clock = service.clock
    rest = RESTChannel(service)
  }

  /// Exchanges a proof for a token.
  public func exchange(
    _ proof: AppCheckProof, appID: String, context: CallContext
  ) async throws(AppCheckServiceError) -> AppCheckToken {
    let kind: AppCheckRoute.ProofKind = if case .debug = proof { .debug } else { .custom }
    let call = call(.exchange(kind, appID: appID), AppCheckWire.body(of: proof), hasToken: true)
    return try await rest.call(call, context: context) { try AppCheckWire.token($0.body) }
  }

  /// The keys that verify tokens.
  public func keys(context: CallContext) async throws(AppCheckServiceError) -> JSONObject {
    let route = AppCheckRoute(project: options.hasKeysOfProjects ? project : nil, .keys)
    return try await rest.call(RESTCall(HTTPMethod(route.method), route.target), context: context) {
      try JSONObject(json: $0.body)
    }
  }

  /// Verifies a token by the keys of the service, and has the service consume it where asked to.
  ///
  /// - Throws: `failedPrecondition` without a crypto provider.
  public func verify(
    token: String, consumes: Bool, context: CallContext
  ) async throws(AppCheckServiceError) -> VerifiedAppCheckToken {
    let claims = try claims(of: token, try await keys(context: context))
    var verified = VerifiedAppCheckToken(appID: claims.appID, tokenID: claims.tokenID)
    guard consumes else { return verified }
    // A token that is consumed twice by one caller would count as used up the second time.
    let call = call(.consume, AppCheckWire.body(consuming: token), isRepeatable: false, hasToken: true)
    verified.isAlreadyConsumed = try await rest.call(call, context: context) {
      try AppCheckWire.isAlreadyConsumed($0.body)
    }
    return verified
  }

  /// Makes a secret for development.
  public func addDebugSecret(
    _ secret: String, appID: String, context: CallContext
  ) async throws(AppCheckServiceError) {
    let body = AppCheckWire.body(ofSecret: secret, displayName: options.secretName)
    // Firebase makes another entry of the same secret.
    let call = call(.addDebugSecret(appID: appID), body, isRepeatable: options.namesSecrets, hasToken: true)
    try await rest.call(call, context: context) { _ in }
  }

  /// Removes a secret for development.
  ///
  /// - Throws: `unimplemented` at Firebase, which names secrets otherwise.
  public func removeDebugSecret(
    _ secret: String, appID: String, context: CallContext
  ) async throws(AppCheckServiceError) {
    guard options.namesSecrets else {
      throw AppCheckServiceError(
        .unimplemented, "Firebase removes a secret by the id that it has made for it: use its console.")
    }
    let call = call(.removeDebugSecret(appID: appID, secret: secret), [], hasToken: true)
    try await rest.call(call, context: context) { _ in }
  }

  private func call(
    _ call: AppCheckRoute.Call, _ body: [UInt8], isRepeatable: Bool = true, hasToken: Bool
  ) -> RESTCall {
    let route = AppCheckRoute(project: project, call)
    var request = RESTCall(HTTPMethod(route.method), route.target, body: body, isRepeatable: isRepeatable)
    request.hasToken = hasToken
    return request
  }

  private func claims(of token: String, _ keys: JSONObject) throws(AppCheckServiceError) -> AppCheckTokenRules.Claims {
    guard let crypto else {
      throw AppCheckServiceError(
        .failedPrecondition, "Tokens are verified with CryptoLibrary of VestaCrypto (Packages/Crypto) in the list.")
    }
    let verifiers: [any VerificationKey]
    do {
      let set = try JSONWebKeySet(json: try keys.json())
      verifiers = try set.keys.map { key in try crypto.verificationKey(jsonWebKey: key) }
    } catch {
      throw AppCheckServiceError(.internal, "The keys of the service cannot be read: \(error)")
    }
    do {
      return try rules.verified(token, verifiers, now: clock.now())
    } catch {
      throw AppCheckServiceError(.unauthenticated, "The App Check token is not valid, or no longer.")
    }
  }
}

/// The settings of an ``AppCheckRemote``; an app brings its own by a component that provides them.
public struct AppCheckRemoteOptions: Sendable {
  /// Whether the service has the keys of each project at an address of the project; at Firebase all have the same ones.
  public var hasKeysOfProjects = true

  /// Whether secrets for development are named by themselves.
  public var namesSecrets = true

  /// The name that is shown for secrets for development.
  public var secretName = "Vesta"

  /// The settings for `vesta`.
  public init() {}

  /// The settings for Firebase.
  public static var firebase: AppCheckRemoteOptions {
    var options = AppCheckRemoteOptions()
    (options.hasKeysOfProjects, options.namesSecrets) = (false, false)
    return options
  }
}

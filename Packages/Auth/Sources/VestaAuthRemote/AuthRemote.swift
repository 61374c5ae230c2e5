public import VestaAuthBackend
import VestaAuthWire
public import VestaServiceInterop
public import VestaTransportInterop

/// The identity service on another machine: a server, an emulator, or Firebase.
///
/// - Each call is one request, as Firebase's SDKs and its administration's API send it, but for the calls of an owner
///   that return an account: the service answers with its id, and the account is read afterwards.
/// - ID tokens, refresh tokens and passwords travel in bodies; the API key in a field. None of them is sent in clear
///   text to another machine, unless `RESTOptions` allow it.
/// - Nothing is kept and nothing is repeated here. A call that must not happen twice, such as a sign-up or a code by
///   e-mail, fails with `DEADLINE_EXCEEDED` when the connection is lost after it was sent.
/// - The API key chooses the project of a client's call; the server's own project where the key says nothing, as at
///   `vesta` and the emulators. The calls of an owner name the project.
///
/// ```swift
/// let service = try RESTService(client, at: "http://localhost:9099", options: RESTOptions(apiKey: "key"))
/// let remote = AuthRemote(project: "demo", on: service)
/// let made = try await remote.signUp(SignUpRequest(), context: CallContext())
/// ```
///
/// To read on: `AuthRemoteCaller.swift` for what all calls have in common, `AuthRemote+SignIn.swift`,
/// `AuthRemoteAdministration.swift`.
public final class AuthRemote: AuthBackend {
  let caller: AuthRemoteCaller

  /// The calls of administrators on the same accounts.
  public let administration: AuthRemoteAdministration

  /// A service on another machine; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - project: The id of the project, for the calls of owners.
  ///   - service: The server.
  ///   - options: The settings.
  public init(project: String, on service: RESTService, options: AuthRemoteOptions = AuthRemoteOptions()) {
    caller = AuthRemoteCaller(project: project, on: service, options: options)
    administration = AuthRemoteAdministration(caller)
  }

  // MARK: Tokens

  /// Gives a new ID token for a refresh token.
  ///
  /// The exchange has no member for a tenant: a refresh token names its own.
  public func refresh(
    _ request: RefreshRequest, context: CallContext
  ) async throws(AuthServiceError) -> RefreshResponse {
    try await caller.refresh(request, context)
  }

  /// The keys with which ID tokens can be verified.
  public func publicKeys(context: CallContext) async throws(AuthServiceError) -> PublicKeysResponse {
    try await caller.published("service_accounts/v1/jwk", context) { PublicKeysResponse(jwks: $0, maximumAge: $1) }
  }

  /// The same keys as certificates.
  public func certificates(context: CallContext) async throws(AuthServiceError) -> CertificatesResponse {
    try await caller.published("robot/v1/metadata/x509", context) {
      try CertificatesWire.response(json: $0, maximumAge: $1)
    }
  }
}

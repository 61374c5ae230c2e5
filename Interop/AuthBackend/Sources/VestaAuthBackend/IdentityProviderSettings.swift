public import VestaServiceInterop

/// The identity providers of a project and of each of its tenants, as owners set them up.
///
/// - Every call is for an owner; another caller is refused with `PERMISSION_DENIED`. The tenant of the context chooses
///   whose providers a call is about; a tenant never sees the providers of the project or of another tenant.
/// - A sign-in with a provider's credential is verified by the provider's settings: its ID token has the issuer, and
///   one of the client ids as audience. A provider that is not enabled refuses all sign-ins, also in development.
/// - Settings in the code of a program (`AuthServiceOptions.identityProviders` of the embedded service) take
///   precedence.
/// - Left out: sign-in by a SAML response, which needs XML signatures; the exchange of codes with the client secret,
///   which clients or a server make; and certificates with which the service signs SAML requests.
public protocol IdentityProviderSettings: Sendable {
  /// Adds a provider.
  ///
  /// Checks: `INVALID_CONFIG` for an id that is malformed or exists, and for absent settings that its kind needs: the
  /// client id and the issuer of OpenID Connect; the entity ids, the URLs and a certificate of SAML.
  func createProvider(
    _ provider: IdentityProvider, context: CallContext
  ) async throws(AuthServiceError) -> IdentityProvider

  /// A provider.
  ///
  /// Checks: `CONFIGURATION_NOT_FOUND`.
  func provider(id: String, context: CallContext) async throws(AuthServiceError) -> IdentityProvider

  /// Changes some properties of a provider in one step: two changes of different properties never undo one another.
  ///
  /// Checks: `CONFIGURATION_NOT_FOUND`, `INVALID_CONFIG` as ``createProvider(_:context:)``.
  ///
  /// - Returns: The provider after the change.
  func updateProvider(
    _ change: IdentityProviderChange, context: CallContext
  ) async throws(AuthServiceError) -> IdentityProvider

  /// Removes a provider; accounts that are linked to it stay linked.
  ///
  /// Checks: `CONFIGURATION_NOT_FOUND`.
  func deleteProvider(id: String, context: CallContext) async throws(AuthServiceError)

  /// The providers of one kind page by page.
  func listProviders(
    _ request: ListProvidersRequest, context: CallContext
  ) async throws(AuthServiceError) -> ListProvidersResponse
}

/// Fetches the keys of the issuers of identity providers; a server provides it as a component.
///
/// The engine asks outside of its transactions and for each sign-in: an implementation caches keys for as long as the
/// issuer allows.
public protocol IdentityProviderKeySource: Sendable {
  /// The keys of an issuer, as a JSON Web Key Set.
  ///
  /// - Parameter issuer: The issuer, such as `https://accounts.google.com`.
  /// - Throws: `UNAVAILABLE` when the issuer does not answer; `INVALID_IDP_RESPONSE` for a malformed answer.
  func keys(of issuer: String) async throws(AuthServiceError) -> [UInt8]
}

public import VestaAuthBackend
public import VestaServiceInterop

// The hashing of passwords and the identity providers; continues the calls of administrators.

extension AuthAdministration {
  /// How new passwords are hashed: STANDARD_SCRYPT on the wire, unless the options have another scheme.
  public func passwordHashing(context: CallContext) async throws(AuthServiceError) -> ImportHash {
    try await administer(context, as: AdminOperation.self) { ImportHash($0.options.passwordScheme) }
  }

  /// The identity providers of the project and of its tenants.
  public var identityProviders: any IdentityProviderSettings { KeptIdentityProviders(administration: self) }
}

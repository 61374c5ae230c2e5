import VestaAuthBackend
import VestaCryptoInterop
import VestaEngineInterop
import VestaServiceInterop
import VestaStoreInterop

/// One call of the service, outside of any transaction: it verifies tokens and hashes passwords before, and signs
/// tokens and sends messages after.
///
/// Each family of calls is a type (``SignInOperation``, ``FactorOperation``, ``PasskeyOperation``, ``CodeOperation``,
/// ``AccountOperation``, ``AdminOperation``), whose methods are the calls of `AuthEngine` or `AuthAdministration`, one
/// for each; families do not call one another. The part within a transaction is a method of ``AuthReadCall`` or
/// ``AuthWriteCall``, which are made here and carry the scope and the time.
///
/// Example: `lookup` of ``AccountOperation`` verifies the ID token (`proof`), reads the account in an `AuthReadCall`
/// whose scope is the tenant of the token, and returns what the account looks like.
protocol AuthOperation: Sendable {
  var core: AuthCore { get }
  var context: CallContext { get }

  init(core: AuthCore, context: CallContext)
}

/// Signing up and in: passwords, links, custom tokens, identity providers, phones.
struct SignInOperation: AuthOperation {
  let core: AuthCore
  var context: CallContext
}

/// Second factors: enrolling them, and signing in with one.
struct FactorOperation: AuthOperation {
  let core: AuthCore
  let context: CallContext
}

/// Passkeys: adding them, and signing in with one.
struct PasskeyOperation: AuthOperation {
  let core: AuthCore
  let context: CallContext
}

/// Codes in e-mails, and what they are for.
struct CodeOperation: AuthOperation {
  let core: AuthCore
  let context: CallContext
}

/// The account of a token, its sessions, and the public facts about the project.
struct AccountOperation: AuthOperation {
  let core: AuthCore
  let context: CallContext
}

/// A call for owners of the project; `AuthAdministration` has refused all others.
struct AdminOperation: AuthOperation {
  let core: AuthCore
  let context: CallContext
}

extension AuthOperation {
  var options: AuthServiceOptions { core.options }
  var crypto: any CryptoProvider { core.crypto }
  var keyRing: KeyRing { core.keyRing }
  var projectID: String { core.projectID }
  var now: Int64 { options.now() }
  var nowSeconds: Int64 { options.now() / 1000 }

  // MARK: Transactions

  /// Reads in the tenant of the context, or in that of a token.
  ///
  /// - Parameters:
  ///   - proof: The token of the caller, whose tenant counts.
  ///   - checksDisabled: Whether a project or tenant that is disabled is refused.
  ///   - body: The read.
  func read<Value>(
    for proof: Proof? = nil, checksDisabled: Bool = true, _ body: (AuthReadCall) async throws -> Value
  ) async throws -> Value {
    try await core.read(expecting: Scope.keys(TenantKey(proof?.tenantID ?? context.tenantID))) { reader in
      let scope = try await self.scope(proof, checksDisabled, in: reader)
      return try await body(AuthReadCall(core: core, scope: scope, now: now, reader: reader))
    }
  }

  /// Writes in the tenant of the context, or in that of a token; `body` may run again after a conflict.
  func write<Value: Sendable>(
    for proof: Proof? = nil, checksDisabled: Bool = true, answers: BlockingAnswers = BlockingAnswers(),
    _ body: @escaping @Sendable (AuthWriteCall) async throws -> Value
  ) async throws -> Value {
    try await core.write { transaction in
      let scope = try await self.scope(proof, checksDisabled, in: transaction)
      if scope.isNamedAlone { try await transaction.put(TenantRecord(), Keys.tenant(scope.tenant)) }
      return try await body(
        AuthWriteCall(
          core: core, cause: EventCause(context), scope: scope, now: now, transaction: transaction,
          answers: answers))
    }
  }

  /// Writes where a refusal, too, changes the store: a used code stays used.
  func writeKeeping<Value: Sendable>(
    for proof: Proof? = nil, _ body: @escaping @Sendable (AuthWriteCall) async throws -> Result<Value, AuthServiceError>
  ) async throws -> Value {
    try await write(for: proof, body).get()
  }

  private func scope(_ proof: Proof?, _ checksDisabled: Bool, in reader: any StoreReader) async throws -> Scope {
    let scope = try await Scope.read(
      TenantKey(proof?.tenantID ?? context.tenantID), initial: options.initialConfig,
      takesNames: options.isDevelopment, in: reader)
    if checksDisabled, scope.signIn.isDisabled { throw AuthServiceError(.projectDisabled) }
    return scope
  }

  // MARK: Passwords

  /// Hashes a password the way that new ones are hashed; never inside a transaction.
  func hashPassword(_ password: String) async throws -> String {
    try await core.hashing.run(for: context.clientAddress) {
      try await crypto.hashPassword(password, scheme: options.passwordScheme, signerKey: nil).text
    }
  }

  /// Hashes a password that may be absent.
  func hashPassword(_ password: String?) async throws -> String? {
    guard let password else { return nil }
    return try await hashPassword(password) as String
  }
}

import VestaCore
import VestaEngineInterop
public import VestaInstallationsBackend
public import VestaServiceInterop
public import VestaStoreInterop

/// The service of installations on any ordered store.
///
/// An installation is one row: the digest of its secret, its app, and the digests of its newest tokens. The secret that
/// a client has is in no row, so a copy of the store is not enough to act as an installation.
///
/// ```swift
/// let engine = InstallationsEngine { try await provider.openStore(…) }
/// let made = try await engine.create(CreateInstallationRequest(appID: "1:2:web:3"), context: CallContext())
/// let known = try await engine.verify(token: made.token.text, context: CallContext())
/// ```
public final class InstallationsEngine: InstallationsBackend, InstallationsVerifier {
  private let options: InstallationsServiceOptions
  private let frame: EngineFrame<InstallationsServiceError>

  /// An engine; nothing is opened yet.
  ///
  /// - Parameters:
  ///   - options: The settings of the service.
  ///   - callers: The check of who calls; one that refuses every credential unless given.
  ///   - openStore: Opens the store, at the first call; called again at the next one when it throws.
  public init(
    options: InstallationsServiceOptions = InstallationsServiceOptions(), callers: CallerCheck = CallerCheck(),
    openStore: @escaping @Sendable () async throws -> any OrderedStore
  ) {
    self.options = options
    frame = EngineFrame("Installations", clock: options.clock, callers: callers, openStore: openStore) {
      log.error("I-INS000001", "A call failed unexpectedly: \($0)")
    }
  }

  /// Closes the store; every later call fails with `UNAVAILABLE`.
  ///
  /// - Throws: `StoreError` when the store could not be closed well.
  public func close() async throws { try await frame.close() }

  /// Creates an installation.
  public func create(
    _ request: CreateInstallationRequest, context: CallContext
  ) async throws(InstallationsServiceError) -> CreatedInstallation {
    try await serve(context) { try await $0.create(request) }
  }

  /// Makes a token of an installation.
  public func generateToken(
    id: String, refreshToken: String, context: CallContext
  ) async throws(InstallationsServiceError) -> InstallationToken {
    try await serve(context) { try await $0.generateToken(id: id, secret: refreshToken) }
  }

  /// Deletes an installation and its tokens.
  public func delete(
    id: String, refreshToken: String, context: CallContext
  ) async throws(InstallationsServiceError) {
    try await serve(context) { try await $0.delete(id: id, secret: refreshToken) }
  }

  /// The installation that a token belongs to.
  public func verify(
    token: String, context: CallContext
  ) async throws(InstallationsServiceError) -> VerifiedInstallation {
    let now = frame.clock.now()
    return try await frame.serve(context) { [frame] _ in
      try await frame.store().read { try await InstallationRows(reader: $0).owner(of: token, now: now) }
    }
  }

  /// Runs a call in one transaction.
  private func serve<Value: Sendable>(
    _ context: CallContext, _ call: @escaping @Sendable (InstallationsCall) async throws -> Value
  ) async throws(InstallationsServiceError) -> Value {
    let (options, now) = (options, frame.clock.now())
    return try await frame.serve(context) { [frame] _ in
      try await frame.write { try await call(InstallationsCall(transaction: $0, options: options, now: now)) }
    }
  }
}

private let log = Logger(service: "VestaInstallationsService")

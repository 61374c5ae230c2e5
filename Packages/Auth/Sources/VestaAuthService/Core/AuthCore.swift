import VestaAuthBackend
import VestaConcurrency
import VestaCore
import VestaCryptoInterop
import VestaEngineInterop
import VestaEventsInterop
import VestaServiceInterop
import VestaStoreInterop

/// The things that all calls of the service share: the options, the store in its frame, the keys, the limits on
/// guessing, and messages that are being sent.
///
/// ``AuthEngine`` and ``AuthAdministration`` run each of their calls in `serve`, as an ``AuthOperation`` that carries
/// this core.
final class AuthCore: Sendable {
  let projectID: String
  let options: AuthServiceOptions
  let crypto: any CryptoProvider
  let secrets: Secrets
  let sender: any CodeSender
  let outbox = Outbox()
  let frame: EngineFrame<AuthServiceError>
  /// The verifier of who calls: this service's own, which the other services of the project ask, too.
  let callers: CachedCallerVerifier
  let keyRing: KeyRing
  let limits: Locked<GuessLimits>
  /// The hashing of passwords, which costs the time of a core.
  let hashing: HashingQueue
  /// Whether other processes may have the store open, too; known once it is open.
  private let isShared = Locked(false)

  /// A core; nothing is opened yet.
  ///
  /// - Parameters:
  ///   - projectID: The project.
  ///   - options: How the service behaves.
  ///   - crypto: The provider of hashes and signatures.
  ///   - verifier: Makes the verifier of who calls, which asks the core.
  ///   - openStore: Opens the store.
  init(
    projectID: String, options: AuthServiceOptions, crypto: any CryptoProvider,
    verifier: (WeakCore) -> any CallerVerifier, openStore: @escaping @Sendable () async throws -> any OrderedStore
  ) {
    self.projectID = projectID
    self.options = options
    self.crypto = crypto
    secrets = Secrets(crypto: crypto)
    sender = options.codeSender ?? RecordingCodeSender(logsSecrets: options.isDevelopment)
    // Weakly: the frame asks a verifier that asks the core.
    let own = WeakCore()
    let callers = CachedCallerVerifier(verifier(own), clock: options.clock)
    self.callers = callers
    let frame = EngineFrame<AuthServiceError>(
      "Auth", clock: options.clock, callers: CallerCheck(callers: callers), events: UserEvents.offer,
      translate: { ($0 as? CryptoError).map { .init(.internalError, "The crypto provider failed: \($0.code).") } },
      openStore: { [isShared] in
        let store = try await openStore()
        isShared.withLock { $0 = Self.isShared(store) }
        return store
      }
    ) { log.error("I-AUS000007", "A call failed unexpectedly. \($0)") }
    self.frame = frame
    keyRing = KeyRing(crypto: crypto, options: options, projectID: projectID) { try await frame.store() }
    limits = Locked(GuessLimits(options))
    hashing = HashingQueue(waiting: options.waitingHashes, perCaller: options.waitingHashesPerCaller)
    own.set(self)
  }

  /// The events of accounts that functions want.
  var events: EventOutbox { frame.events }

  // MARK: The store

  /// Whether other processes may have the store open, too, as far as it has been opened.
  var hasSharedStore: Bool { isShared.withLock { $0 } }

  /// Whether other processes may have the store open, too.
  var sharesStore: Bool { get async throws { try await Self.isShared(frame.store()) } }

  private static func isShared(_ store: any OrderedStore) -> Bool {
    (store as? any CommitObservable)?.tellsBeforeAcknowledging != true
  }

  /// Reads the store.
  ///
  /// - Parameter first: The keys that the body gets first, which a store that is reached over a network brings with the
  ///   beginning.
  func read<Value>(
    expecting first: [[UInt8]] = [], _ body: (any StoreReader) async throws -> Value
  ) async throws -> Value {
    try await frame.store().read(expecting: .keys(first), body)
  }

  /// Writes to the store; `body` may run again after a conflict.
  func write<Value: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Value
  ) async throws -> Value {
    try await frame.write(body)
  }

  /// Closes the store; every later call fails with `UNAVAILABLE`.
  func close() async throws {
    outbox.close()
    try await frame.close()
  }

  // MARK: Calls

  /// Runs a call as the frame does.
  func serve<Operation: AuthOperation, Value: Sendable>(
    _ context: CallContext, as _: Operation.Type, _ call: @escaping @Sendable (Operation) async throws -> Value
  ) async throws(AuthServiceError) -> Value {
    try await frame.serve(context) { [self] context in try await call(Operation(core: self, context: context)) }
  }
}

/// A core that is not kept alive: its frame asks a verifier that asks the core.
final class WeakCore: Sendable {
  private struct Reference: Sendable { weak var core: AuthCore? }

  private let reference = Locked(Reference())

  var core: AuthCore? { reference.withLock { $0.core } }

  func set(_ core: AuthCore) { reference.withLock { $0.core = core } }
}

private let log = Logger(service: "VestaAuthService")

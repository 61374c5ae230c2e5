public import VestaCryptoInterop
public import VestaAuthBackend
public import VestaStoreInterop
import VestaConcurrency

/// The authoritative identity service, on any ordered store and any crypto provider.
///
/// - All that it knows is in the store: a second engine on the same data, now or after a restart, goes on where this
///   one was. In memory there are only the keys, which are read again when they change, and the limits on guessing.
/// - Each call is one transaction at its core. Passwords are hashed and tokens are signed outside of it, and whatever
///   the call relied on is looked at again inside.
/// - Refresh tokens and codes are kept as their SHA-256 only: who reads the store cannot use them.
///
/// ```swift
/// let engine = AuthEngine(projectID: "demo", crypto: crypto) { try await provider.openStore(…) }
/// let account = try await engine.signUp(SignUpRequest(email: "a@b.c", password: "secret"), context: .init())
/// ```
public final class AuthEngine: AuthBackend, IdentityAdminBackend {
  let projectID: String
  let options: AuthServiceOptions
  let crypto: any CryptoProvider
  let sender: any CodeSender
  let outbox = Outbox()
  let storage: LazyResource<any OrderedStore>
  let keyRing: KeyRing
  let limits: Locked<GuessLimits>

  /// An engine; nothing is opened yet.
  ///
  /// - Parameters:
  ///   - projectID: The project, which stands in all tokens.
  ///   - options: How it behaves.
  ///   - crypto: What hashes and signs.
  ///   - openStore: Opens the store, at the first call; called again at the next one when it throws.
  public init(
    projectID: String,
    options: AuthServiceOptions = AuthServiceOptions(),
    crypto: any CryptoProvider,
    openStore: @escaping @Sendable () async throws -> any OrderedStore
  ) {
    self.projectID = projectID
    self.options = options
    self.crypto = crypto
    sender = options.codeSender ?? RecordingCodeSender(logsSecrets: options.isDevelopment)
    storage = LazyResource(
      whenClosed: StoreError(
        .closed, operation: "open", message: "The identity service has been shut down with its app."),
      open: openStore, close: { try await $0.close() })
    keyRing = KeyRing(storage: storage, crypto: crypto, options: options, projectID: projectID)
    limits = Locked(GuessLimits(options))
  }

  /// Closes the store; every later call fails with `UNAVAILABLE`.
  ///
  /// - Throws: `StoreError` when the store could not be closed well.
  public func close() async throws {
    outbox.close()
    do { try await storage.close() } catch { throw error }
  }

  // MARK: What all calls share

  var now: Int64 { options.now() }
  var nowSeconds: Int64 { options.now() / 1000 }

  /// Runs a call, and tells whatever went wrong in the seam's terms.
  func answer<Value>(_ call: () async throws -> Value) async throws(IdentityError) -> Value {
    do {
      return try await call()
    } catch {
      throw IdentityError(telling: error)
    }
  }

  func read<Value>(_ body: (any StoreReader) async throws -> Value) async throws -> Value {
    try await storage.get().read(body)
  }

  func write<Value: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Value
  ) async throws -> Value {
    try await storage.get().write(body).value
  }

  /// Writes where a refusal, too, leaves something behind: a used code stays used.
  func writeKeeping<Value: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result<Value, IdentityError>
  ) async throws -> Value {
    try await write(body).get()
  }

  /// Bytes that nobody can guess, as base64url text of the given length.
  func secret(length: Int) throws -> String {
    String(Base64.url.encode(try crypto.randomBytes(count: (length * 3 + 3) / 4)).prefix(length))
  }

  func hash(_ secret: String) throws -> [UInt8] { try crypto.digest(.sha256, of: Array(secret.utf8)) }

  /// A new account, of an id that may have had another account before.
  func newAccount(_ localID: String) throws -> UserRecord {
    let now = now
    var user = UserRecord(localID: localID, createdAt: now)
    user.begin(epoch: try newEpoch(), now: now)
    return user
  }

  /// A random epoch to begin with: 48 bits, which JSON numbers carry exactly, with room to count on.
  func newEpoch() throws -> Int64 { try crypto.randomBytes(count: 6).reduce(Int64(0)) { $0 << 8 | Int64($1) } }

  /// A new user id: 28 letters and digits.
  func newLocalID() throws -> String { try identifier(length: 28) }

  func identifier(length: Int) throws -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    var text: [UInt8] = []
    while text.count < length {
      // Bytes from 248 on are dropped: with them some letters would come more often than others.
      for byte in try crypto.randomBytes(count: length) where byte < 248 && text.count < length {
        text.append(alphabet[Int(byte) % 62])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}

extension IdentityError {
  /// Any error in the seam's terms; of a foreign one only its kind is told, as it may hold data.
  init(telling error: any Error) {
    switch error {
    case let error as IdentityError: self = error
    case is CancellationError: self.init(.cancelled)
    case let error as StoreError: self.init(error.isPassing ? .unavailable : .internalError, "\(error)")
    case let error as CryptoError: self.init(.internalError, "The crypto provider failed: \(error.code).")
    default: self.init(.internalError, "\(type(of: error))")
    }
  }
}

extension StoreError {
  /// Whether the same call may succeed later without anybody having done anything about it.
  var isPassing: Bool { [.closed, .conflict, .unknownOutcome].contains(code) }
}

/// The limits on guessing of one engine.
struct GuessLimits: Sendable {
  var accounts, addresses, recipients, digits: RateLimiter

  init(_ options: AuthServiceOptions) {
    accounts = RateLimiter(options.accountGuesses)
    addresses = RateLimiter(options.addressGuesses)
    recipients = RateLimiter(options.codesPerRecipient)
    digits = RateLimiter(options.digitGuesses)
  }
}

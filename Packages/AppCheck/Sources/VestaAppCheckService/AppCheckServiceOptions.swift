public import VestaCryptoInterop
public import VestaServiceInterop

/// The options of the embedded service of App Check.
///
/// An app brings its own by registering a component that provides them.
public struct AppCheckServiceOptions: Sendable {
  /// How long a token is valid; an hour unless set.
  public var tokenLifetime: Duration

  /// How long a key signs; 30 days unless set, and never less than a token is valid.
  public var signingKeyLifetime: Duration {
    get { max(keyLifetime, tokenLifetime) }
    set { keyLifetime = newValue }
  }

  /// The public keys with which the owner's servers sign tokens for apps.
  public var customKeys: [any VerificationKey]

  /// Whether every secret in the form of a UUID is a proof.
  ///
  /// Never enable in production.
  public var acceptsEveryDebugSecret: Bool

  /// The clock of the service.
  public var clock: ServiceClock

  var tuning = AppCheckServiceTuning()

  private var keyLifetime: Duration

  /// Options.
  public init(
    tokenLifetime: Duration = .seconds(3_600), signingKeyLifetime: Duration = .seconds(30 * 86_400),
    customKeys: [any VerificationKey] = [], acceptsEveryDebugSecret: Bool = false, clock: ServiceClock = .system
  ) {
    self.tokenLifetime = tokenLifetime
    keyLifetime = signingKeyLifetime
    self.customKeys = customKeys
    self.acceptsEveryDebugSecret = acceptsEveryDebugSecret
    self.clock = clock
  }
}

/// Every figure at which the behaviour of the engine changes; tests draw small ones.
struct AppCheckServiceTuning: Sendable, Hashable {
  /// The most consumed tokens that have ended and are forgotten with one that is consumed.
  var sweptTokens = 100
}

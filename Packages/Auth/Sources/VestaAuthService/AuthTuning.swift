/// Sizes at which the behaviour of the service changes, and that a test may want to be smaller.
struct AuthTuning: Sendable {
  /// The most accounts, or tenants, of a page.
  var page = 1_000

  /// The most accounts of a batch.
  var batch = 1_000

  /// The most accounts with a provider of one address that are looked at for its ways to sign in.
  var methods = 100

  /// The most identity providers of a project or of a tenant.
  var identityProviders = 200

  /// The number of rows for the guesses at addresses without account.
  var guessSlots: Int64 = 1_024

  /// How often a sign-in is made anew for the answers of blocking functions: twice, and as the account changes.
  var blockingRehearsals = 6

  /// How many expired tickets a new one takes away.
  var sweptTickets = 8

  /// How many rows of limits are looked at when some are taken away.
  var sweptLimits = 32
}

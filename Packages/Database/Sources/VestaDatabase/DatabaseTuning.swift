import VestaConcurrency

/// The figures of a client at which its behaviour changes; tests make them small.
struct DatabaseTuning: Sendable, Hashable {
  /// The most changes of what the device keeps that share a commit.
  var deviceGroup = 512

  /// The most changes of cached data that wait for a device that takes none; with more, the cache is written anew.
  var deviceBacklog = 1_000

  /// The pauses after which changes that the device did not take are tried again.
  var deviceRetry = Retry(initial: .seconds(1), factor: 2, cap: .seconds(8))

  /// After how many updates of the service the limits of the cached data are applied.
  var updatesPerPruning = 1_000

  /// The most queries without listeners whose data is kept on the device.
  var inactiveQueries = 1_000

  /// The wait before the second attempt to connect, in seconds.
  var firstReconnectDelay = 1.0

  /// The longest wait between two attempts to connect, in seconds.
  var longestReconnectDelay = 30.0

  /// The factor by which the wait between attempts to connect grows.
  var reconnectFactor = 1.3

  /// How long a good connection lasts: after its end the next attempt is made at once.
  var goodConnection = Duration.seconds(30)

  /// How long a connection may take to open.
  var openingTime = Duration.seconds(30)

  /// How often a transaction is sent before it fails.
  var transactionAttempts = 25

  /// The most callbacks that are called before other work of the callback queue has its turn.
  var callsOfABatch = 256

  /// How long a database that could not be opened is left alone after a call that wants it.
  var reopeningTime = Duration.seconds(1)

  /// The size above which a listen says the hashes of ranges, in estimated bytes.
  var rangesFrom = 1_024

  /// The least length of the ranges, in characters.
  var shortestRange = 512

  /// The figures of a program.
  init() {}
}

import VestaConcurrency
import VestaServiceInterop

/// Every figure at which the service's behaviour changes, in addition to ``MessagingServiceOptions``; tests draw
/// small ones.
struct MessagingServiceTuning: Sendable {
  /// The number of messages without one for a registration after which its cursor is moved all the same.
  var longestGap: Int64 = 1_000

  /// The number of acknowledged messages for many after which the cursor of a registration is moved.
  var longestTrail = 256

  /// The most messages that are dispatched by one read.
  var longestPage = 256

  /// The most messages whose rows are read together where it is decided which ones wait.
  var readBatch = 256

  /// The most dropped messages to topics that are counted at a time.
  var longestCount = 100_000

  /// The most immediate messages (time to live 0) that are kept for a connection that does not keep up.
  var maximumInstants = 100

  /// The most threads that call receivers of connections, and how long connections wait for one before another starts.
  var deliveryThreads = 256
  var deliveryPatience: Duration = .milliseconds(1)

  /// The most topics of one registration: each connection reads all of them.
  ///
  /// As many that it has left may be kept, while messages to them wait.
  var maximumTopics: Int64 = 2_000

  /// The most subscriptions to one topic that are kept for messages that wait, while the registration subscribes and
  /// unsubscribes.
  var longestHistory = 16

  /// The number of rows that one step of sweeping looks at.
  var sweepBatch = 256

  /// The most messages that wait in memory for the transports; the others wait in the store.
  var maximumPushes = 10_000

  /// The most of them for one service of a platform.
  var maximumPushesOfService = 5_000

  /// The number of messages that are handed over at the same time: to all services, and to one.
  var pushLanes = 512
  var pushLanesOfService = 16

  /// The number of them for services that have not accepted a message lately, all together, and the number of services
  /// of which it is known that they have.
  var pushLanesOfNewServices = 256
  var knownPushServices = 1_024

  /// The number of rows of the messages for transports that one transaction changes.
  var pushBatch = 256

  /// How long a message for a transport belongs to the engine that has taken it; another one takes it then.
  var pushClaim: Duration = .seconds(120)

  /// The longest time between two scans for messages that other engines have left.
  var pushScanInterval: Duration = .seconds(60)

  /// The most messages for transports that one transaction scans; most of them may be for other engines.
  var longestPushScan = 4_096

  /// The longest pause of a message for a platform that no transport of this engine reaches; it begins with
  /// ``pushClaim`` and doubles.
  var longestPushLeave: Duration = .seconds(3_600)

  /// The pause of messages for a service that has as many as it may have, or after a failure of the store.
  var pushPause: Duration = .seconds(5)

  /// The pauses after failures of a transport, and the number of attempts.
  var pushRetry = Retry(initial: .seconds(10), cap: .seconds(3_600), jitter: .between(0.75, 1.25), attempts: 32)

  /// The longest pause that a transport may ask for.
  var longestRetryAfter: Duration = .seconds(86_400)

  /// The most messages of an acknowledgement, of `sendEach`, and of a page of the outbox; the most tokens of a call.
  var maximumAcknowledged = 1_000
  var maximumMessages = 500
  var maximumPage = 1_000
  var maximumTokens = 1_000

  /// The most bytes of a sender, a platform and an app id, and of an address for a transport.
  var longestName = 200
  var longestAddress = 4_096

  /// The time after which deliveries are written down without an acknowledgement.
  var countDelay: Duration = .seconds(1)

  /// The shortest time between two times of sweeping, and how long the notes of a change of topics are kept.
  var sweepPause: Duration = .seconds(60)

  /// The pause after which messages are dispatched that could not be read.
  var dispatchPause: Duration = .seconds(1)
}

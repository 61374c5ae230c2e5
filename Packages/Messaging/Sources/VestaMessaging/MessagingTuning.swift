import VestaConcurrency
import VestaServiceInterop

/// Every figure at which the client's behaviour changes; tests draw small ones.
struct MessagingTuning: Sendable {
  /// The number of acknowledged messages that are recognised when they are delivered again.
  var rememberedMessages = 10_000

  /// The most messages of one acknowledgement; the service takes up to 1,000.
  var acknowledgementBatch = 500

  /// The pause after the first failure of a connection or an acknowledgement; it doubles with each further one.
  var firstPause: Duration = .seconds(1)

  /// The longest pause between two attempts.
  var longestPause: Duration = .seconds(60)

  /// The pause before changes of topics are sent again that the service could not be asked for.
  var topicPause: Duration = .seconds(30)

  /// The number of changes of topics that are answered whose lines may always stay in the file.
  var answeredTopicLines = 256

  /// The shortest time between two registrations because the service did not know the token.
  var refusalPause: Duration = .seconds(3_600)

  /// The age from which a token is confirmed.
  var tokenAge: Duration = .seconds(7 * 86_400)

  /// The longest duration of one call of the service.
  var callTimeout: Duration = .seconds(60)

  /// The pauses between attempts.
  var retry: Retry { Retry(initial: firstPause, factor: 2, cap: longestPause) }

  /// The rules of the connection: every end of it is followed by a pause, but for one that another connection of the
  /// registration has ended, and for a token that the service does not know.
  var link: LinkPolicy { LinkPolicy(retry: retry, permanent: [.aborted, .notFound], refreshesCredential: false) }
}

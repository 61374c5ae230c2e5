/// The figures at which the server's behavior changes; tests set small ones.
struct ServerTuning: Sendable, Hashable {
  /// The most methods of gRPC whose product is remembered; beyond it all are found again.
  var knownMethods = 256

  /// The time after a signal within which another one is the same, delivered twice.
  var signalInterval = Duration.milliseconds(500)
}

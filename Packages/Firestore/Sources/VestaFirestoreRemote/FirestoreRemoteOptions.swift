/// The settings of a ``FirestoreRemote``; an app brings its own by a component that provides them.
public struct FirestoreRemoteOptions: Sendable {
  /// Whether requests of write calls carry the identifiers by which `vesta` applies them once; other services pass over
  /// them.
  public var sendsWriteIdentifiers: Bool

  /// The figures at which the behaviour changes.
  public var tuning: FirestoreRemoteTuning

  /// Settings.
  ///
  /// - Parameters:
  ///   - sendsWriteIdentifiers: Whether requests of write calls carry identifiers.
  ///   - tuning: The figures at which the behaviour changes.
  public init(sendsWriteIdentifiers: Bool = true, tuning: FirestoreRemoteTuning = FirestoreRemoteTuning()) {
    self.sendsWriteIdentifiers = sendsWriteIdentifiers
    self.tuning = tuning
  }
}

/// Every figure at which the behaviour of a ``FirestoreRemote`` changes; tests draw small ones.
public struct FirestoreRemoteTuning: Sendable, Hashable {
  /// The time for a call that reads many documents and whose context has no deadline.
  public var readTimeout: Duration

  /// The largest response, in bytes.
  public var messageBytes: Int

  /// Figures; the ones of the service's own clients unless given.
  public init(readTimeout: Duration = .seconds(300), messageBytes: Int = 17 << 20) {
    self.readTimeout = readTimeout
    self.messageBytes = messageBytes
  }
}

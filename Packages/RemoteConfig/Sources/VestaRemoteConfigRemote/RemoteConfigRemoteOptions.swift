public import VestaInstallationsBackend
public import VestaTransportInterop

/// The settings of a ``RemoteConfigRemote``; an app brings its own by a component that provides them.
public struct RemoteConfigRemoteOptions: Sendable {
  /// The address of the connection for newer templates, where it is another one, as with Firebase.
  public var realtimeOrigin: HTTPURL?

  /// The name of the project in that connection, where it is another one: Firebase wants its number.
  public var realtimeProject: String?

  /// The id of the app, such as `1:1234:ios:5678`.
  public var appID: String?

  /// Returns the id of an installation without a token.
  public var installationID: (@Sendable () -> String)?

  /// The installation, which Firebase asks for; `vesta` serves apps without one.
  public var installation: (any InstallationSource)?

  /// The identifier of the program.
  public var packageName: String?

  /// The version of the client library.
  public var sdkVersion: String?

  /// The figures at which the behaviour changes.
  public var tuning: RemoteConfigRemoteTuning

  /// Settings.
  ///
  /// - Parameter tuning: The figures at which the behaviour changes.
  public init(tuning: RemoteConfigRemoteTuning = RemoteConfigRemoteTuning()) { self.tuning = tuning }
}

/// Every figure at which the behaviour of a ``RemoteConfigRemote`` changes; tests draw small ones.
public struct RemoteConfigRemoteTuning: Sendable, Hashable {
  /// The longest time for which a connection stays open; the service ends it in order before.
  public var streamLimit: Duration

  /// The longest message of a connection, in bytes.
  public var maximumMessage: Int

  /// Figures; upstream's unless given.
  public init(streamLimit: Duration = .seconds(330), maximumMessage: Int = 4_096) {
    self.streamLimit = streamLimit
    self.maximumMessage = maximumMessage
  }
}

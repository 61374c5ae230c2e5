/// The settings of a ``StorageRemote``; an app brings its own by a component that provides them.
public struct StorageRemoteOptions: Sendable {
  /// The name and the version of this client, as `x-firebase-storage-version` has them.
  public var clientVersion: String?

  /// The number of bytes of which every part of an upload but the last one must be a multiple; `nil` for any length.
  ///
  /// The rest of a part is kept in memory until the next one, or the end, is sent.
  public var granularity: Int?

  /// The figures at which the behaviour changes.
  public var tuning: StorageRemoteTuning

  /// Settings.
  ///
  /// - Parameters:
  ///   - granularity: The number of bytes of which parts must be a multiple.
  ///   - tuning: The figures at which the behaviour changes.
  public init(granularity: Int? = nil, tuning: StorageRemoteTuning = StorageRemoteTuning()) {
    self.granularity = granularity
    self.tuning = tuning
  }

  /// The settings for Firebase, whose parts are multiples of 256 KiB.
  public static var firebase: StorageRemoteOptions { StorageRemoteOptions(granularity: 256 << 10) }
}

/// Every figure at which the behaviour of a ``StorageRemote`` changes; tests draw small ones.
public struct StorageRemoteTuning: Sendable, Hashable {
  /// The time without any byte after which a download counts as lost.
  public var silence: Duration = .seconds(60)

  /// The slowest connection on which a part of an upload is still waited for, in bytes for each second.
  public var slowestUpload = 16 << 10

  /// The time for which a call that changes something, and is cancelled, still waits for its answer.
  ///
  /// A paused upload that is resumed, or a later call of the same program, then never meets an effect of the call
  /// before.
  public var answerGrace: Duration = .seconds(10)

  /// The number of uploads whose rest is kept in memory.
  public var keptRests = 64

  /// Figures that suit real networks.
  public init() {}
}

/// The source of a value.
public enum RemoteConfigSource: Int, Sendable {
  /// The service, by way of an activation.
  case remote = 0
  /// The defaults that the app has set.
  case `default` = 1
  /// Nowhere: the empty value.
  case `static` = 2
}

/// The outcome of the last fetch.
public enum RemoteConfigFetchStatus: Int, Sendable, Codable {
  /// Nothing has been fetched.
  case noFetchYet = 0
  /// The last fetch succeeded.
  case success = 1
  /// The last fetch failed.
  case failure = 2
  /// The last fetch was throttled.
  case throttled = 3
}

/// The outcome of a fetch with activation.
public enum RemoteConfigFetchAndActivateStatus: Int, Sendable {
  /// The fetch and the activation have succeeded.
  case successFetchedFromRemote = 0
  /// The fetch has succeeded, and what was active before is still active.
  case successUsingPreFetchedData = 1
  /// The fetch has failed.
  case error = 2
}

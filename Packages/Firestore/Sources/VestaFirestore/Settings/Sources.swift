/// Where a read takes its documents from.
public enum FirestoreSource: UInt, Sendable {
  /// From the backend if it can be reached, else from the cache.
  case `default` = 0
  /// From the backend; an error if it cannot be reached.
  case server = 1
  /// From the cache alone.
  case cache = 2
}

/// Where a listener takes its documents from.
public enum ListenSource: UInt, Sendable {
  /// From the cache and the backend.
  case `default` = 0
  /// From the cache alone.
  case cache = 1
}

/// Where aggregations are computed.
public enum AggregateSource: UInt, Sendable {
  /// At the backend.
  case server = 0
}

/// The events that a listener receives.
///
/// ```swift
/// let options = SnapshotListenOptions().withSource(.cache).withIncludeMetadataChanges(true)
/// ```
public final class SnapshotListenOptions: Sendable, Hashable {
  /// The sources of documents.
  public let source: ListenSource
  /// Whether changes of metadata alone are events.
  public let includeMetadataChanges: Bool

  /// Options for the default source, without metadata changes.
  public convenience init() { self.init(source: .default, includeMetadataChanges: false) }

  private init(source: ListenSource, includeMetadataChanges: Bool) {
    self.source = source
    self.includeMetadataChanges = includeMetadataChanges
  }

  /// The options with or without events for changes of metadata alone.
  public func withIncludeMetadataChanges(_ includeMetadataChanges: Bool) -> SnapshotListenOptions {
    SnapshotListenOptions(source: source, includeMetadataChanges: includeMetadataChanges)
  }

  /// The options with another source.
  public func withSource(_ source: ListenSource) -> SnapshotListenOptions {
    SnapshotListenOptions(source: source, includeMetadataChanges: includeMetadataChanges)
  }

  /// Whether two sets of options are the same.
  public static func == (left: SnapshotListenOptions, right: SnapshotListenOptions) -> Bool {
    left.source == right.source && left.includeMetadataChanges == right.includeMetadataChanges
  }

  /// Hashes the options.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(source)
    hasher.combine(includeMetadataChanges)
  }
}

public import VestaDatabaseBackend

/// The kinds of events, in the order in which one operation raises them.
public enum SyncEventKind: Int, Sendable, Hashable, CaseIterable {
  /// A child was removed.
  case childRemoved
  /// A child is new.
  case childAdded
  /// The position of a child among the others has changed.
  case childMoved
  /// A child has changed.
  case childChanged
  /// Something has changed.
  case value
}

/// Something that a listener is notified of.
public struct SyncEvent: Sendable {
  /// The error as a string.
  public enum Content: Sendable {
    /// A change of data.
    case data(SyncEventKind, key: DatabaseKey?, node: IndexedNode, previousKey: DatabaseKey?)
    /// The listener has been removed, with the status of the service and its explanation.
    case cancelled(status: String, message: String)
  }

  /// The registration of the observer.
  public let registration: Int
  /// The path that is listened to.
  public let path: DatabasePath
  /// The query that is listened to.
  public let spec: DatabaseQuerySpec
  /// The error as a string.
  public let content: Content
}

/// A listener as the sync tree knows it.
public struct SyncRegistration: Sendable {
  /// Its number, by which its events name it.
  public let id: Int
  /// The events that it wants.
  public let kinds: Set<SyncEventKind>

  /// A listener.
  public init(id: Int, kinds: Set<SyncEventKind>) {
    self.id = id
    self.kinds = kinds
  }
}

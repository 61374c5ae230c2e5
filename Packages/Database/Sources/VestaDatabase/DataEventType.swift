import VestaDatabaseModel

/// The kinds of events that an observer can be called for.
public enum DataEventType: Int, Sendable, Hashable {
  /// A child was added, or was there already when the observer was added.
  case childAdded = 0
  /// A child was removed.
  case childRemoved = 1
  /// A child has changed.
  case childChanged = 2
  /// A child has moved among its siblings.
  case childMoved = 3
  /// The data has changed.
  case value = 4

  var kind: SyncEventKind {
    switch self {
    case .childAdded: .childAdded
    case .childRemoved: .childRemoved
    case .childChanged: .childChanged
    case .childMoved: .childMoved
    case .value: .value
    }
  }

  init(_ kind: SyncEventKind) {
    switch kind {
    case .childAdded: self = .childAdded
    case .childRemoved: self = .childRemoved
    case .childChanged: self = .childChanged
    case .childMoved: self = .childMoved
    case .value: self = .value
    }
  }
}

/// Names an observer, for removing it.
public typealias DatabaseHandle = UInt

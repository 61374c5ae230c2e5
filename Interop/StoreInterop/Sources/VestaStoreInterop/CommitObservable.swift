public import VestaConcurrency

/// A store that notifies observers of its commits.
///
/// A separate protocol, smaller than `OrderedStore`: an engine reads what has changed from its own keys, so a version
/// is all it needs.
public protocol CommitObservable: OrderedStore {
  /// Calls back after every commit.
  ///
  /// Each commit is reported once, in the order of versions, after it is durable and visible to new reads. One observer
  /// is never called twice at the same time, and not from within this call. It is called on any thread, with no
  /// lock held: an observer may call the store, but the commits after it wait for it to return, so hand work over.
  ///
  /// - Parameter observer: Takes the version of the commit.
  /// - Returns: A registration; cancel it to get no more calls. Dropping it changes nothing.
  func observeCommits(_ observer: @escaping @Sendable (StoreVersion) -> Void) -> ListenerRegistration

  /// The commits from here on as a stream, none left out; it ends when the store is closed.
  var commits: AsyncStream<StoreVersion> { get }

  /// Whether each commit of any process is reported to all observers before it is acknowledged.
  ///
  /// Then an engine may answer from memory what no commit that was reported to it has changed. So it can be in a store
  /// of one process; one that other processes write to says no, which is the default.
  var tellsBeforeAcknowledging: Bool { get }
}

extension CommitObservable {
  /// No: a commit may be acknowledged before it is reported.
  public var tellsBeforeAcknowledging: Bool { false }
}

extension OrderedStore {
  /// Whether other processes may have the store open, too.
  ///
  /// The memory and the files of an engine's process are not complete then.
  public var isShared: Bool { (self as? any CommitObservable)?.tellsBeforeAcknowledging != true }
}

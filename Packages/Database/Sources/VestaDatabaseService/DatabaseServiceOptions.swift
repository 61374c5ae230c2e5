public import VestaDatabaseBackend
public import VestaServiceInterop

/// How the embedded engine behaves.
public struct DatabaseServiceOptions: Sendable {
  /// The indexes of queries that order by a child or by value.
  public var indexes = DatabaseIndexes()

  /// The access policy.
  ///
  /// The default accepts every read and write.
  public var access: any DatabaseAccess = OpenDatabaseAccess()

  /// The guard that decides about reads and writes by the data, such as that of security rules; `nil` for none.
  ///
  /// It is asked in addition to the policy.
  public var gatekeeper: (any DatabaseGuard)?

  /// The rules of the project, whose `.indexOn` parts declare further indexes as long as they are in force; `nil` for
  /// none.
  public var rules: (any RulesAdministration)?

  /// The time, and the timer that renews leases.
  public var clock = ServiceClock.system

  /// Whether other engines have the same store; the engine asks the store unless it is set.
  public var sharing = DatabaseSharing.automatic

  /// Makes the names of sessions and of the engine, each a new one.
  public var makeSession: @Sendable () -> String = { randomSession() }

  /// The figures at which behaviour changes.
  var tuning = DatabaseServiceTuning()

  /// Options with defaults for everything.
  public init() {}
}

/// Whether an engine has its store for itself.
public enum DatabaseSharing: Sendable, Hashable {
  /// The store says it: one that other processes can write to is shared, as by ``shared(lease:)``.
  ///
  /// Stores of one process (`CommitObservable.tellsBeforeAcknowledging`) are not.
  case automatic

  /// No other engine uses the store while this one does. Operations for the end of a connection that a crash has left
  /// behind run when the database is opened.
  ///
  /// On a store that other processes can write to the database is not opened: this engine would run the operations of
  /// connections that are open in another process, and are not notified of its writes.
  case alone

  /// Other engines use the store at the same time, and all of them say so.
  ///
  /// The listens of each are notified of the others' writes: at once if the store is `CommitObservable`, otherwise
  /// after half of the lease. After a crash the operations for the end of connections run in another engine when the
  /// lease of the one that crashed is over. Leases are measured by the versions of the store, and not by the clocks of
  /// processes.
  case shared(lease: Duration = .seconds(15))
}

/// Decides who may read and write; asked before anything is read or written.
///
/// All members may be called from any thread and must not wait for the engine.
public protocol DatabaseAccess: Sendable {
  /// Whether a user may read.
  func mayRead(_ path: DatabasePath, _ spec: DatabaseQuerySpec, user: String?) -> Bool

  /// Whether a user may write; a multi-path write is checked path by path.
  func mayWrite(_ path: DatabasePath, _ node: DatabaseNode, user: String?) -> Bool
}

/// Allows everything to every caller.
///
/// Never use it where others can reach the engine.
public struct OpenDatabaseAccess: DatabaseAccess {
  /// The policy.
  public init() {}

  /// Accepts every read.
  public func mayRead(_ path: DatabasePath, _ spec: DatabaseQuerySpec, user: String?) -> Bool { true }

  /// Accepts every write.
  public func mayWrite(_ path: DatabasePath, _ node: DatabaseNode, user: String?) -> Bool { true }
}

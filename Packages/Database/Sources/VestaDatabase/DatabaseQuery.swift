import VestaConcurrency
import VestaCore
import VestaDatabaseBackend
import VestaDatabaseModel

// Sound as @unchecked Sendable: all stored properties are constants. The compiler cannot check it, as the
// class hierarchy of the Firebase SDK asks for a subclass.
/// Children of a path, in an order and within bounds; never changes.
///
/// A query that is put together wrongly, or whose path is not valid, cannot be used: observers of it are cancelled, and
/// reads and writes fail, with a sentence that says why. The log has it too.
public class DatabaseQuery: @unchecked Sendable {
  let database: Database
  let path: DatabasePath
  let terms: QueryTerms
  /// Why it cannot be used.
  let problem: String?

  init(_ database: Database, _ path: DatabasePath, _ terms: QueryTerms, problem: String?) {
    self.database = database
    self.path = path
    self.terms = terms
    self.problem = problem
    if let problem { Logs.misuse(problem) }
  }

  var spec: DatabaseQuerySpec { terms.spec }
  var repo: Repo { database.repo }

  /// The path.
  public var ref: DatabaseReference { DatabaseReference(database, path, problem: problem) }

  /// The error of every use; `nil` for a query that can be used.
  var misuse: DatabaseError? { problem.map { DatabaseError(.other, $0) } }

  func with(_ change: (inout QueryTerms) throws(InvalidValue) -> Void) -> DatabaseQuery {
    if problem != nil { return self }
    var terms = terms
    do throws(InvalidValue) {
      try change(&terms)
      return DatabaseQuery(database, path, terms, problem: nil)
    } catch {
      return DatabaseQuery(database, path, terms, problem: error.description)
    }
  }

  // MARK: Observers

  /// Adds an observer.
  ///
  /// - Parameters:
  ///   - kinds: The kinds of events it is called for.
  ///   - isOnce: Whether its first call is its last.
  ///   - event: Called with each event.
  ///   - cancel: Called when the service ends it.
  ///   - end: Called when the app is deleted.
  /// - Returns: The observer, for removing it.
  @discardableResult
  func listen(
    _ kinds: Set<SyncEventKind>, isOnce: Bool = false, event: @escaping @Sendable (RaisedEvent) -> Void,
    cancel: @escaping @Sendable (DatabaseError) -> Void, end: @escaping @Sendable () -> Void = {}
  ) -> Observer {
    let observer = Observer(
      id: HandleSource.next(), path: path, spec: spec, kinds: kinds, isOnce: isOnce, event: event, cancel: cancel,
      end: end)
    if let misuse {
      repo.perform { $0.complete { observer.cancel(misuse) } }
    } else {
      repo.table.add(observer)
      repo.perform { $0.add(observer) }
    }
    return observer
  }

  func snapshot(_ event: RaisedEvent) -> DataSnapshot {
    DataSnapshot(DatabaseReference(database, event.path), event.node)
  }

  /// Adds an observer that is called for one kind of event, and with what is known already first.
  @discardableResult
  @preconcurrency
  public func observe(
    _ eventType: DataEventType, with block: @escaping @Sendable (DataSnapshot) -> Void
  ) -> DatabaseHandle {
    observe(eventType, andPreviousSiblingKeyWith: { snapshot, _ in block(snapshot) }, withCancel: nil)
  }

  /// Adds an observer that is called for one kind of event, with the key of the sibling before the child.
  @discardableResult
  @preconcurrency
  public func observe(
    _ eventType: DataEventType,
    andPreviousSiblingKeyWith block: @escaping @Sendable (DataSnapshot, String?) -> Void
  ) -> DatabaseHandle {
    observe(eventType, andPreviousSiblingKeyWith: block, withCancel: nil)
  }

  /// Adds an observer, and what is called when the service ends it.
  @discardableResult
  @preconcurrency
  public func observe(
    _ eventType: DataEventType, with block: @escaping @Sendable (DataSnapshot) -> Void,
    withCancel cancelBlock: (@Sendable (any Error) -> Void)?
  ) -> DatabaseHandle {
    observe(eventType, andPreviousSiblingKeyWith: { snapshot, _ in block(snapshot) }, withCancel: cancelBlock)
  }

  /// Adds an observer with the key of the sibling before the child, and what is called when the service ends it.
  @discardableResult
  @preconcurrency
  public func observe(
    _ eventType: DataEventType,
    andPreviousSiblingKeyWith block: @escaping @Sendable (DataSnapshot, String?) -> Void,
    withCancel cancelBlock: (@Sendable (any Error) -> Void)?
  ) -> DatabaseHandle {
    let observer = listen(
      [eventType.kind], event: { [self] event in block(snapshot(event), event.previousKey) },
      cancel: { cancelBlock?($0) })
    return DatabaseHandle(observer.id)
  }

  /// Adds an observer for the first event only.
  @preconcurrency
  public func observeSingleEvent(
    of eventType: DataEventType, with block: @escaping @Sendable (DataSnapshot) -> Void
  ) {
    observeSingleEvent(of: eventType, andPreviousSiblingKeyWith: { snapshot, _ in block(snapshot) }, withCancel: nil)
  }

  /// Adds an observer for the first event only, with the key of the sibling before the child.
  @preconcurrency
  public func observeSingleEvent(
    of eventType: DataEventType,
    andPreviousSiblingKeyWith block: @escaping @Sendable (DataSnapshot, String?) -> Void
  ) {
    observeSingleEvent(of: eventType, andPreviousSiblingKeyWith: block, withCancel: nil)
  }

  /// Adds an observer for the first event only, and what is called when the service ends it.
  @preconcurrency
  public func observeSingleEvent(
    of eventType: DataEventType, with block: @escaping @Sendable (DataSnapshot) -> Void,
    withCancel cancelBlock: (@Sendable (any Error) -> Void)?
  ) {
    observeSingleEvent(
      of: eventType, andPreviousSiblingKeyWith: { snapshot, _ in block(snapshot) }, withCancel: cancelBlock)
  }

  /// Adds an observer for the first event only, with the sibling's key, and what is called when the service ends it.
  @preconcurrency
  public func observeSingleEvent(
    of eventType: DataEventType,
    andPreviousSiblingKeyWith block: @escaping @Sendable (DataSnapshot, String?) -> Void,
    withCancel cancelBlock: (@Sendable (any Error) -> Void)?
  ) {
    listen(
      [eventType.kind], isOnce: true, event: { [self] event in block(snapshot(event), event.previousKey) },
      cancel: { cancelBlock?($0) })
  }

  /// Waits for the first event.
  ///
  /// As in the Apple SDK it does not throw: a listen that the service refuses, and a task that is cancelled, give a
  /// snapshot of nothing.
  public func observeSingleEventAndPreviousSiblingKey(
    of eventType: DataEventType
  ) async -> (DataSnapshot, String?) {
    let nothing = (DataSnapshot(ref, IndexedNode(.empty, index: .priority)), String?.none)
    let observer = Locked<Observer?>(nil)
    let found = try? await Turn<(DataSnapshot, String?)>().wait { turn in
      let added = listen(
        [eventType.kind], isOnce: true,
        event: { [self] event in turn.begin()?.resume(returning: (snapshot(event), event.previousKey)) },
        cancel: { _ in turn.begin()?.resume(returning: nothing) },
        end: { turn.begin()?.resume(returning: nothing) })
      observer.withLock { $0 = added }
      if turn.isOver { remove(added) }
    } onCancel: { [self] _ in
      if let added = observer.withLock({ $0 }) { remove(added) }
    }
    return found ?? nothing
  }

  /// Removes an observer of this path; no call of it begins afterwards.
  public func removeObserver(withHandle handle: DatabaseHandle) {
    if let observer = repo.table.take(Int(clamping: handle), at: path, spec) { remove(observer) }
  }

  /// Ends the calls of an observer at once, and listens for it no longer.
  func remove(_ observer: Observer) {
    observer.silence()
    repo.table.forget(observer)
    repo.perform { $0.data.remove(observer) }
  }

  /// Removes all observers of this query; on a reference, the observers of all queries of the path.
  ///
  /// No call of them begins afterwards. Streams of the query finish.
  public func removeAllObservers() {
    let observers = repo.table.takeAll(at: path, spec)
    for observer in observers { observer.end() }
    repo.perform { repo in for observer in observers { repo.data.remove(observer) } }
  }

  /// Keeps the data of this query current on this device, with or without an observer.
  public func keepSynced(_ keepSynced: Bool) {
    guard path.front?.text != ".info" else {
      return log.error("I-RDB000014", "Can't keep query on .info tree synced (this already is the case).")
    }
    let query = SyncQuery(path: path, spec: spec)
    let id = HandleSource.next()
    if problem == nil { repo.perform { $0.keepSynced(query, keepSynced, id: id) } }
  }

  // MARK: Reading once

  /// Reads the data: the known data where an observer has all of it, else the service's.
  ///
  /// Without a connection, what is kept on this device, or an error.
  ///
  /// - Throws: ``DatabaseError``, ``UnknownValueError``, or `CancellationError`, at once, when the task is cancelled.
  public func getData() async throws -> DataSnapshot {
    if let misuse { throw misuse }
    let (path, spec, repo, number) = (path, spec, repo, HandleSource.next())
    let indexed = try await Turn<IndexedNode>().wait { turn in
      repo.perform { repo in
        if turn.isOver { return }
        repo.get(number, path, spec) { turn.begin()?.resume(with: $0) }
      }
    } onCancel: { _ in
      repo.perform { $0.giveUpGet(number) }
    }
    return DataSnapshot(ref, indexed)
  }
}

extension DatabaseQuery: Hashable {
  /// Whether the two ask for the same.
  public static func == (left: DatabaseQuery, right: DatabaseQuery) -> Bool {
    left.database === right.database && left.path == right.path && left.spec == right.spec
  }

  /// Feeds the parts that equality compares to a hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(path) }
}

/// Numbers for observers, each given once in the process.
enum HandleSource {
  private static let last = Locked(0)

  static func next() -> Int {
    last.withLock { last in
      last += 1
      return last
    }
  }
}

private let log = Logger(service: "VestaDatabase")

import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel

/// An observer and what it is called with.
struct RaisedEvent: Sendable {
  let kind: SyncEventKind
  let path: DatabasePath
  let node: IndexedNode
  let previousKey: String?
}

/// Something that listens: an observer of the program, or one of the library's own.
final class Observer: Sendable {
  let id: Int
  let path: DatabasePath
  let spec: DatabaseQuerySpec
  let kinds: Set<SyncEventKind>
  let isOnce: Bool
  private let handlers: Locked<Handlers?>

  private struct Handlers {
    let event: @Sendable (RaisedEvent) -> Void
    let cancel: @Sendable (DatabaseError) -> Void
    let end: @Sendable () -> Void
  }

  init(
    id: Int, path: DatabasePath, spec: DatabaseQuerySpec, kinds: Set<SyncEventKind>, isOnce: Bool,
    event: @escaping @Sendable (RaisedEvent) -> Void, cancel: @escaping @Sendable (DatabaseError) -> Void,
    end: @escaping @Sendable () -> Void = {}
  ) {
    self.id = id
    self.path = path
    self.spec = spec
    self.kinds = kinds
    self.isOnce = isOnce
    handlers = Locked(Handlers(event: event, cancel: cancel, end: end))
  }

  /// An observer that listens and receives no events.
  static func silent(_ id: Int, at path: DatabasePath, _ spec: DatabaseQuerySpec) -> Observer {
    Observer(id: id, path: path, spec: spec, kinds: [], isOnce: false, event: { _ in }, cancel: { _ in })
  }

  /// Whether it was removed, or has ended.
  var isSilent: Bool { handlers.withLock { $0 == nil } }

  /// Calls the observer, unless it has been removed.
  func raise(_ event: RaisedEvent) {
    let handlers = isOnce ? handlers.withLock { $0.take() } : handlers.withLock { $0 }
    handlers?.event(event)
  }

  /// Tells the observer that it has been ended.
  func cancel(_ error: DatabaseError) {
    let handlers = handlers.withLock { $0.take() }
    handlers?.cancel(error)
  }

  /// Ends the observer with its app: streams finish, blocks are no longer called.
  func end() {
    let handlers = handlers.withLock { $0.take() }
    handlers?.end()
  }

  /// No call begins after this one.
  func silence() {
    let handlers = handlers.withLock { $0.take() }
    withExtendedLifetime(handlers) {}
  }
}

/// The observers of the program, by their paths: removing one takes effect before the call returns.
final class ObserverTable: Sendable {
  private let observers = Locked([DatabasePath: [Int: Observer]]())

  func add(_ observer: Observer) { observers.withLock { $0[observer.path, default: [:]][observer.id] = observer } }

  func hasObservers(at path: DatabasePath) -> Bool { observers.withLock { $0[path] != nil } }

  /// Forgets an observer that has ended.
  func forget(_ observer: Observer) { _ = take(observer.id, at: observer.path, observer.spec) }

  /// Takes out an observer of a query; the default query means all queries of the path.
  func take(_ id: Int, at path: DatabasePath, _ spec: DatabaseQuerySpec) -> Observer? {
    observers.withLock { observers in
      guard let observer = observers[path]?[id], spec.isDefault || observer.spec == spec else { return nil }
      observers[path]?[id] = nil
      if observers[path]?.isEmpty == true { observers[path] = nil }
      return observer
    }
  }

  /// Takes out all observers of a query.
  func takeAll(at path: DatabasePath, _ spec: DatabaseQuerySpec) -> [Observer] {
    observers.withLock { observers in
      let taken = (observers[path] ?? [:]).values.filter { spec.isDefault || $0.spec == spec }
      for observer in taken { observers[path]?[observer.id] = nil }
      if observers[path]?.isEmpty == true { observers[path] = nil }
      return taken.sorted { $0.id < $1.id }
    }
  }
}

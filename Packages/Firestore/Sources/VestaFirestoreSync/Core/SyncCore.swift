import VestaFirestoreBackend
import VestaFirestoreModel

/// The sync core of a client: the snapshots of listeners, and the requests to the backend for them.
///
/// It has a view for each query (`ViewTable`), notifies the listeners (`EventMachine`), asks for documents in limbo
/// (`LimboDocuments`) and for overdue ones (`AwaitedDocuments`), and knows who waits for writes (`WriteCallers`). The
/// links call it as their owner; it calls them with targets and batches. Changes of documents go through `updateViews`,
/// wherever they have been made: by a write, an answer, a snapshot, another user, a bundle.
///
/// Worked example: a listener on `rooms`, and a write of `rooms/a`. `listen`: the cache has no room, the event machine
/// withholds an empty first event, and the watch link is given target 2. `write`: the cache queues batch 1,
/// `updateViews` finds the view, the listener gets the room with pending writes, and the write link is asked to fill
/// its pipeline. The link calls `acknowledge`: the caller is resumed, and the view awaits a snapshot of the write. The
/// watch link calls `apply` with that snapshot: the listener gets the room without pending writes.
package final class SyncCore {
  let configuration: ClientMachine.Configuration
  let cache: ClientCache
  let actions: ClientActions
  let watch: WatchLink
  let writes: WriteLink

  var events = EventMachine()
  package internal(set) var views = ViewTable()
  package internal(set) var limbo: LimboDocuments
  var awaited = AwaitedDocuments()
  var callers = WriteCallers()
  /// The documents and results that were read from an engine in the process for events that wait.
  var engineCache = EngineCache()
  /// The documents that refills have changed, of which the other views have not been notified.
  private var refilled: [DocumentKey: CachedDocument] = [:]

  init(
    _ configuration: ClientMachine.Configuration, _ cache: ClientCache, _ actions: ClientActions, _ watch: WatchLink,
    _ writes: WriteLink
  ) {
    self.configuration = configuration
    self.cache = cache
    self.actions = actions
    self.watch = watch
    self.writes = writes
    limbo = LimboDocuments(configuration.database, limit: configuration.tuning.limboLimit)
    watch.owner = self
    writes.owner = self
  }

  // MARK: Views

  /// Computes the effect of changed documents and targets on the views, and sends all snapshots together.
  ///
  /// Only the views are looked at that look at a changed document, whose target has changed, or that follow every
  /// snapshot of the backend.
  func updateViews(_ changed: [DocumentKey: CachedDocument], event: RemoteEvent?) {
    if let event { views.note(event.version) }
    var snapshots: [ViewSnapshot] = []
    var references: [LocalStore.ViewReferences] = []
    for concerned in views.concerned(by: changed, event) {
      guard let outcome = update(concerned, event) else { continue }
      track(outcome.limboChanges, concerned.target)
      guard let snapshot = outcome.snapshot else { continue }
      watch.settleToken(of: concerned.target)
      snapshots.append(snapshot)
      references.append(LocalStore.ViewReferences(snapshot, target: concerned.target))
    }
    actions.emit(events.receive(snapshots))
    cache.local.noteViews(references)
    startAwaiting()
    endAsking()
    if refilled.isEmpty { return }
    // The other views look at the documents that have arrived, too.
    let changed = refilled
    refilled = [:]
    updateViews(changed, event: nil)
  }

  private func update(_ concerned: ViewTable.Concerned, _ event: RemoteEvent?) -> QueryView.Outcome? {
    let id = concerned.id
    guard let query = views.entries[id]?.query,
      var changes = views.entries[id]?.view.computeChanges(
        concerned.changed, order: event?.targetChanges[concerned.target]?.order ?? [])
    else { return nil }
    if changes.needsRefill {
      refilled.merge(takeRefill(of: id, target: concerned.target)) { _, new in new }
      let all = cache.local.execute(query, usesPreviousResults: false).documents
      changes = views.entries[id]?.view.computeChanges(all, previous: changes) ?? changes
    }
    return views.apply(changes, to: id, event)
  }

  // MARK: Limbo

  /// Takes the documents that entered or left limbo in a view of a target.
  func track(_ changes: [QueryView.LimboChange], _ target: Int32) {
    if changes.isEmpty { return }
    // Two queries, of the first and of the last results, can have one target.
    perform(limbo.track(changes, target) { views.hasInLimbo($0, target) })
  }

  func perform(_ requests: [LimboDocuments.Request]) {
    for request in requests {
      switch request {
      case .listen(let record): watch.listen(record)
      case .unlisten(let id): watch.unlisten(id)
      }
    }
  }
}

extension LocalStore.ViewReferences {
  /// The documents that a snapshot has added and removed.
  init(_ snapshot: ViewSnapshot, target: Int32) {
    self.init(
      target: target, isFromCache: snapshot.isFromCache,
      added: snapshot.changes.filter { $0.kind == .added }.map(\.document.path),
      removed: snapshot.changes.filter { $0.kind == .removed }.map(\.document.path))
  }
}

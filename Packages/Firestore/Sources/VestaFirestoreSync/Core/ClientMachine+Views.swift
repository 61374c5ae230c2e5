import VestaFirestoreBackend
import VestaFirestoreModel

/// The effect of changed documents and targets on the views.
extension ClientMachine {
  var orderedViews: [QueryID] { queriesByTarget.keys.sorted().flatMap { queriesByTarget[$0] ?? [] } }

  /// Computes the effect of changed documents and targets on the views, and sends all snapshots together.
  ///
  /// Only the views are looked at that look at a changed document, whose target has changed, or that follow every
  /// snapshot of the backend.
  func raise(_ changed: [DocumentKey: CachedDocument], event: RemoteEvent?) {
    if let event, event.version > .zero {
      lastSnapshot = (max(lastSnapshot.version, event.version), lastSnapshot.count + 1)
    }
    var snapshots: [ViewSnapshot] = []
    var references: [LocalStore.ViewReferences] = []
    for concerned in concernedViews(changed, event) {
      guard let outcome = update(concerned, event) else { continue }
      track(outcome.limboChanges, concerned.target)
      guard let snapshot = outcome.snapshot else { continue }
      settleToken(of: concerned.target)
      snapshots.append(snapshot)
      references.append(LocalStore.ViewReferences(snapshot, target: concerned.target))
    }
    emit(events.receive(snapshots))
    local.noteViews(references)
    startAwaiting()
    endAsking()
    if refilled.isEmpty { return }
    // The other views look at the documents that have come in, too.
    let changed = refilled
    refilled = [:]
    raise(changed, event: nil)
  }

  /// A view, and the changed documents that its query looks at.
  private struct ConcernedView {
    let id: QueryID
    let target: Int32
    let place: Int
    let changed: [DocumentKey: CachedDocument]
  }

  /// The views that an event concerns, in the order of their targets.
  private func concernedViews(
    _ changed: [DocumentKey: CachedDocument], _ event: RemoteEvent?
  ) -> [ConcernedView] {
    var concerned: [QueryID: [DocumentKey: CachedDocument]] = [:]
    if let id = viewIndex.only(lookingAt: changed.keys) {
      concerned[id] = changed
    } else {
      for (key, document) in changed {
        viewIndex.forEach(lookingAt: key) { concerned[$0, default: [:]][key] = document }
      }
    }
    for id in concernedViews(event) where concerned[id] == nil { concerned[id] = [:] }
    let list = concerned.compactMap { id, documents -> ConcernedView? in
      guard let target = views[id]?.target, let place = queriesByTarget[target]?.firstIndex(of: id) else { return nil }
      return ConcernedView(id: id, target: target, place: place, changed: documents)
    }
    return list.sorted { ($0.target, $0.place) < ($1.target, $1.place) }
  }

  /// The views that an event concerns, whichever documents have changed.
  private func concernedViews(_ event: RemoteEvent?) -> Set<QueryID> {
    guard let event else { return [] }
    var concerned = unsettledViews
    for (target, change) in event.targetChanges {
      for id in queriesByTarget[target] ?? [] where views[id]?.view.isTokenOnly(change) == false {
        concerned.insert(id)
      }
    }
    for target in event.targetMismatches.keys { concerned.formUnion(queriesByTarget[target] ?? []) }
    return concerned
  }

  private func update(_ concerned: ConcernedView, _ event: RemoteEvent?) -> View.Outcome? {
    let id = concerned.id
    guard let query = views[id]?.query, let begun = views[id]?.begun,
      var changes = views[id]?.view.computeChanges(
        concerned.changed, order: event?.targetChanges[concerned.target]?.order ?? [])
    else { return nil }
    if changes.needsRefill {
      takeRefill(of: id, target: concerned.target)
      let all = local.execute(query, usesPreviousResults: false).documents
      changes = views[id]?.view.computeChanges(all, previous: changes) ?? changes
    }
    let outcome = views[id]?.view.apply(
      changes, event?.targetChanges[concerned.target],
      isPendingReset: event?.targetMismatches[concerned.target] != nil,
      version: seenVersion(begun: begun))
    unsettle(id)
    return outcome
  }

  /// The version of the last snapshot of the backend that a view has seen.
  ///
  /// - Parameter begun: How many there had been when the view began.
  func seenVersion(begun: Int) -> Timestamp { begun < lastSnapshot.count ? lastSnapshot.version : .zero }

  /// Notes whether a view follows every snapshot of the backend.
  func unsettle(_ id: QueryID) {
    if views[id]?.view.followsEverySnapshot == true { unsettledViews.insert(id) } else { unsettledViews.remove(id) }
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

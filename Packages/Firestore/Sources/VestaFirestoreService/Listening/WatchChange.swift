import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

/// A document before and after some commits.
struct WatchChange {
  let place: Place
  let path: ResourcePath
  let name: String
  let before: Document?
  let after: Document?

  var states: [Document] { [before, after].compactMap(\.self) }

  /// Returns the changes between a version and a snapshot, each document once.
  static func all(after version: Int64, _ scope: ChangeScope, in snapshot: Snapshot) async throws -> [WatchChange] {
    var order: [Place] = []
    var before: [Place: [UInt8]?] = [:]
    try await snapshot.visitChanges(after: version, in: scope) { change in
      guard before[change.place] == nil else { return .next }
      before[change.place] = .some(change.before)
      order.append(change.place)
      return .next
    }
    return try zip(order, try await snapshot.rows(at: order)).compactMap { place, row in
      let old = before[place] ?? nil
      guard old != row else { return nil }
      let path = try place.path()
      func document(_ row: [UInt8]?) throws -> Document? {
        try row.map {
          StoredDocument(place: place, path: path, row: try DocumentRow($0, of: path)).document(in: snapshot.name)
        }
      }
      return WatchChange(
        place: place, path: path, name: ResourceName(database: snapshot.name, path: path).description,
        before: try document(old), after: try document(row))
    }
  }

  /// Whether the document matched before, and whether it matches now.
  func membership(in subject: WatchSubject) -> (wasIn: Bool, isIn: Bool) {
    (
      before.map { subject.matches($0, at: place, path) } ?? false,
      after.map { subject.matches($0, at: place, path) } ?? false
    )
  }

  /// The change as sent to the listeners of a target that contains, or contained, the document.
  func fact(isIn: Bool) -> WatchFact { WatchFact(place: place, name: name, document: after, isIn: isIn) }
}

/// The results of a limited query.
typealias WatchView = [Place: Document]

extension WatchView {
  /// Returns the changes that lead from an older state to this one.
  func facts(since old: WatchView, in snapshot: Snapshot) async throws -> [WatchFact] {
    var facts: [WatchFact] = []
    for (place, document) in self
    where old[place]?.updateTime != document.updateTime || old[place]?.createTime != document.createTime {
      facts.append(WatchFact(place: place, name: document.name, document: document, isIn: true))
    }
    let gone = old.filter { self[$0.key] == nil }
    for (known, stored) in zip(gone, try await snapshot.documents(at: gone.map(\.key))) {
      let now = stored?.document(in: snapshot.name)
      facts.append(WatchFact(place: known.key, name: known.value.name, document: now, isIn: false))
    }
    return facts
  }
}

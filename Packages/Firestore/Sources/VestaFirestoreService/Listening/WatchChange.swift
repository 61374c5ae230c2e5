import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

/// A document before and after some commits.
///
/// A document may have matched a target between two of the commits and neither before nor after all of them. Its
/// listeners are not notified of it then, with one exception: the writer of that state waits for a snapshot of
/// that commit or a later one. So the states in between are noted too.
///
/// ```
/// commit 7: d = {b: 2}, commit 8: d = {b: 1}, both in one turn; a target of b == 2:
/// before: nil   between: [{b: 2}]   after: {b: 1}     → nothing about d, and a global snapshot of 8
/// ```
struct WatchChange {
  let pathKey: PathKey
  let path: ResourcePath
  let name: String
  let before: Document?
  let after: Document?
  /// The states between the first and the last of the commits.
  var between: [Document] = []
  /// Whether there were more states in between, which are not kept.
  var hasMore = false
  /// Why a state cannot be read; nothing is known of the document then.
  var failure: FirestoreServiceError?

  var states: [Document] { [before, after].compactMap(\.self) + between }

  /// Returns the changes between a version and a snapshot, each document once.
  ///
  /// - Parameter most: The bytes of states in between that are kept, of all documents together; `nil` where they are of
  ///   no interest, nor are documents that were made and deleted in between.
  /// - Returns: With states in between, a document that cannot be read has its `failure`, and stops no other.
  static func all(
    after version: Int64, _ scope: ChangeScope, in snapshot: Snapshot, between most: Int? = nil
  ) async throws -> [WatchChange] {
    var order: [PathKey] = []
    var before: [PathKey: [UInt8]?] = [:]
    var between: [PathKey: [[UInt8]]] = [:]
    var cut: Set<PathKey> = []
    var room = most ?? 0
    try await snapshot.visitChanges(after: version, in: scope) { change in
      guard before[change.pathKey] == nil else {
        guard most != nil, let row = change.before else { return .next }
        room -= row.count
        if room >= 0 { between[change.pathKey, default: []].append(row) } else { cut.insert(change.pathKey) }
        return .next
      }
      before[change.pathKey] = .some(change.before)
      order.append(change.pathKey)
      return .next
    }
    return try zip(order, try await snapshot.rows(at: order)).compactMap { pathKey, row in
      let old = before[pathKey] ?? nil
      let (states, hasMore) = (between[pathKey] ?? [], cut.contains(pathKey))
      guard old != row || !states.isEmpty || hasMore else { return nil }
      let path = try pathKey.path()
      let name = ResourceName(database: snapshot.name, path: path).description
      func document(_ row: [UInt8]?) throws -> Document? {
        try row.map {
          StoredDocument(pathKey: pathKey, path: path, row: try DocumentRow($0, of: path)).document(in: snapshot.name)
        }
      }
      do {
        return WatchChange(
          pathKey: pathKey, path: path, name: name, before: try document(old), after: try document(row),
          between: try states.compactMap(document), hasMore: hasMore)
      } catch let error as FirestoreServiceError where most != nil {
        return WatchChange(pathKey: pathKey, path: path, name: name, before: nil, after: nil, failure: error)
      }
    }
  }

  /// Whether the document matched before, and whether it matches now.
  func membership(in subject: WatchSubject) -> (wasIn: Bool, isIn: Bool) {
    (
      before.map { subject.matches($0, at: pathKey, path) } ?? false,
      after.map { subject.matches($0, at: pathKey, path) } ?? false
    )
  }

  /// Whether the document is known to have matched between the commits.
  func hasMatched(_ subject: WatchSubject) -> Bool { between.contains { subject.matches($0, at: pathKey, path) } }

  /// The change as sent to the listeners of a target that contains, or contained, the document.
  func fact(isIn: Bool) -> WatchFact { WatchFact(pathKey: pathKey, name: name, document: after, isIn: isIn) }
}

/// The results of a limited query.
typealias WatchView = [PathKey: Document]

extension WatchView {
  /// Returns the changes that lead from an older state to this one.
  func facts(since old: WatchView, in snapshot: Snapshot) async throws -> [WatchFact] {
    var facts: [WatchFact] = []
    for (pathKey, document) in self
    where old[pathKey]?.updateTime != document.updateTime || old[pathKey]?.createTime != document.createTime {
      facts.append(WatchFact(pathKey: pathKey, name: document.name, document: document, isIn: true))
    }
    let gone = old.filter { self[$0.key] == nil }
    for (known, stored) in zip(gone, try await snapshot.documents(at: gone.map(\.key))) {
      let now = stored?.document(in: snapshot.name)
      facts.append(WatchFact(pathKey: known.key, name: known.value.name, document: now, isIn: false))
    }
    return facts
  }
}

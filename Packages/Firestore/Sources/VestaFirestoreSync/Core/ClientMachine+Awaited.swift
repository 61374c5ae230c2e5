import VestaFirestoreBackend
import VestaFirestoreModel

/// Documents that views show as an acknowledged write has left them, though no snapshot of that write has been
/// received.
struct AwaitedDocuments {
  /// How often the timer fires until a document is asked for.
  static let rounds = 3

  /// The number of the limbo references of these documents, which no target has.
  static let target: Int32 = 0

  /// Whether the timer runs.
  var hasTimer = false
  /// The documents that are asked for.
  private(set) var asked: Set<DocumentKey> = []
  private var seen: [DocumentKey: (version: Timestamp, count: Int)] = [:]

  /// Notes the documents that are overdue now, each with the version of its write.
  ///
  /// - Returns: Those to ask for, because they have been overdue for some rounds.
  mutating func advance(_ overdue: [DocumentKey: Timestamp]) -> [DocumentKey] {
    var due: [DocumentKey] = []
    seen = Dictionary(
      uniqueKeysWithValues: overdue.map { key, version in
        let count = seen[key].map { $0.version == version ? $0.count + 1 : 1 } ?? 1
        if count >= Self.rounds, !asked.contains(key) { due.append(key) }
        return (key, (version, count))
      })
    asked.formUnion(due)
    return due.sorted()
  }

  /// Begins to count anew.
  mutating func forgetRounds() { seen = [:] }

  /// Notes that a document need not be asked for.
  mutating func remove(_ key: DocumentKey) {
    asked.remove(key)
    seen[key] = nil
  }
}

/// Acknowledged writes of which the backend sends no snapshot.
///
/// After an acknowledgement a view shows its own state of the document until a snapshot of at least that version has
/// been received. A backend need not send one: when it joins the client's commit with a later one that takes the
/// document out of the results again, the document was in no result before and is in none after, and the target has
/// nothing to say. The view would show the client's own old state for good. So the client asks for such a document by
/// name, as it does for documents in limbo.
///
/// Worked example: a listener to `rooms where open`, without results. The client sets `rooms/a` to open, and shows it;
/// the write is acknowledged at version 5. Another client closes the room at version 6, before the stream has sent 5.
/// The stream sends nothing. After a second the client asks for `rooms/a`, receives version 6, and the view removes
/// it.
extension ClientMachine {
  /// Starts the timer when a view begins to await a snapshot.
  func startAwaiting() {
    guard !awaited.hasTimer, !unsettledViews.isEmpty, isNetworkEnabled, watchStream.isOpen,
      unsettledViews.contains(where: { views[$0]?.view.overdue.isEmpty == false && events.isRemote($0) })
    else { return }
    awaited.hasTimer = true
    awaited.forgetRounds()
    emit(.startTimer(.awaited, seconds: awaitedPeriod))
  }

  private var awaitedPeriod: Double { tuning.awaitedSeconds / Double(AwaitedDocuments.rounds - 1) }

  /// A part of the time that a snapshot may take has passed.
  func awaitedTimerFired() {
    awaited.hasTimer = false
    guard isNetworkEnabled, watchStream.isOpen else { return }
    var overdue: [DocumentKey: Timestamp] = [:]
    for id in unsettledViews where events.isRemote(id) {
      overdue.merge(views[id]?.view.overdue ?? [:]) { max($0, $1) }
    }
    if overdue.isEmpty { return awaited.forgetRounds() }
    for key in awaited.advance(overdue) {
      limboReferences.insert(key, AwaitedDocuments.target)
      beginLimbo(key)
    }
    awaited.hasTimer = true
    emit(.startTimer(.awaited, seconds: awaitedPeriod))
  }

  /// Ends the requests for documents whose snapshot has been received, or that no view shows any longer.
  func endAsking() {
    for key in awaited.asked where !unsettledViews.contains(where: { views[$0]?.view.isOverdue(key) == true }) {
      awaited.remove(key)
      limboReferences.remove(key, AwaitedDocuments.target)
      if !limboReferences.contains(key) { endLimbo(key) }
    }
  }
}

import VestaFirestoreBackend
import VestaFirestoreModel

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
extension SyncCore {
  /// Starts the timer when a view begins to await a snapshot.
  func startAwaiting() {
    guard !awaited.hasTimer, !views.unsettled.isEmpty, watch.isFollowing,
      views.hasOverdue(where: { events.isRemote($0) })
    else { return }
    awaited.hasTimer = true
    awaited.forgetRounds()
    actions.emit(.startTimer(.awaited, seconds: awaitedPeriod))
  }

  private var awaitedPeriod: Double { configuration.tuning.awaitedSeconds / Double(AwaitedDocuments.rounds - 1) }

  /// A part of the time that a snapshot may take has passed.
  func awaitedTimerFired() {
    awaited.hasTimer = false
    guard watch.isFollowing else { return }
    let overdue = views.overdue { events.isRemote($0) }
    if overdue.isEmpty { return awaited.forgetRounds() }
    for key in awaited.advance(overdue) { perform(limbo.insert(key, AwaitedDocuments.target)) }
    awaited.hasTimer = true
    actions.emit(.startTimer(.awaited, seconds: awaitedPeriod))
  }

  /// Ends the requests for documents whose snapshot has been received, or that no view shows any longer.
  func endAsking() {
    for key in awaited.asked where !views.isOverdue(key) {
      awaited.remove(key)
      perform(limbo.remove(key, AwaitedDocuments.target))
    }
  }
}

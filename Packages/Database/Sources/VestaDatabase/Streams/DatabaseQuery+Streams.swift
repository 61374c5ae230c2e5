import VestaConcurrency
import VestaDatabaseModel

/// A change of a child.
public enum DatabaseEvent: Sendable {
  /// A child was added, or was there already when the stream began.
  case childAdded(DataSnapshot, previousSiblingKey: String?)
  /// A child has changed.
  case childChanged(DataSnapshot, previousSiblingKey: String?)
  /// A child was removed.
  case childRemoved(DataSnapshot)
  /// A child has moved among its siblings.
  case childMoved(DataSnapshot, previousSiblingKey: String?)
}

extension DatabaseQuery {
  /// The data, and the data again each time that it changes.
  ///
  /// A reader that lags gets the newest data next. The observer is removed when the loop is left, the task is
  /// cancelled, or the stream is dropped; the stream throws when the service ends it, and finishes when the app is
  /// deleted.
  ///
  /// ```swift
  /// for try await snapshot in scores.value { print(snapshot.value as Any) }
  /// ```
  public var value: AsyncThrowingStream<DataSnapshot, any Error> {
    .snapshots(merge: { _, new in new }) { sink in
      let observer = listen(
        [.value], event: { [self] in sink.send(snapshot($0)) }, cancel: { sink.finish(throwing: $0) },
        end: { sink.finish() })
      return registration(of: observer)
    }
  }

  /// The changes of children, each of them, in order; first the children that are there.
  ///
  /// The observer is removed when the loop is left, the task is cancelled, or the stream is dropped; the stream throws
  /// when the service ends it.
  public func events() -> AsyncThrowingStream<DatabaseEvent, any Error> {
    .events { sink in
      let observer = listen(
        [.childAdded, .childChanged, .childRemoved, .childMoved],
        event: { [self] event in if let change = change(event) { sink.send(change) } },
        cancel: { sink.finish(throwing: $0) }, end: { sink.finish() })
      return registration(of: observer)
    }
  }

  /// The changes of children: the name that the Apple SDK is going to give to ``events()``.
  public func childEvents() -> AsyncThrowingStream<DatabaseEvent, any Error> { events() }

  private func registration(of observer: Observer) -> ListenerRegistration {
    ListenerRegistration { [self] in remove(observer) }
  }

  private func change(_ event: RaisedEvent) -> DatabaseEvent? {
    switch event.kind {
    case .childAdded: .childAdded(snapshot(event), previousSiblingKey: event.previousKey)
    case .childChanged: .childChanged(snapshot(event), previousSiblingKey: event.previousKey)
    case .childRemoved: .childRemoved(snapshot(event))
    case .childMoved: .childMoved(snapshot(event), previousSiblingKey: event.previousKey)
    case .value: nil
    }
  }
}

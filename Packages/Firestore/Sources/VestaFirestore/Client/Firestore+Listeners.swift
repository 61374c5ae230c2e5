internal import VestaConcurrency
internal import VestaFirestoreBackend
internal import VestaFirestoreSync

/// Removes a listener.
public protocol ListenerRegistration: AnyObject, Sendable {
  /// Removes the listener: no call of it begins after this one.
  func remove()
}

extension VestaConcurrency.ListenerRegistration: ListenerRegistration {}

extension ListenOptions {
  init(_ options: SnapshotListenOptions) {
    self.init(includesMetadata: options.includeMetadataChanges, isCacheOnly: options.source == .cache)
  }
}

extension Firestore {
  /// Adds a listener that is called on the queue of the settings.
  func listen(
    _ query: QueryDescription, options: SnapshotListenOptions,
    _ listener: @escaping @Sendable (Result<ViewSnapshot, any Error>) -> Void
  ) -> any ListenerRegistration {
    let receiver = QueuedReceiver(queue: callbackQueue, receive: listener)
    do {
      let local = try query.local()
      let registration = try client().listen(local, options: ListenOptions(options), onEnd: nil) { result in
        receiver.post(result.mapError(FirestoreErrorCode.publicError))
      }
      return VestaConcurrency.ListenerRegistration {
        receiver.silence()
        registration.remove()
      }
    } catch {
      receiver.post(.failure(FirestoreErrorCode.publicError(error)))
      return VestaConcurrency.ListenerRegistration { receiver.silence() }
    }
  }

  /// A stream of a query's snapshots, made of what the client sends when the consumer takes it, on no queue of its
  /// own.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - options: As for a listener.
  ///   - tracksChanges: Whether a snapshot that stands for several has the changes of all of them.
  ///   - make: Makes a snapshot, on the consumer's task.
  /// - Returns: The stream; it ends with the client.
  func stream<Snapshot: Sendable>(
    _ query: QueryDescription, options: SnapshotListenOptions, tracksChanges: Bool,
    make: @escaping @Sendable (ViewSnapshot) throws -> Snapshot
  ) -> AsyncThrowingStream<Snapshot, any Error> {
    .snapshots { waiting, new in
      tracksChanges ? waiting.merged(with: new) : new
    } make: { (waiting: WaitingView) in
      do { return try make(waiting.snapshot) } catch { throw FirestoreErrorCode.publicError(error) }
    } _: { sink in
      do {
        let local = try query.local()
        var options = ListenOptions(options)
        // Who makes a stream waits for its first snapshot, and may as well read it.
        options.isAwaited = !isMainThread
        let registration = try client().listen(local, options: options, onEnd: { sink.finish() }) { result in
          sink.send(result.map(WaitingView.init).mapError(FirestoreErrorCode.publicError))
        }
        return VestaConcurrency.ListenerRegistration { registration.remove() }
      } catch {
        sink.finish(throwing: FirestoreErrorCode.publicError(error))
        return VestaConcurrency.ListenerRegistration {}
      }
    }
  }
}

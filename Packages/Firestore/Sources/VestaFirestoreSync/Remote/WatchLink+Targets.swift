package import VestaFirestoreBackend
package import VestaFirestoreModel

/// The targets of the watch link: asked for, read from the engine and followed, refused.
extension WatchLink {
  /// Begins to listen to a target; one that is listened to already stays as it is.
  func listen(_ record: TargetRecord) {
    guard targets[record.id] == nil else { return }
    targets[record.id] = record
    places.insert(record.target)
    if shouldStart { start() } else if stream.isOpen { request(record) }
  }

  /// Ends listening to a target.
  func unlisten(_ id: Int32) {
    settleToken(of: id)
    guard let record = targets.removeValue(forKey: id) else { return }
    // Only this record has the version of results that were read. If listeners of the cache keep the view, the next
    // remote listener continues from that version: without it the stream would not report deleted documents.
    if record.resumeToken.isEmpty, record.snapshotVersion > .zero { cache.local.resume(id, at: record) }
    forgetProgress(of: id)
    places.remove(record.target)
    let wasAsked = !fetched.remove(id)
    if stream.isOpen, wasAsked { requestRemoval(of: id) }
    if targets.isEmpty { markIdle() }
  }

  // MARK: Requests

  func request(_ record: TargetRecord) {
    guard canBeFetched(record) else { return ask(record) }
    fetched.begin(record.id)
    noteSending()
    actions.emit(.fetch(stream: stream.connection, record))
  }

  /// Asks the stream for a target, and first for the ones that it is to follow from an earlier version on.
  private func ask(_ record: TargetRecord) {
    followFetched()
    var record = record
    if !record.resumeToken.isEmpty || record.snapshotVersion > .zero {
      record.expectedCount = Int32(clamping: remoteKeys(of: record.id).count)
    }
    send(record)
  }

  private func send(_ record: TargetRecord) {
    forgetProgress(of: record.id)
    noteSending(to: record.id)
    actions.emit(.watch(stream: stream.connection, record))
  }

  func requestRemoval(of id: Int32) {
    noteSending(to: id)
    actions.emit(.unwatch(stream: stream.connection, id))
  }

  // MARK: First results

  /// Asks the stream to follow the targets whose first results were read, each from its version on.
  func followFetched() {
    for id in fetched.takeDue() { if let record = targets[id] { send(record) } }
  }

  /// Whether the first results of a target can be read from the engine in the process.
  ///
  /// They are of a separate version, so no other target may show any of the same documents: it would show them
  /// next to documents of an earlier version.
  private func canBeFetched(_ record: TargetRecord) -> Bool {
    configuration.link.readsFirstResults && record.purpose == .listen && record.resumeToken.isEmpty
      && record.snapshotVersion == .zero && places.isAlone(record.target) && remoteKeys(of: record.id).isEmpty
  }

  /// The first results of a target have been read.
  ///
  /// When the client uses the results, it asks the stream two milliseconds later for the changes since their version.
  /// A listener that is removed before that costs the engine nothing more. When the client does not use the results,
  /// it asks the stream for the whole target at once.
  ///
  /// - Parameter documents: The documents that match, all of one version; of a document's target, also its absence.
  ///   `nil` when they could not be read: the stream has the error.
  package func receivedFirst(stream number: Int, target: Int32, _ documents: [CachedDocument]?, version: Timestamp) {
    guard number == stream.connection, stream.isOpen, fetched.isReading(target), let record = targets[target] else {
      return
    }
    // A read from before the stream may lack documents that the stream has brought already.
    guard let documents, version >= cache.local.lastRemoteSnapshotVersion, canBeFetched(record) else {
      fetched.remove(target)
      return ask(record)
    }
    if fetched.end(target) {
      actions.emit(.startTimer(.watchFollow, seconds: configuration.tuning.followSeconds))
    }
    targets[target] = record.resuming(at: [], version: version)
    update(.online)
    owner?.take(FirstResults(documents, of: target, version: version))
  }

  // MARK: Refusals

  /// Takes the refusal of targets by the stream.
  func rejectTargets(_ ids: [Int32], _ cause: FirestoreServiceError) {
    for id in ids where forget(id) {
      forgetChanges(of: id)
      owner?.rejectTarget(id, cause)
    }
  }

  /// Fails the targets of listeners because the backend refuses the client.
  func failTargets(_ error: FirestoreServiceError) {
    let ids = targets.values.filter { $0.purpose != .limboResolution }.map(\.id).sorted()
    for id in ids where forget(id) {
      fetched.remove(id)
      owner?.rejectTarget(id, error)
    }
  }

  private func forget(_ id: Int32) -> Bool {
    guard let record = targets.removeValue(forKey: id) else { return false }
    places.remove(record.target)
    forgetProgress(of: id)
    return true
  }

  /// Forgets how far the targets of listeners have been followed, because the cache begins again.
  ///
  /// - Returns: The targets.
  func beginAgain() -> [Int32] {
    let records = targets.values.filter { $0.purpose != .limboResolution }
    for record in records {
      forgetProgress(of: record.id)
      targets[record.id] = record.resuming(at: [], version: .zero)
    }
    return records.map(\.id)
  }
}

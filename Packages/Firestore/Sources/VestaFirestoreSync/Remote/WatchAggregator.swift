package import VestaFirestoreBackend
package import VestaFirestoreModel

/// Collects the messages of one watch stream until they form a consistent snapshot.
///
/// Messages about a target count only while the target is active: it is listened to, and every request for it has been
/// acknowledged. So what belongs to an earlier use of the same number is ignored.
package struct WatchAggregator {
  /// The aggregator's questions about targets.
  package struct Targets {
    /// The target with a number, if it is listened to.
    package let data: (Int32) -> TargetRecord?
    /// The documents of a target that the backend has sent.
    package let remoteKeys: (Int32) -> Set<DocumentKey>
    /// Whether the backend has sent a document of a target.
    package let hasRemoteKey: (Int32, DocumentKey) -> Bool

    /// The questions, as functions.
    package init(
      data: @escaping (Int32) -> TargetRecord?, remoteKeys: @escaping (Int32) -> Set<DocumentKey>,
      hasRemoteKey: @escaping (Int32, DocumentKey) -> Bool
    ) {
      self.data = data
      self.remoteKeys = remoteKeys
      self.hasRemoteKey = hasRemoteKey
    }
  }

  private enum Change { case added, modified, removed }

  private struct TargetState {
    var outstandingResponses = 0
    var changes: [DocumentKey: Change] = [:]
    var resumeToken: [UInt8] = []
    /// How many global tokens there had been when this one was stored.
    var globalNumber = 0
    var isCurrent = false
    var hasPendingChanges = true
    /// Whether a document or its absence was reported since the target was added.
    var hasReceivedDocument = false

    mutating func store(_ token: [UInt8]) {
      guard !token.isEmpty else { return }
      (resumeToken, hasPendingChanges) = (token, true)
    }

    mutating func add(_ change: Change, of key: DocumentKey) {
      (changes[key], hasPendingChanges) = (change, true)
    }

    /// Forgets the state of an earlier use of the same number, whose requests have been answered now.
    mutating func begin() { (changes, resumeToken, isCurrent, hasReceivedDocument) = ([:], [], false, false) }

    var update: TargetUpdate {
      var update = TargetUpdate()
      (update.resumeToken, update.isCurrent) = (resumeToken, isCurrent)
      for (key, change) in changes {
        switch change {
        case .added: update.added.insert(key)
        case .modified: update.modified.insert(key)
        case .removed: update.removed.insert(key)
        }
      }
      return update
    }
  }

  private let database: DatabaseName
  private let targets: Targets
  private let digest: BloomFilter.Digest?
  private var states: [Int32: TargetState] = [:]
  /// The targets that the next event has to look at; thousands of others cost it nothing.
  private var touched: Set<Int32> = []
  /// The last token of all targets, how many there have been, and whether the next event carries it.
  ///
  /// The targets that are touched have it in their states.
  private var global = (token: [UInt8](), number: 0, isPending: false)
  private var documentUpdates: [DocumentKey: CachedDocument] = [:]
  private var targetsByKey: [DocumentKey: Set<Int32>] = [:]
  private var pendingResets: [Int32: TargetRecord.Purpose] = [:]

  /// An aggregator of a new stream.
  ///
  /// - Parameter digest: MD5; without it bloom filters are not used.
  package init(database: DatabaseName, digest: BloomFilter.Digest?, targets: Targets) {
    self.database = database
    self.digest = digest
    self.targets = targets
  }

  /// Notes that a request about a target was sent.
  package mutating func recordRequest(for id: Int32) {
    touch(id)
    states[id, default: TargetState()].outstandingResponses += 1
  }

  /// Forgets a target.
  package mutating func removeTarget(_ id: Int32) {
    states[id] = nil
    touched.remove(id)
  }

  /// Notes that the next event has to look at a target.
  private mutating func touch(_ id: Int32) {
    guard touched.insert(id).inserted, isActive(id), let number = states[id]?.globalNumber, number < global.number
    else { return }
    storeGlobalToken(in: id)
  }

  /// Stores the global token of a target that is current.
  ///
  /// Another one has not received the changes up to the token. If it were resumed from there, it would never receive
  /// them.
  ///
  /// Worked example: target 4 is requested from version 3 on, and acknowledged. Target 2 changes, and the backend sends
  /// a global snapshot of version 5 before the changes of target 4. The connection breaks. Target 4 is requested from
  /// version 3 on again.
  private mutating func storeGlobalToken(in id: Int32) {
    guard states[id]?.isCurrent == true else { return }
    states[id]?.globalNumber = global.number
    states[id]?.resumeToken = global.token
    if global.isPending { states[id]?.hasPendingChanges = true }
  }

  private func isActive(_ id: Int32) -> Bool {
    targets.data(id) != nil && (states[id]?.outstandingResponses ?? 0) == 0
  }

  // MARK: Messages

  /// Takes a change of targets; not one with a cause.
  package mutating func receive(_ change: TargetChange) {
    if change.targetIDs.isEmpty, change.kind == .noChange { return receiveGlobal(change.resumeToken) }
    let ids = change.targetIDs.isEmpty ? states.keys.filter(isActive) : change.targetIDs
    for id in ids where states[id] != nil {
      touch(id)
      apply(change, to: id)
    }
  }

  private mutating func receiveGlobal(_ token: [UInt8]) {
    guard !token.isEmpty else { return }
    global = (token, global.number + 1, true)
    for id in touched where isActive(id) { storeGlobalToken(in: id) }
  }

  private mutating func apply(_ change: TargetChange, to id: Int32) {
    switch change.kind {
    case .noChange:
      if isActive(id) { states[id]?.store(change.resumeToken) }
    case .add:
      acknowledge(id)
      if states[id]?.outstandingResponses == 0 { states[id]?.begin() }
      states[id]?.store(change.resumeToken)
    case .remove:
      acknowledge(id)
      if states[id]?.outstandingResponses == 0 { states[id] = nil }
    case .current where isActive(id):
      // A filter of the same snapshot did not match: the target is current when it has been fetched again.
      if pendingResets[id] == nil { states[id]?.isCurrent = true }
      states[id]?.globalNumber = global.number
      states[id]?.hasPendingChanges = true
      states[id]?.store(change.resumeToken)
    case .reset where isActive(id):
      reset(id)
      states[id]?.store(change.resumeToken)
    case .current, .reset: break
    }
  }

  private mutating func acknowledge(_ id: Int32) {
    let outstanding = states[id]?.outstandingResponses ?? 1
    states[id]?.outstandingResponses = max(0, outstanding - 1)
    states[id]?.globalNumber = global.number
  }

  private mutating func reset(_ id: Int32) {
    touch(id)
    states[id] = TargetState(globalNumber: global.number)
    for key in targets.remoteKeys(id) { remove(key, from: id, document: nil) }
  }

  /// Takes a document with its fields.
  ///
  /// - Throws: `DATA_LOSS` for a document without a name of this database or without a version. Earlier changes are
  ///   not to be used either: the snapshot that it belongs to can never be complete.
  package mutating func receive(_ change: DocumentChange) throws(FirestoreServiceError) {
    let key = try key(of: change.document.name)
    guard change.document.updateTime != nil else {
      throw Self.malformed("the document \(change.document.name) has no update time")
    }
    let document = CachedDocument(change.document, at: key)
    for id in change.targetIDs where isActive(id) {
      touch(id)
      let kind: Change = targets.hasRemoteKey(id, key) ? .modified : .added
      states[id, default: TargetState()].add(kind, of: key)
      states[id]?.hasReceivedDocument = true
      note(document, from: id)
    }
    for id in change.removedTargetIDs { remove(key, from: id, document: document) }
  }

  /// Takes a deleted document.
  ///
  /// - Throws: `DATA_LOSS` for a name that is no document's of this database.
  package mutating func receive(_ delete: DocumentDelete) throws(FirestoreServiceError) {
    let key = try key(of: delete.document)
    let document = missing(key, at: delete.readTime ?? .zero)
    for id in delete.removedTargetIDs { remove(key, from: id, document: document) }
  }

  /// Takes a document that has left targets.
  ///
  /// - Throws: `DATA_LOSS` for a name that is no document's of this database.
  package mutating func receive(_ removal: DocumentRemove) throws(FirestoreServiceError) {
    let key = try key(of: removal.document)
    for id in removal.removedTargetIDs { remove(key, from: id, document: nil) }
  }

  private func key(of name: String) throws(FirestoreServiceError) -> DocumentKey {
    guard let name = try? ResourceName(document: name, likely: database), name.database == database else {
      throw Self.malformed("\(name) is not the name of a document of \(database)")
    }
    return name.path
  }

  private static func malformed(_ what: String) -> FirestoreServiceError {
    FirestoreServiceError(.dataLoss, "The backend has sent a malformed message: \(what).")
  }

  private func missing(_ key: DocumentKey, at version: Timestamp) -> CachedDocument {
    CachedDocument(ResourceName(database: database, path: key), .missing, version: version)
  }

  private mutating func note(_ document: CachedDocument, from id: Int32) {
    documentUpdates[document.path] = document
    targetsByKey[document.path, default: []].insert(id)
  }

  private mutating func remove(_ key: DocumentKey, from id: Int32, document: CachedDocument?) {
    guard isActive(id) else { return }
    touch(id)
    if targets.hasRemoteKey(id, key) {
      states[id, default: TargetState()].add(.removed, of: key)
    } else {
      states[id, default: TargetState()].changes[key] = nil
      states[id]?.hasPendingChanges = true
    }
    targetsByKey[key, default: []].insert(id)
    guard let document else { return }
    states[id]?.hasReceivedDocument = true
    note(document, from: id)
  }

  // MARK: Existence filters

  /// Takes the number of documents that match a target.
  ///
  /// - Throws: `DATA_LOSS` for a negative number.
  package mutating func receive(_ filter: ExistenceFilter) throws(FirestoreServiceError) {
    let id = filter.targetID
    guard filter.count >= 0 else { throw Self.malformed("a filter counts \(filter.count) documents") }
    guard isActive(id), let data = targets.data(id) else { return }
    if data.target.isDocument {
      guard filter.count == 0 else { return }
      remove(data.target.path, from: id, document: missing(data.target.path, at: .zero))
      return
    }
    guard count(of: id) != Int(filter.count) else { return }
    let outcome = applyBloomFilter(of: filter)
    guard outcome != nil else { return }
    reset(id)
    pendingResets[id] = outcome
  }

  private func count(of id: Int32) -> Int {
    let changes = states[id]?.changes.values.map { $0 } ?? []
    return targets.remoteKeys(id).count + changes.count { $0 == .added } - changes.count { $0 == .removed }
  }

  /// Removes what a bloom filter does not contain; returns the purpose of a new request where that does not explain the
  /// number.
  private mutating func applyBloomFilter(of filter: ExistenceFilter) -> TargetRecord.Purpose? {
    guard let digest, let message = filter.unchangedNames, !message.bitmap.isEmpty,
      let bloom = try? BloomFilter(message, digest: digest)
    else { return .existenceFilterMismatch }
    let size = count(of: filter.targetID)
    var removed = 0
    for key in targets.remoteKeys(filter.targetID) where !bloom.mayContain(database.documentsPrefix + key.description) {
      remove(key, from: filter.targetID, document: nil)
      removed += 1
    }
    return Int(filter.count) == size - removed ? nil : .existenceFilterMismatchBloom
  }

  // MARK: Snapshots

  /// The event of a consistent snapshot; its content is forgotten here.
  package mutating func makeEvent(version: Timestamp) -> RemoteEvent {
    var event = RemoteEvent(version: version)
    event.globalToken = global.isPending ? global.token : []
    global.isPending = false
    // A target that is not active yet is touched again by its acknowledgement.
    for id in touched.sorted() {
      touched.remove(id)
      if isActive(id) { add(id, to: &event) }
    }
    for (key, ids) in targetsByKey where ids.allSatisfy({ targets.data($0)?.purpose == .limboResolution }) {
      event.resolvedLimboDocuments.insert(key)
    }
    for (key, var document) in documentUpdates {
      document.readTime = version
      event.documentUpdates[key] = document
    }
    event.targetMismatches = pendingResets
    (documentUpdates, targetsByKey, pendingResets) = ([:], [:], [:])
    return event
  }

  private mutating func add(_ id: Int32, to event: inout RemoteEvent) {
    synthesizeDelete(for: id, version: event.version)
    // Its next tokens are global ones. Until then it is resumed from where it was requested.
    if states[id]?.isCurrent == true { event.followedTargets.append(id) }
    guard let state = states[id], state.hasPendingChanges else { return }
    event.targetChanges[id] = state.update
    states[id]?.changes = [:]
    states[id]?.hasPendingChanges = false
    // Without its document, and without the document's absence: that shows once the view has taken this event.
    if !state.hasReceivedDocument, state.changes.values.contains(.removed) { touched.insert(id) }
  }

  /// A document target that is current and has reported no document has none.
  private mutating func synthesizeDelete(for id: Int32, version: Timestamp) {
    guard let state = states[id], let data = targets.data(id), state.isCurrent, data.target.isDocument else { return }
    let key = data.target.path
    guard !state.hasReceivedDocument, !targets.hasRemoteKey(id, key) else { return }
    remove(key, from: id, document: missing(key, at: version))
  }
}

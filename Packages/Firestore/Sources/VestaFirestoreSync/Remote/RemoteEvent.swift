package import VestaFirestoreBackend
package import VestaFirestoreModel

/// The changes of a consistent snapshot of the watch stream.
package struct RemoteEvent: Sendable {
  /// The read time of the snapshot; zero for an event that the client made itself.
  package var version: Timestamp
  /// The changes of targets.
  package var targetChanges: [Int32: TargetUpdate] = [:]
  /// The targets whose documents must be fetched again, with the purpose of the new request.
  package var targetMismatches: [Int32: TargetRecord.Purpose] = [:]
  /// The new state of documents.
  package var documentUpdates: [DocumentKey: CachedDocument] = [:]
  /// Documents that only limbo resolutions have reported.
  package var resolvedLimboDocuments: Set<DocumentKey> = []
  /// The token of every active target that is not among `targetChanges`; empty for none.
  package var globalToken: [UInt8] = []
  /// The active targets that the event has looked at one by one.
  package var followedTargets: [Int32] = []

  /// An event without changes.
  package init(version: Timestamp) { self.version = version }
}

/// The changes of a snapshot for one target.
package struct TargetUpdate: Sendable, Hashable {
  /// Where to resume; empty for no news.
  package var resumeToken: [UInt8] = []
  /// Whether everything that matched when the target was added has been sent.
  package var isCurrent = false
  /// Documents that are new in the target.
  package var added: Set<DocumentKey> = []
  /// The documents that are new in the target, each once, in the order of its results; empty if not known.
  package var order: [DocumentKey] = []
  /// Documents of the target that have changed.
  package var modified: Set<DocumentKey> = []
  /// Documents that have left the target.
  package var removed: Set<DocumentKey> = []

  /// No changes.
  package init() {}
}

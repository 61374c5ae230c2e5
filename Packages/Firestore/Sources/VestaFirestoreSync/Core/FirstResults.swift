import VestaFirestoreBackend
import VestaFirestoreModel

/// The first results of a target, as they were read from the engine in the process.
struct FirstResults {
  let target: Int32
  /// Each document of the target; of a document's target, also its absence.
  let documents: [CachedDocument]
  let update: TargetUpdate
  /// The snapshot that shows the results; `nil` as long as none does.
  var snapshot: ViewSnapshot?

  init(_ documents: [CachedDocument], of target: Int32, version: Timestamp) {
    self.target = target
    var update = TargetUpdate()
    update.isCurrent = true
    update.added.reserveCapacity(documents.count)
    self.documents = documents.map { document in
      var document = document
      document.readTime = version
      if document.isFound { update.added.insert(document.path) }
      return document
    }
    self.update = update
  }

  /// The results as an event.
  ///
  /// Without a separate version: the last snapshot's version stays.
  var event: RemoteEvent {
    var event = RemoteEvent(version: .zero)
    event.documentUpdates = Dictionary(documents.map { ($0.path, $0) }) { _, new in new }
    var update = update
    if event.documentUpdates.count == documents.count { update.order = documents.map(\.path) }
    event.targetChanges[target] = update
    return event
  }
}

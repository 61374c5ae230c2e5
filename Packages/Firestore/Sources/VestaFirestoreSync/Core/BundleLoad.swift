import VestaBytes
package import VestaFirestoreBackend
import VestaFirestoreModel

/// How far a bundle has been loaded.
package struct BundleProgress: Sendable, Hashable {
  /// Where loading is.
  package enum State: Sendable, Hashable {
    case running
    case success
    case error
  }

  /// Documents that were read, and all of them.
  package var documents: (loaded: Int, total: Int) { (documentsLoaded, totalDocuments) }
  package var documentsLoaded = 0
  package var totalDocuments = 0
  /// Bytes that were read, without the metadata, and all of them.
  package var bytesLoaded = 0
  package var totalBytes = 0
  package var state = State.running
}

/// Loading bundles: everything is read first and applied together.
extension SyncCore {
  /// Loads a bundle.
  ///
  /// - Parameter progress: Called with each step; the last one is a success or an error.
  /// - Returns: The defect of the bundle; `nil` for none.
  package func loadBundle(_ bytes: [UInt8], progress: (BundleProgress) -> Void) -> FirestoreServiceError? {
    var load = BundleLoad()
    do {
      let reader = BundleReader(bytes, database: configuration.database)
      try load.run(reader, known: cache.local.bundles, progress: progress)
    } catch {
      load.progress.state = .error
      progress(load.progress)
      return error
    }
    if !load.isKnown, let metadata = load.metadata {
      let changed = cache.local.apply(load, metadata.bundle)
      updateViews(changed, event: nil)
    }
    load.succeed()
    progress(load.progress)
    return nil
  }
}

/// The part of a bundle that has been read.
struct BundleLoad {
  var progress = BundleProgress()
  var metadata: BundleMetadata?
  var isKnown = false
  var queries: [BundleCache.NamedQuery] = []
  var documents: [(metadata: BundledDocument, content: Document?)] = []

  mutating func run(
    _ reader: BundleReader, known: BundleCache, progress report: (BundleProgress) -> Void
  ) throws(FirestoreServiceError) {
    var reader = reader
    guard case .metadata(let metadata)? = try reader.next()?.element else {
      throw WireJSON.invalid("The first element of the bundle is not a metadata object.")
    }
    self.metadata = metadata
    (progress.totalDocuments, progress.totalBytes) = (metadata.totalDocuments, metadata.totalBytes)
    report(progress)
    isKnown = known.has(metadata.bundle)
    if isKnown { return }
    while let (element, size) = try reader.next() {
      progress.bytesLoaded += size
      if try take(element) { report(progress) }
    }
    if let last = documents.last, last.metadata.exists, last.content == nil {
      throw WireJSON.invalid("Bundled documents end with a document metadata instead of a document.")
    }
    guard documents.count == metadata.totalDocuments else {
      throw WireJSON.invalid(
        "Expected \(metadata.totalDocuments) documents, but loaded \(documents.count) documents.")
    }
  }

  /// Takes an element; returns whether it completes a document.
  private mutating func take(_ element: BundleElement) throws(FirestoreServiceError) -> Bool {
    switch element {
    case .metadata: throw WireJSON.invalid("Unexpected bundle metadata element.")
    case .namedQuery(let query):
      queries.append(query)
      return false
    case .documentMetadata(let metadata):
      documents.append((metadata, nil))
      if !metadata.exists { progress.documentsLoaded += 1 }
      return !metadata.exists
    case .document(let key, let document):
      guard let last = documents.last, last.content == nil, key == last.metadata.key else {
        throw WireJSON.invalid("The document being added does not match the stored metadata.")
      }
      documents[documents.count - 1].content = document
      progress.documentsLoaded += 1
      return true
    }
  }

  mutating func succeed() {
    (progress.documentsLoaded, progress.bytesLoaded) = (progress.totalDocuments, progress.totalBytes)
    progress.state = .success
  }
}

extension LocalStore {
  /// Takes a bundle into the cache.
  ///
  /// - Returns: The documents that have changed, with the pending writes on top.
  mutating func apply(_ load: BundleLoad, _ bundle: BundleCache.Bundle) -> [DocumentKey: CachedDocument] {
    let umbrella = allocate(
      QueryTarget(database: database, path: ResourcePath(["__bundle__", "docs", bundle.id.string])))
    var updates: [DocumentKey: CachedDocument] = [:]
    var keysByQuery: [UTF8String: Set<DocumentKey>] = [:]
    for (metadata, content) in load.documents {
      let name = ResourceName(database: database, path: metadata.key)
      if let content {
        updates[metadata.key] = CachedDocument(
          name, .found(content.fields), version: content.updateTime ?? .zero, createTime: content.createTime,
          readTime: metadata.readTime)
        replaceUmbrella(metadata.key, umbrella.id)
      } else {
        updates[metadata.key] = CachedDocument(name, .missing, version: metadata.readTime, readTime: metadata.readTime)
      }
      for query in metadata.queries { keysByQuery[query, default: []].insert(metadata.key) }
    }
    let changed = take(updates)
    for query in load.queries { keep(query, keysByQuery[query.name] ?? []) }
    bundles.bundles[bundle.id] = bundle
    changes.bundles.insert(bundle.id)
    let result = shown.documents(changed)
    endTransaction()
    return result
  }

  private mutating func replaceUmbrella(_ key: DocumentKey, _ id: Int32) {
    targets.insert(key, into: id)
    changes.targetDocuments.insert(.init(id: id, key: key))
    uses.touch(key)
  }

  private mutating func keep(_ query: BundleCache.NamedQuery, _ keys: Set<DocumentKey>) {
    bundles.queries[query.name] = query
    changes.namedQueries.insert(query.name)
    let record = allocate(query.query.target)
    guard query.readTime > record.snapshotVersion else { return }
    let resumed = record.resuming(at: [], version: query.readTime)
    targets.update(resumed)
    targets.save(resumed)
    changes.targets.insert(record.id)
    for key in targets.keys(of: record.id).subtracting(keys) {
      targets.remove(key, from: record.id)
      changes.targetDocuments.insert(.init(id: record.id, key: key))
      uses.dereference(key)
    }
    for key in keys { replaceUmbrella(key, record.id) }
  }
}

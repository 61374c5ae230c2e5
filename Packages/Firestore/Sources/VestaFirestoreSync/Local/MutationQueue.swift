import VestaBytes
package import VestaFirestoreBackend
package import VestaFirestoreModel

/// The pending writes of one user, in order, and the overlays that combine them.
package struct MutationQueue: Sendable {
  /// The batches, oldest first.
  package var batches: ArraySlice<MutationBatch> { list[first...] }
  private var list: [MutationBatch] = []
  /// The position of the oldest batch: those before it have been removed, and the list is cut now and then.
  private var first = 0
  /// The effect of all pending writes on each document.
  package private(set) var overlays: [DocumentKey: Overlay] = [:]
  /// The token of the last response of the write stream.
  package var streamToken: [UInt8] = []
  private var idsByKey: [DocumentKey: FewNumbers<Int>] = [:]
  /// How many batches of a document have been removed since its overlay was computed.
  private var removals: [DocumentKey: Int] = [:]
  private var groups: [CollectionID: Set<ResourcePath>] = [:]
  private var overlaysByCollection: [ResourcePath: Set<DocumentKey>] = [:]
  /// The last collection that was looked for: most writes of a batch are in one.
  private var lastCollection = ResourcePath.root
  /// The identifier of the next batch; never used twice.
  package private(set) var nextID = 1
  /// The name of this queue in requests, made with the first batch: a new one for each run, because identifiers of
  /// batches begin again.
  private var name: [UInt8] = []

  /// A queue without writes.
  package init() {}

  /// A queue with the batches that a cache kept; overlays are computed by the cache.
  package init(batches: [MutationBatch]) {
    for batch in batches.sorted(by: { $0.id < $1.id }) { insert(batch) }
  }

  /// Whether nothing is pending.
  package var isEmpty: Bool { first == list.count }

  /// Whether writes of a document are pending.
  package func contains(_ key: DocumentKey) -> Bool { idsByKey[key] != nil }

  /// Adds writes as one batch.
  package mutating func add(_ mutations: [Mutation], base: [Mutation], at time: Timestamp) -> MutationBatch {
    if name.isEmpty { name = SystemRandom.bytes(16) }
    let batch = MutationBatch(
      id: nextID, localWriteTime: time, baseMutations: base, mutations: mutations,
      requestID: WriteRequestID(queue: name, number: Int64(nextID)))
    insert(batch)
    return batch
  }

  private mutating func insert(_ batch: MutationBatch) {
    list.append(batch)
    nextID = max(nextID, batch.id + 1)
    var noted = ResourcePath.root
    for key in batch.paths {
      idsByKey[key, default: .one(batch.id)].insert(batch.id)
      let collection = collection(of: key)
      guard collection != noted else { continue }
      groups[collection.collectionID, default: []].insert(collection)
      noted = collection
    }
  }

  private mutating func collection(of key: DocumentKey) -> ResourcePath {
    if lastCollection.segments.count + 1 != key.segments.count || !key.hasPrefix(lastCollection) {
      lastCollection = key.parent
    }
    return lastCollection
  }

  /// Removes a batch and the overlays that end with it.
  ///
  /// - Returns: The batch; `nil` when it is not in the queue.
  package mutating func remove(_ id: Int) -> MutationBatch? {
    guard let index = index(of: id) else { return nil }
    let batch = list[index]
    if index == first { removeFirst() } else { list.remove(at: index) }
    for key in batch.paths {
      if let index = idsByKey.index(forKey: key), idsByKey.values[index].remove(id) { idsByKey.remove(at: index) }
      if overlays[key]?.largestBatchID == id { removeOverlay(of: key) }
    }
    return batch
  }

  /// Removes the oldest batch, at a cost that does not grow with the queue.
  private mutating func removeFirst() {
    first += 1
    guard first * 2 > list.count else { return }
    list.removeFirst(first)
    first = 0
  }

  /// Notes the removal of a batch of a document, and returns whether the overlay of the document is to be computed
  /// anew.
  ///
  /// Of a document with many batches only now and then: after a share of them has been removed, so that removing all
  /// of them one by one costs about as much as computing a few overlays.
  mutating func needsReplay(_ key: DocumentKey, exactly limit: Int) -> Bool {
    guard overlays[key] != nil, let left = idsByKey[key]?.count, left > limit else { return true }
    let removed = (removals[key] ?? 0) + 1
    guard removed * 8 < left else { return true }
    removals[key] = removed
    return false
  }

  /// The first batch after an identifier.
  package func batch(after id: Int) -> MutationBatch? {
    let index = lowerBound(of: id + 1)
    return index < list.count ? list[index] : nil
  }

  /// The batch with an identifier.
  package func batch(_ id: Int) -> MutationBatch? { index(of: id).map { list[$0] } }

  private func index(of id: Int) -> Int? {
    let index = lowerBound(of: id)
    return index < list.count && list[index].id == id ? index : nil
  }

  /// The position of the first batch whose identifier is not smaller; identifiers grow along the queue.
  private func lowerBound(of id: Int) -> Int {
    var (low, high) = (first, list.count)
    while low < high {
      let middle = (low + high) / 2
      if list[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The number of the oldest batch that writes a document.
  func oldest(of key: DocumentKey) -> Int? { idsByKey[key]?.smallest }

  /// The batches that write a document, oldest first.
  package func batches(of key: DocumentKey) -> [MutationBatch] {
    guard let ids = idsByKey[key] else { return [] }
    return ids.sorted.compactMap { batch($0) }
  }

  /// Puts an overlay in place of the one of its document.
  package mutating func save(_ overlay: Overlay) {
    let key = overlay.mutation.path
    overlays[key] = overlay
    if !removals.isEmpty { removals[key] = nil }
    overlaysByCollection[collection(of: key), default: []].insert(key)
  }

  /// Removes the overlay of a document.
  package mutating func removeOverlay(of key: DocumentKey) {
    guard overlays.removeValue(forKey: key) != nil else { return }
    if !removals.isEmpty { removals[key] = nil }
    guard let index = overlaysByCollection.index(forKey: collection(of: key)) else { return }
    overlaysByCollection.values[index].remove(key)
    if overlaysByCollection.values[index].isEmpty { overlaysByCollection.remove(at: index) }
  }

  /// The documents of a collection that have an overlay.
  package func overlayKeys(in collection: ResourcePath) -> Set<DocumentKey> { overlaysByCollection[collection] ?? [] }

  /// The collections with an identifier that were written to.
  package func collections(of group: CollectionID) -> Set<ResourcePath> { groups[group] ?? [] }
}

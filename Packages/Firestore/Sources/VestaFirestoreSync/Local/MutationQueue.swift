package import VestaFirestoreBackend
package import VestaFirestoreModel

/// The pending writes of one user, in order, and the overlays that combine them.
package struct MutationQueue: Sendable {
  /// The batches, oldest first.
  package private(set) var batches: [MutationBatch] = []
  /// The effect of all pending writes on each document.
  package private(set) var overlays: [DocumentKey: Overlay] = [:]
  /// The token of the last response of the write stream.
  package var streamToken: [UInt8] = []
  private var idsByKey: [DocumentKey: Set<Int>] = [:]
  private var groups: [CollectionID: Set<ResourcePath>] = [:]
  private var overlaysByCollection: [ResourcePath: Set<DocumentKey>] = [:]
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
  package var isEmpty: Bool { batches.isEmpty }

  /// Whether writes of a document are pending.
  package func contains(_ key: DocumentKey) -> Bool { idsByKey[key] != nil }

  /// Adds writes as one batch.
  package mutating func add(_ mutations: [Mutation], base: [Mutation], at time: Timestamp) -> MutationBatch {
    if name.isEmpty { name = (0..<16).map { _ in UInt8.random(in: .min ... .max) } }
    let batch = MutationBatch(
      id: nextID, localWriteTime: time, baseMutations: base, mutations: mutations,
      requestID: WriteRequestID(queue: name, number: Int64(nextID)))
    insert(batch)
    return batch
  }

  private mutating func insert(_ batch: MutationBatch) {
    batches.append(batch)
    nextID = max(nextID, batch.id + 1)
    for key in batch.paths {
      idsByKey[key, default: []].insert(batch.id)
      groups[key.parent.collectionID, default: []].insert(key.parent)
    }
  }

  /// Removes a batch and the overlays that end with it.
  ///
  /// - Returns: The batch; `nil` when it is not in the queue.
  package mutating func remove(_ id: Int) -> MutationBatch? {
    guard let index = index(of: id) else { return nil }
    let batch = batches.remove(at: index)
    for key in batch.paths {
      idsByKey[key]?.remove(id)
      if idsByKey[key]?.isEmpty == true { idsByKey[key] = nil }
    }
    for key in batch.paths where overlays[key]?.largestBatchID == id { removeOverlay(of: key) }
    return batch
  }

  /// The first batch after an identifier.
  package func batch(after id: Int) -> MutationBatch? {
    let index = lowerBound(of: id + 1)
    return index < batches.count ? batches[index] : nil
  }

  /// The batch with an identifier.
  package func batch(_ id: Int) -> MutationBatch? { index(of: id).map { batches[$0] } }

  private func index(of id: Int) -> Int? {
    let index = lowerBound(of: id)
    return index < batches.count && batches[index].id == id ? index : nil
  }

  /// The position of the first batch whose identifier is not smaller; identifiers grow along the queue.
  private func lowerBound(of id: Int) -> Int {
    var (low, high) = (0, batches.count)
    while low < high {
      let middle = (low + high) / 2
      if batches[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The batches that write a document, oldest first.
  package func batches(of key: DocumentKey) -> [MutationBatch] {
    guard let ids = idsByKey[key] else { return [] }
    return ids.sorted().compactMap { batch($0) }
  }

  /// Puts an overlay in place of the one of its document.
  package mutating func save(_ overlay: Overlay) {
    let key = overlay.mutation.path
    overlays[key] = overlay
    overlaysByCollection[key.parent, default: []].insert(key)
  }

  /// Removes the overlay of a document.
  package mutating func removeOverlay(of key: DocumentKey) {
    guard overlays.removeValue(forKey: key) != nil else { return }
    overlaysByCollection[key.parent]?.remove(key)
    if overlaysByCollection[key.parent]?.isEmpty == true { overlaysByCollection[key.parent] = nil }
  }

  /// The documents of a collection that have an overlay.
  package func overlayKeys(in collection: ResourcePath) -> Set<DocumentKey> { overlaysByCollection[collection] ?? [] }

  /// The collections with an identifier that were written to.
  package func collections(of group: CollectionID) -> Set<ResourcePath> { groups[group] ?? [] }
}

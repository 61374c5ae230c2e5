import VestaBytes
import VestaFirestoreModel

/// The pending writes of some documents at one time.
struct PendingOverlays: Sendable {
  /// The documents, in the order of their paths.
  let keys: [DocumentKey]
  private let user: UTF8String
  private let overlays: [DocumentKey: Overlay]
  /// The number of the oldest pending write of each document.
  private let oldest: [DocumentKey: Int]

  init(_ keys: some Collection<DocumentKey>, of writes: PendingWrites) {
    user = writes.user
    guard !keys.isEmpty else {
      (self.keys, overlays, oldest) = ([], [:], [:])
      return
    }
    let queue = writes.queue
    self.keys = keys.sorted()
    overlays = Dictionary(uniqueKeysWithValues: self.keys.compactMap { key in queue.overlays[key].map { (key, $0) } })
    oldest = Dictionary(uniqueKeysWithValues: self.keys.compactMap { key in queue.oldest(of: key).map { (key, $0) } })
  }

  var isEmpty: Bool { keys.isEmpty }

  /// Whether none of the writes has been answered.
  func isPending(in writes: PendingWrites) -> Bool {
    if writes.user != user { return false }
    let queue = writes.queue
    return oldest.allSatisfy { queue.oldest(of: $0.key) == $0.value }
  }

  /// A document with its pending writes on top.
  func overlaid(_ document: CachedDocument) -> CachedDocument {
    guard let overlay = overlays[document.path] else { return document }
    var result = document
    _ = overlay.mutation.applyLocally(to: &result, mutated: .none, at: .zero)
    return result
  }
}

extension PendingWrites {
  /// The pending writes of a document.
  func pending(at key: DocumentKey) -> PendingOverlays {
    PendingOverlays(hasOverlays && queue.overlays[key] != nil ? [key] : [], of: self)
  }

  /// The pending writes of the documents that a query looks at.
  func pending(in query: LocalQuery) -> PendingOverlays { PendingOverlays(overlayKeys(of: query), of: self) }
}

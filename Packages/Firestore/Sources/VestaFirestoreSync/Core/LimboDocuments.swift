import VestaFirestoreBackend
import VestaFirestoreModel

/// Documents in limbo: views show them, and their targets do not have them.
///
/// Each is asked for by name.
///
/// A document *waits*, is *asked for* by a target that has no listener, or is *resolved*: then no view has it in limbo
/// any longer, or the backend has refused it. At most `limit` are asked for at once.
///
/// Worked example, with a limit of one: `rooms/a` and `rooms/b` enter limbo in target 2. `track` wants to listen to
/// target 1, of `rooms/a`; `rooms/b` waits. The backend sends `rooms/a`, and the view of target 2 has it no longer in
/// limbo: `track` wants to end target 1 and to listen to target 3, of `rooms/b`.
package struct LimboDocuments {
  /// The request of the owner to the watch link.
  enum Request {
    case listen(TargetRecord)
    case unlisten(Int32)
  }

  private struct Resolution {
    let key: DocumentKey
    var hasReceivedDocument = false
  }

  private let database: DatabaseName
  /// How many are asked for at once.
  private let limit: Int
  private var references = ReferenceSet()
  private var enqueued = KeyQueue()
  /// The documents that are asked for, with their targets.
  package private(set) var active: [DocumentKey: Int32] = [:]
  private var resolutions: [Int32: Resolution] = [:]
  private var ids = TargetIDs.limbo

  /// - Parameter limit: How many documents are asked for at once; `nil` for no limit.
  init(_ database: DatabaseName, limit: Int?) {
    self.database = database
    self.limit = limit ?? .max
  }

  /// The documents that wait.
  package var waiting: [DocumentKey] { enqueued.keys }

  /// How many documents are asked for, and targets ask for them.
  var counts: (active: Int, targets: Int) { (active.count, resolutions.count) }

  // MARK: Documents

  /// Takes the documents that entered or left limbo in a view of a target.
  ///
  /// - Parameter isInLimbo: Whether another view of the target has a document in limbo.
  mutating func track(
    _ changes: [QueryView.LimboChange], _ target: Int32, isInLimbo: (DocumentKey) -> Bool
  ) -> [Request] {
    var requests: [Request] = []
    for change in changes {
      switch change {
      case .added(let key): requests += insert(key, target)
      case .removed(let key): if !isInLimbo(key) { requests += remove(key, target) }
      }
    }
    return requests
  }

  /// Asks for a document on behalf of a target.
  mutating func insert(_ key: DocumentKey, _ target: Int32) -> [Request] {
    references.insert(key, target)
    guard active[key] == nil else { return [] }
    enqueued.append(key)
    return pump()
  }

  /// Ends the request for a document on behalf of a target.
  mutating func remove(_ key: DocumentKey, _ target: Int32) -> [Request] {
    references.remove(key, target)
    return references.contains(key) ? [] : end(key)
  }

  /// Ends the requests for documents on behalf of a target.
  mutating func removeAll(of target: Int32) -> [Request] {
    references.removeAll(of: target).flatMap { references.contains($0) ? [] : end($0) }
  }

  private mutating func end(_ key: DocumentKey) -> [Request] {
    enqueued.remove(key)
    guard let target = active.removeValue(forKey: key) else { return [] }
    resolutions[target] = nil
    return [.unlisten(target)] + pump()
  }

  private mutating func pump() -> [Request] {
    var requests: [Request] = []
    while active.count < limit, let key = enqueued.popFirst() {
      let id = ids.next()
      resolutions[id] = Resolution(key: key)
      active[key] = id
      let target = QueryTarget(database: database, path: key)
      requests.append(.listen(TargetRecord(target, id: id, purpose: .limboResolution, sequenceNumber: -1)))
    }
    return requests
  }

  // MARK: Messages of the backend

  /// Notes which targets have received their document, or lost it.
  mutating func note(_ changes: [Int32: TargetUpdate]) {
    if resolutions.isEmpty { return }
    for (target, change) in changes {
      if !change.added.isEmpty {
        resolutions[target]?.hasReceivedDocument = true
      } else if !change.removed.isEmpty {
        resolutions[target]?.hasReceivedDocument = false
      }
    }
  }

  /// Takes the refusal of a target.
  ///
  /// - Returns: Its document, which counts as absent; `nil` for another target.
  mutating func reject(_ target: Int32) -> (key: DocumentKey, requests: [Request])? {
    guard let resolution = resolutions.removeValue(forKey: target) else { return nil }
    active[resolution.key] = nil
    return (resolution.key, pump())
  }

  /// The documents of a target that the backend has sent; `nil` for another target.
  func keys(of target: Int32) -> Set<DocumentKey>? {
    if resolutions.isEmpty { return nil }
    return resolutions[target].map { $0.hasReceivedDocument ? [$0.key] : [] }
  }

  /// Whether the backend has sent a document of a target; `nil` for another target.
  func hasKey(of target: Int32, _ key: DocumentKey) -> Bool? {
    if resolutions.isEmpty { return nil }
    return resolutions[target].map { $0.hasReceivedDocument && $0.key == key }
  }
}

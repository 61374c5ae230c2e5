import VestaFirestoreBackend
import VestaFirestoreModel

/// Documents in limbo: views show them, and their targets do not have them. Each is asked for by name.
extension ClientMachine {
  /// Takes the documents that entered or left limbo in a view of a target.
  func track(_ changes: [View.LimboChange], _ target: Int32) {
    for change in changes {
      switch change {
      case .added(let key):
        limboReferences.insert(key, target)
        beginLimbo(key)
      case .removed(let key):
        // Two queries, of the first and of the last results, can have one target.
        if hasInLimbo(key, target) { continue }
        limboReferences.remove(key, target)
        if !limboReferences.contains(key) { endLimbo(key) }
      }
    }
  }

  private func hasInLimbo(_ key: DocumentKey, _ target: Int32) -> Bool {
    queriesByTarget[target]?.contains { views[$0]?.view.limboKeys.contains(key) ?? false } ?? false
  }

  func beginLimbo(_ key: DocumentKey) {
    guard activeLimbo[key] == nil else { return }
    enqueuedLimbo.append(key)
    pumpLimbo()
  }

  func endLimbo(_ key: DocumentKey) {
    enqueuedLimbo.remove(key)
    guard let target = activeLimbo.removeValue(forKey: key) else { return }
    unlistenRemotely(target)
    limboResolutions[target] = nil
    pumpLimbo()
  }

  func pumpLimbo() {
    while activeLimbo.count < tuning.limboLimit ?? .max, let key = enqueuedLimbo.popFirst() {
      let id = limboIDs.next()
      limboResolutions[id] = LimboResolution(key: key)
      activeLimbo[key] = id
      let target = QueryTarget(database: database, path: key)
      listenRemotely(TargetRecord(target, id: id, purpose: .limboResolution, sequenceNumber: -1))
    }
  }
}

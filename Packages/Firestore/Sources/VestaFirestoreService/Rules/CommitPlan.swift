import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// Writes with the documents they are of, worked out once for all runs of a store's transaction.
struct CommitPlan: Sendable {
  struct Target: Sendable {
    let pathKey: PathKey
    let path: ResourcePath
    let name: String
  }

  /// The documents, each once.
  let targets: [Target]
  /// The writes, and which target each is of.
  let writes: [(write: Write, target: Int)]
  /// Whether anything but verifications is asked for.
  let isChange: Bool
  /// Whether the writes are worth being applied before the transaction: they have long array transforms.
  let isPreparable: Bool
  /// The targets whose stored documents have to be taken apart, and not only replaced.
  let takenApart: Set<Int>

  /// - Parameters:
  ///   - paths: The documents that are written, one for each write.
  ///   - many: The number of elements of array transforms that take longer than the rest of a commit.
  init(_ writes: [Write], at paths: [ResourcePath], manyElements many: Int = CommitTuning().manyElements) {
    var targets: [Target] = []
    targets.reserveCapacity(writes.count)
    var indexes: [PathKey: Int] = [:]
    self.writes = zip(writes, paths).map { write, path in
      let pathKey = PathKey(path)
      if writes.count > 1 {
        if let known = indexes[pathKey] { return (write, known) }
        indexes[pathKey] = targets.count
      }
      targets.append(Target(pathKey: pathKey, path: path, name: write.name))
      return (write, targets.count - 1)
    }
    self.targets = targets
    let elements = writes.reduce(0) { $0 + $1.transforms.reduce(0) { $0 + $1.elementCount } }
    isPreparable = elements > many
    takenApart = Set(self.writes.lazy.filter { $0.write.takesApart }.map(\.target))
    isChange = writes.contains { write in
      if case .verify = write.operation { return false }
      return true
    }
  }

  /// The given documents that this plan does not write.
  func others(of pathKeys: some Collection<PathKey>) -> [PathKey] {
    let written = Set(targets.map(\.pathKey))
    return pathKeys.filter { !written.contains($0) }
  }
}

extension Write {
  /// Whether the outcome depends on the fields that are stored.
  fileprivate var takesApart: Bool {
    switch operation {
    case .update(_, nil, let transforms): !transforms.isEmpty
    case .update, .transform: true
    case .delete, .verify: false
    }
  }
}

extension FieldTransform {
  /// The number of elements that are added to an array or removed from it.
  fileprivate var elementCount: Int {
    switch operation {
    case .appendMissingElements(let elements), .removeAllFromArray(let elements): elements.count
    case .serverTimestamp, .increment, .maximum, .minimum: 0
    }
  }
}

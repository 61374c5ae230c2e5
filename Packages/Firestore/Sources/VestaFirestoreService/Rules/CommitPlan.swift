import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// Writes with the documents they are of, worked out once for all runs of a store's transaction.
struct CommitPlan: Sendable {
  struct Target: Sendable {
    let place: Place
    let path: ResourcePath
    let name: String
  }

  /// The documents, each once.
  let targets: [Target]
  /// The writes, and which target each is of.
  let writes: [(write: Write, target: Int)]
  /// Whether anything but verifications is asked for.
  let isChange: Bool

  /// - Parameter paths: The documents that are written, one for each write.
  init(_ writes: [Write], at paths: [ResourcePath]) {
    var targets: [Target] = []
    targets.reserveCapacity(writes.count)
    var indexes: [Place: Int] = [:]
    self.writes = zip(writes, paths).map { write, path in
      let place = Place(path)
      if writes.count > 1, let known = indexes[place] { return (write, known) }
      indexes[place] = targets.count
      targets.append(Target(place: place, path: path, name: write.name))
      return (write, targets.count - 1)
    }
    self.targets = targets
    isChange = writes.contains { write in
      if case .verify = write.operation { return false }
      return true
    }
  }

  /// The given documents that this plan does not write.
  func others(of places: some Collection<Place>) -> [Place] {
    let written = Set(targets.map(\.place))
    return places.filter { !written.contains($0) }
  }
}

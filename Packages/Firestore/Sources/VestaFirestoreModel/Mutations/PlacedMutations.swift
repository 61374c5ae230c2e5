import VestaFirestoreBackend

/// Mutations in their order, and where those of each document are.
///
/// A batch is applied document by document. If each looked through all mutations, a batch of 500 documents would take
/// 250,000 looks for each of its steps.
struct PlacedMutations: Sendable {
  /// The mutations in their order.
  let all: [Mutation]

  /// The positions of each document's mutations, in order; `nil` where looking through all is as fast.
  private let positions: [ResourcePath: [Int]]?

  /// A few comparisons cost less than a table.
  private static let placedFrom = 5

  init(_ all: [Mutation]) {
    self.all = all
    guard all.count >= Self.placedFrom else {
      positions = nil
      return
    }
    var places: [ResourcePath: [Int]] = [:]
    places.reserveCapacity(all.count)
    for index in all.indices { places[all[index].path, default: []].append(index) }
    positions = places
  }

  /// The positions of the mutations of a document, in order.
  func positions(of path: ResourcePath) -> [Int] {
    guard let positions else { return all.indices.filter { all[$0].path == path } }
    return positions[path] ?? []
  }
}

extension PlacedMutations: Hashable {
  /// Whether the mutations are equal.
  static func == (left: PlacedMutations, right: PlacedMutations) -> Bool { left.all == right.all }

  /// Feeds the mutations.
  func hash(into hasher: inout Hasher) { hasher.combine(all) }
}

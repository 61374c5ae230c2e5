import VestaFirestoreBackend
package import VestaFirestoreModel
package import VestaStoreInterop

/// The plan of a query: the scans for each alternative of its filter, made of the query's needs and of the indexes that
/// exist.
package struct QueryPlan: Equatable, Sendable {
  /// A range of an index, or of the documents of a collection, which are in the order of their names.
  package struct Scan: Equatable, Sendable {
    package enum Source: Equatable, Sendable {
      case documents(ResourcePath)
      case index(id: Int64, IndexShape)
    }

    package var source: Source
    /// The encoded values of the equalities, which follow the number of the index in a key.
    package var prefix: [UInt8] = []
    /// Whether every direction is the opposite of the query's: then it is read backwards.
    package var isTurned: Bool

    package init(source: Source, prefix: [UInt8] = [], isTurned: Bool) {
      self.source = source
      self.prefix = prefix
      self.isTurned = isTurned
    }
  }

  /// One alternative: the entries that all of its scans have.
  package struct Branch: Equatable, Sendable {
    package var scans: [Scan]
    package var bounds: KeyRange
    package var test: SuffixTest

    package init(scans: [Scan], bounds: KeyRange, test: SuffixTest) {
      self.scans = scans
      self.bounds = bounds
      self.test = test
    }
  }

  package var branches: [Branch]
  /// Whether entries alone say which documents match.
  package var isDecided: Bool
  /// Whether documents are looked at for want of an index.
  package var isScan: Bool

  package init(branches: [Branch], isDecided: Bool, isScan: Bool = false) {
    self.branches = branches
    self.isDecided = isDecided
    self.isScan = isScan
  }

  /// Whether every entry that is looked at is one of a result.
  package var isDirect: Bool { isDecided && branches.allSatisfy { $0.test.isEmpty && $0.scans.count == 1 } }

  /// The indexes that are used, each once; `nil` for the documents themselves.
  package var shapes: [IndexShape?] {
    var shapes: [IndexShape?] = []
    for scan in branches.flatMap(\.scans) {
      var shape: IndexShape?
      if case .index(_, let known) = scan.source { shape = known }
      if !shapes.contains(shape) { shapes.append(shape) }
    }
    return shapes
  }
}

/// The outcome of planning.
package struct PlanOutcome: Equatable, Sendable {
  /// `nil` while an index is missing.
  package var plan: QueryPlan?
  /// The indexes to be made, so that the query costs its result the next time.
  package var missing: [IndexShape] = []
}

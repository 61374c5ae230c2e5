import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

/// The indexes as queries see them: which ones there are, and what queries report about them.
protocol QueryIndexes: Sendable {
  /// The indexes that the program declares.
  var declared: DeclaredIndexes { get }

  /// The indexes that a reader sees.
  func catalogue(in reader: any StoreReader) async throws -> IndexCatalogue

  /// Notes that a query has used an index.
  func use(_ index: IndexCatalogue.Index)

  /// Notes that a query lacks indexes; the ones that are needed often enough are made.
  func want(_ shapes: [IndexShape], _ catalogue: IndexCatalogue)

  /// Refuses a query that production would refuse for want of an index, if the options say so.
  ///
  /// - Throws: `FAILED_PRECONDITION` that names the index which is missing or not ready.
  func check(_ query: NormalQuery, figures: [FieldPath], in reader: any StoreReader) async throws
}

extension QueryIndexes {
  func check(_ query: NormalQuery, in reader: any StoreReader) async throws {
    try await check(query, figures: [], in: reader)
  }

  /// Notes that a query has used the indexes of a plan.
  func use(_ plan: QueryPlan, _ catalogue: IndexCatalogue) {
    for case let shape? in plan.shapes {
      if let index = catalogue.byShape[shape] { use(index) }
    }
  }
}

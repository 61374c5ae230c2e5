import Foundation
import VestaConcurrency
import VestaFirestoreIndexes
import VestaFirestoreModel

/// Queries that look at all documents while an index of these is being made.
extension IndexKeeper {
  /// The number of looks that continue at once: more would only slow one another down, and the index that all wait for.
  static let scansAtOnce = max(1, ProcessInfo.processInfo.activeProcessorCount)

  /// Reads the next page of a query: a part of a look at all documents when it is its turn.
  ///
  /// Between two parts the index may become ready, which the rest of the look then needs no longer.
  func inTurn(_ position: QueryPosition, _ page: () async throws -> QueryPage) async throws -> QueryPage {
    let collection = position.query.collectionID
    guard position.scan != nil, state.withLock({ $0.building.keys.contains { $0.collectionID == collection } }) else {
      return try await page()
    }
    return try await scans.run(page)
  }
}

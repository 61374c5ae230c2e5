package import VestaBytes
import VestaFirestoreModel

/// The rows of the cache that an event has changed and that must be written.
package struct CacheChanges: Sendable {
  /// Documents of the backend.
  package var documents: Set<DocumentKey> = []
  /// Pending writes, by user and batch.
  package var batches: Set<UserBatch> = []
  /// Targets.
  package var targets: Set<Int32> = []
  /// Documents of targets.
  package var targetDocuments: Set<TargetDocument> = []
  /// Bundles.
  package var bundles: Set<UTF8String> = []
  /// Named queries.
  package var namedQueries: Set<UTF8String> = []
  /// Whether the row of the cache as a whole has changed.
  package var globals = false

  /// No changes.
  package init() {}

  /// Whether nothing has changed.
  package var isEmpty: Bool {
    documents.isEmpty && batches.isEmpty && targets.isEmpty
      && targetDocuments.isEmpty && bundles.isEmpty && namedQueries.isEmpty && !globals
  }

  /// A batch of a user.
  package struct UserBatch: Sendable, Hashable {
    /// The user; empty for none.
    package let user: UTF8String
    /// The batch.
    package let id: Int

    /// The key of its row.
    var key: CacheKey { .batch(user: user, id) }
  }

  /// A document of a target.
  package struct TargetDocument: Sendable, Hashable {
    /// The target.
    package let id: Int32
    /// The document.
    package let key: DocumentKey
  }
}

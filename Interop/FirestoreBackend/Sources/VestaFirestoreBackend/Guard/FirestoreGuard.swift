public import VestaConcurrency
public import VestaServiceInterop

/// Decides which calls of a `FirestoreBackend` its callers may make; only the engine asks it.
///
/// | call | asked |
/// |---|---|
/// | `batchGet`, a listen target of documents | ``mayGet(_:_:state:at:context:)`` for each name, found or not |
/// | `runQuery`, `runAggregation`, `listDocuments`, a listen target of a query | ``mayList(_:state:at:context:)`` once, before anything is read for it |
/// | `commit`, each request of `write` | ``mayCommit(_:state:at:context:)`` once, about all writes together |
/// | `batchWrite` | ``mayCommit(_:state:at:context:)`` for each write by itself |
/// | `listCollectionIDs`, `partitionQuery` | not at all: they are for owners |
///
/// - A write is asked about in its transaction, with the document before and after it: fields merged, transforms
///   applied, times of the server equal to the time of the question. Documents are looked up as they are before the
///   commit, in the same transaction; the state after it follows from the writes.
/// - It is asked before preconditions are looked at, so that a caller who is denied learns nothing of the documents.
///   The call fails with `PERMISSION_DENIED`, nothing has changed, and its transaction has ended. A denied target ends
///   with that cause.
/// - Each target of a listen call is asked about again when the rules change (``observe(_:)``); another user needs
///   another call. Documents that are followed by name are asked about at each change. Documents that enter the
///   results of a query are not asked about, and of documents that leave them the name alone is sent.
/// - A caller for whom `CallContext.isOwner` holds is not asked about.
///
/// An engine without a guard checks no rules.
public protocol FirestoreGuard: Sendable {
  /// Whether the caller may get a document, where that is known without waiting and without another document.
  ///
  /// Gets are short, and most rules look at the document and its reader alone.
  ///
  /// - Parameters:
  ///   - name: The full name.
  ///   - document: The document; `nil` where there is none.
  ///   - time: Returns the time of the call.
  ///   - context: The caller.
  /// - Returns: The answer of ``mayGet(_:_:state:at:context:)``; `nil` where that has to be asked.
  func mayGetAtOnce(
    _ name: String, _ document: Document?, at time: () -> Timestamp, context: CallContext
  ) -> Bool?

  /// Whether the caller may get a document.
  ///
  /// - Parameters:
  ///   - name: The full name.
  ///   - document: The document; `nil` where there is none.
  ///   - state: The documents at the version that is read.
  ///   - time: The time of the call.
  ///   - context: The caller.
  /// - Throws: `FirestoreServiceError` where it cannot decide; the call fails with it.
  nonisolated(nonsending) func mayGet(
    _ name: String, _ document: Document?, state: any FirestoreGuardState, at time: Timestamp, context: CallContext
  ) async throws -> Bool

  /// Whether the caller may have all documents that a query can return.
  ///
  /// - Throws: `FirestoreServiceError` where it cannot decide; the call fails with it.
  nonisolated(nonsending) func mayList(
    _ query: FirestoreGuardedQuery, state: any FirestoreGuardState, at time: Timestamp, context: CallContext
  ) async throws -> Bool

  /// Whether the caller may commit writes together.
  ///
  /// It is called while a transaction of the engine is open, perhaps more than once for a commit whose transaction has
  /// to be repeated: it must not call the engine, and changes nothing.
  ///
  /// - Parameters:
  ///   - writes: The writes in their order; of several to one document each continues from the one before.
  ///   - state: The documents before the commit.
  ///   - time: The time of the commit, which times of the server in it have.
  ///   - context: The caller.
  /// - Throws: `FirestoreServiceError` where it cannot decide; the call fails with it and has changed nothing.
  nonisolated(nonsending) func mayCommit(
    _ writes: [FirestoreGuardedWrite], state: any FirestoreGuardState, at time: Timestamp, context: CallContext
  ) async throws -> Bool

  /// Calls back after each change of the rules, on any thread, until the registration is cancelled.
  func observe(_ changed: @escaping @Sendable () -> Void) -> ListenerRegistration
}

extension FirestoreGuard {
  /// Returns that it has to be asked with the documents of a version.
  public func mayGetAtOnce(
    _ name: String, _ document: Document?, at time: () -> Timestamp, context: CallContext
  ) -> Bool? { nil }
}

/// A query that a guard decides about.
public struct FirestoreGuardedQuery: Sendable, Hashable {
  /// The parent: `…/documents`, or a document.
  public var parent: String
  /// The query; of `listDocuments` one without a filter, whose limit is the size of a page.
  public var query: StructuredQuery

  /// A query.
  public init(parent: String, query: StructuredQuery) {
    self.parent = parent
    self.query = query
  }
}

/// A write that a guard decides about.
public struct FirestoreGuardedWrite: Sendable, Hashable {
  /// The kinds of writes; setting, updating and transforming differ in the document after them alone.
  public enum Kind: Sendable, Hashable {
    /// Creates or changes the document.
    case change
    /// Deletes the document.
    case deletion
    /// Changes nothing: needs what a get needs.
    case verification
  }

  /// The full name.
  public var name: String
  /// The kind.
  public var kind: Kind
  /// The document before the write; `nil` where there is none.
  public var before: Document?
  /// The document after the write; `nil` where there is none.
  public var after: Document?
  /// The demand of the write on the document, which is not looked at yet: it tells a creation from an update.
  public var precondition: Precondition?

  /// A write.
  public init(_ kind: Kind, _ name: String, before: Document?, after: Document?, precondition: Precondition? = nil) {
    self.kind = kind
    self.name = name
    self.before = before
    self.after = after
    self.precondition = precondition
  }
}

/// The documents that a guard looks up, at one version; valid during the question only.
public protocol FirestoreGuardState {
  /// The document of a full name; `nil` where there is none.
  nonisolated(nonsending) func document(_ name: String) async throws -> Document?
}

package import VestaFirestoreModel
package import VestaStoreInterop

/// Documents and entries of indexes at one version, as plans read them: the engine's store, or a client's cache.
///
/// Keys are the owner's own, but for what follows two prefixes: an entry's key ends with what `IndexShape.entries`
/// makes of a document, and its value is an `EntryValue`; a document's key ends with the last segment of its path, as
/// `PathKey` has it. So a plan is made and read in the same way wherever documents are kept.
///
/// ```swift
/// let needs = QueryNeeds(query)
/// let outcome = QueryPlanner(needs, catalogue, isForbidden: { _ in false }).outcome()
/// var entries = EntryUnion(plan, wanted: limit, in: reader)
/// while let (entry, branch) = try await entries.next() { visit(entries.document(entry, branch).pathKey) }
/// ```
package protocol IndexedReader {
  /// The sizes of the pieces in which entries are read.
  var entryTuning: EntryTuning { get }

  /// Visits the keys of a range in order; as `StoreReader.scan`.
  func scan(
    _ range: KeyRange, order: ScanOrder, limit: Int?, _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd

  /// Returns the key prefix of an index's entries.
  func entryPrefix(ofIndex id: Int64) -> [UInt8]

  /// Returns the key prefix of a collection's documents.
  func documentPrefix(of collection: ResourcePath) -> [UInt8]
}

import Testing
import VestaFirestoreBackend
import VestaFirestoreModel

@testable import VestaFirestore
@testable import VestaFirestoreSync

/// Snapshots, queries and options are equal if all of their parts are.
@Suite struct EqualityTests {
  private let db = testDatabase

  /// Checks that a value equals another of the same parts, and none of those with another part.
  private func check<Value: Equatable>(_ value: Value, equals same: Value, andNot others: [Value]) {
    #expect(value == same)
    for other in others { #expect(value != other) }
  }

  private func document(_ id: String, _ number: Int64) -> CachedDocument {
    CachedDocument(
      ResourceName(database: db.database, path: ResourcePath(["c", id])), .found(["n": .integer(number)]),
      version: WireTimestamp(seconds: 1))
  }

  @Test func `metadata are equal in both of their parts`() {
    func metadata(_ isPending: Bool, _ isFromCache: Bool) -> SnapshotMetadata {
      SnapshotMetadata(hasPendingWrites: isPending, isFromCache: isFromCache)
    }
    for isPending in [false, true] {
      for isFromCache in [false, true] {
        check(
          metadata(isPending, isFromCache), equals: metadata(isPending, isFromCache),
          andNot: [
            metadata(!isPending, isFromCache), metadata(isPending, !isFromCache), metadata(!isPending, !isFromCache),
          ])
      }
    }
  }

  @Test func `snapshots of a document are equal in reference, fields and metadata`() {
    func snapshot(_ id: String, _ document: CachedDocument?, isFromCache: Bool = false) -> DocumentSnapshot {
      DocumentSnapshot(
        reference: db.document("c/\(id)"), document: document,
        metadata: SnapshotMetadata(hasPendingWrites: false, isFromCache: isFromCache))
    }
    check(
      snapshot("a", document("a", 1)), equals: snapshot("a", document("a", 1)),
      andNot: [
        snapshot("a", document("a", 2)), snapshot("a", nil), snapshot("b", document("b", 1)),
        snapshot("b", document("a", 1)), snapshot("a", document("a", 1), isFromCache: true),
      ])
    check(snapshot("a", nil), equals: snapshot("a", nil), andNot: [snapshot("b", nil)])
  }

  @Test func `snapshots of a query are equal in results, changes and metadata`() throws {
    func snapshot(_ number: Int64, isFirst: Bool = true, isFromCache: Bool = false) throws -> QuerySnapshot {
      let query = db.collection("c")
      let local = try query.description.local()
      var (old, new) = (DocumentSet(orders: local.orders), DocumentSet(orders: local.orders))
      if !isFirst { old.insert(document("a", 0)) }
      new.insert(document("a", number))
      let change = DocumentViewChange(isFirst ? .added : .modified, document("a", number))
      let view = ViewSnapshot(
        query: local, id: QueryID(local), documents: new, oldDocuments: old, changes: [change], mutatedKeys: [],
        isFromCache: isFromCache, syncStateChanged: true, excludesMetadataChanges: true, hasCachedResults: false)
      return QuerySnapshot(query: query, view: view)
    }
    check(
      try snapshot(1), equals: try snapshot(1),
      andNot: [try snapshot(2), try snapshot(1, isFirst: false), try snapshot(1, isFromCache: true)])
  }

  @Test func `figures are equal when they are of the same query and have the same values`() {
    func snapshot(_ collection: String, _ count: Int64) -> AggregateQuerySnapshot {
      AggregateQuerySnapshot(query: db.collection(collection).count, values: [.count(): .integer(count)])
    }
    check(snapshot("c", 1), equals: snapshot("c", 1), andNot: [snapshot("c", 2), snapshot("d", 1), snapshot("d", 2)])
  }

  @Test func `filters are equal when they are written in the same way`() {
    func filter(_ field: String, _ number: Int) -> Filter { .whereField(field, isEqualTo: number) }
    check(
      filter("a", 1), equals: filter("a", 1),
      andNot: [filter("a", 2), filter("b", 1), .whereField("a", isGreaterThan: 1), .andFilter([filter("a", 1)])])
    check(
      Filter.orFilter([filter("a", 1), filter("b", 2)]), equals: .orFilter([filter("a", 1), filter("b", 2)]),
      andNot: [.andFilter([filter("a", 1), filter("b", 2)]), .orFilter([filter("a", 1)])])
  }

  @Test func `options of listeners are equal in both of their parts, and leave metadata out unless told`() {
    let plain = SnapshotListenOptions()
    #expect(plain.source == .default)
    #expect(!plain.includeMetadataChanges)
    let (cache, metadata) = (plain.withSource(.cache), plain.withIncludeMetadataChanges(true))
    check(plain, equals: SnapshotListenOptions(), andNot: [cache, metadata, cache.withIncludeMetadataChanges(true)])
    check(cache, equals: plain.withSource(.cache), andNot: [metadata])
    check(metadata, equals: plain.withIncludeMetadataChanges(true), andNot: [metadata.withSource(.cache)])
  }

  @Test func `the progress of loading a bundle is equal in all counts and the state`() {
    func progress(
      _ loaded: Int, of total: Int = 4, bytes: Int = 100, ofBytes totalBytes: Int = 400,
      _ state: LoadBundleTaskState = .inProgress
    ) -> LoadBundleTaskProgress {
      var progress = BundleProgress()
      (progress.documentsLoaded, progress.totalDocuments) = (loaded, total)
      (progress.bytesLoaded, progress.totalBytes) = (bytes, totalBytes)
      return LoadBundleTaskProgress(progress, state: state)
    }
    check(
      progress(1), equals: progress(1),
      andNot: [
        progress(2), progress(1, of: 5), progress(1, bytes: 101), progress(1, ofBytes: 401), progress(1, .success),
        progress(2, .error),
      ])
  }
}

import Testing
import VestaFirestoreBackend
import VestaFirestoreModel

@testable import VestaFirestore

/// The filters, orders and limits that a query accepts, and the errors for all others.
@Suite(.timeLimit(.minutes(15)))
struct QueryRuleTests {
  private let cities = testDatabase.collection("cities")

  private func failure(_ query: Query) -> String? { query.description.failure?.message }

  @Test func `a limit is at least one`() {
    for limit in [0, -1] {
      let text = "Invalid Query. Query limit (\(limit)) is invalid. Limit must be positive."
      #expect(failure(cities.limit(to: limit)) == text)
      #expect(failure(cities.order(by: "n").limit(toLast: limit)) == text)
    }
    #expect(failure(cities.limit(to: 1)) == nil)
  }

  @Test func `an order is ascending unless told`() {
    #expect(cities.order(by: FieldPath(["n"])) == cities.order(by: "n", descending: false))
    #expect(cities.order(by: "n") == cities.order(by: FieldPath(["n"]), descending: false))
    #expect(cities.order(by: "n") != cities.order(by: "n", descending: true))
  }

  @Test func `a document of a collection group is named by its path, which has an even number of segments`() {
    let group = testDatabase.collectionGroup("cities")
    func query(_ id: String) -> Query { group.whereField(FieldPath.documentID(), isEqualTo: id) }
    #expect(failure(query("cities/berlin")) == nil)
    for (path, count) in [("berlin", 1), ("lands/de/cities", 3)] {
      #expect(
        failure(query(path))
          == "Invalid query. When querying a collection group by document ID, the value provided must result in a valid "
          + "document path, but '\(path)' is not because it has an odd number of segments (\(count)).")
    }
  }

  @Test func `filters over several values need at least one and take arrays among them`() {
    let makers: [(name: String, make: ([Any]) -> Query)] = [
      ("in", { cities.whereField("n", in: $0) }), ("notIn", { cities.whereField("n", notIn: $0) }),
      ("arrayContainsAny", { cities.whereField("n", arrayContainsAny: $0) }),
    ]
    for (name, make) in makers {
      #expect(failure(make([])) == "Invalid Query. A non-empty array is required for '\(name)' filters.")
      #expect(failure(make([[1, 2], 3])) == nil)
    }
  }

  @Test func `of several filters that a new one must not meet, the first in the query is named`() {
    let (first, second) = (cities.whereField("a", in: [1]), cities.whereField("a", arrayContainsAny: [1]))
    let notIn = "Invalid Query. You cannot use 'notIn' filters with "
    #expect(
      failure(first.whereField("b", arrayContainsAny: [1]).whereField("c", notIn: [1])) == notIn + "'in' filters.")
    #expect(
      failure(second.whereField("b", in: [1]).whereField("c", notIn: [1])) == notIn + "'arrayContainsAny' filters.")
    #expect(
      failure(cities.whereField("a", notIn: [1]).whereField("b", notIn: [2]))
        == "Invalid Query. You cannot use more than one 'notIn' filter.")
  }

  @Test func `a document with a server timestamp that is pending in an order of the query is no cursor`() throws {
    func snapshot(_ value: Value) -> DocumentSnapshot {
      let reference = cities.document("berlin")
      return DocumentSnapshot(
        reference: reference,
        document: CachedDocument(reference.resource, .found(["at": value]), version: WireTimestamp(seconds: 1)),
        metadata: SnapshotMetadata(hasPendingWrites: false, isFromCache: false))
    }
    let query = cities.order(by: "at")
    let pending = snapshot(.pendingServerTimestamp(writeTime: WireTimestamp(seconds: 9), previous: .integer(1)))
    let text =
      "Invalid query. You are trying to start or end a query using a document for which the field 'at' is an "
      + "uncommitted server timestamp. (Since the value of this field is unknown, you cannot start/end a query with it.)"
    for cursor in [
      query.start(atDocument: pending), query.start(afterDocument: pending), query.end(atDocument: pending),
      query.end(beforeDocument: pending),
    ] { #expect(failure(cursor) == text) }
    let time = Value.timestamp(WireTimestamp(seconds: 9))
    let started = query.start(atDocument: snapshot(time))
    #expect(failure(started) == nil)
    #expect(started.description.startAt?.values == [time, .reference(cities.document("berlin").resource.description)])
    #expect(failure(cities.order(by: "name").start(atDocument: pending)) != text)
  }

  @Test func `a stream of a query that was put together wrongly throws the mistake`() async throws {
    let error = await #expect(throws: FirestoreErrorCode.self) {
      for try await _ in cities.limit(to: 0).snapshots { break }
    }
    #expect(error?.code == .invalidArgument)
  }
}

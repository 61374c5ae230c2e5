import Foundation
import Testing
import VestaBytes
import VestaCore
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreService
import VestaFirestoreSync

@testable import VestaFirestore

/// The cases of the client conformance suite about queries, where the data lies next to the checkout.
///
/// They were made for server SDKs. Without a counterpart here: `select`, `offset`, operators as strings, field paths
/// that stop the program, and the refusals in `isRefusedByServersAlone(_:)`. Mobile SDKs add the implicit orders to
/// what they send, so queries are compared with theirs.
@Suite struct RecordedQueryTests {
  private static let parent = "projects/projectID/databases/(default)/documents"

  @Test(.enabled(if: RecordedWriteTests.hasData, "the conformance data is not beside the checkout"))
  func `every query is sent as recorded`() async throws {
    let app = try VestaApp.configure(
      name: "recorded-queries", options: VestaOptions(projectID: "projectID"),
      libraries: [FirestoreLibrary.self, FirestoreServiceLibrary.self, MemoryStoresLibrary.self])
    let db = try Firestore.instance(for: app)
    var checked = 0
    for file in try FileManager.default.contentsOfDirectory(
      at: RecordedWriteTests.folder, includingPropertiesForKeys: nil)
    {
      let json = try JSONValue(json: Array(Data(contentsOf: file)), limits: JSONLimits(maximumDepth: 64))
      for test in json.object?["tests"]?.array ?? [] {
        guard let object = test.object?["query"]?.object, let query = try query(object, db) else { continue }
        check(file.lastPathComponent, query, object)
        checked += 1
      }
    }
    #expect(checked > 25)
    await app.delete()
  }

  private func check(_ name: String, _ query: Query, _ json: JSONObject) {
    do {
      let sent = try query.description.local()
      guard json["isError"]?.bool != true else {
        if !isRefusedByServersAlone(json) { Issue.record("\(name) must be refused") }
        return
      }
      let recorded = try WireJSON.structuredQuery(
        json["query"] ?? .null, parent: Self.parent, in: query.description.database)
      #expect(sent.canonicalID == recorded.canonicalID, "\(name)")
    } catch {
      if json["isError"]?.bool != true { Issue.record("\(name) is refused: \(error)") }
    }
  }

  /// Comparisons with null and NaN, which mobile SDKs leave to the service; a cursor without values; and a document of
  /// another collection as a cursor.
  private func isRefusedByServersAlone(_ json: JSONObject) -> Bool {
    (json["clauses"]?.array ?? []).contains { clause in
      let operand = clause.object?["where"]?.object?["jsonValue"]?.string
      if operand == "\"NaN\"" || operand == "null" { return true }
      for name in ["startAt", "startAfter", "endAt", "endBefore"] {
        guard let cursor = clause.object?[name]?.object else { continue }
        if cursor["jsonValues"] == nil, cursor["docSnapshot"] == nil { return true }
        if cursor["docSnapshot"]?.object?["path"]?.string?.contains("/C2/") == true { return true }
      }
      return false
    }
  }

  /// The query as a program of the SDK writes it; `nil` where there is no call for it.
  private func query(_ json: JSONObject, _ db: Firestore) throws -> Query? {
    let collection = (json["collPath"]?.string ?? "").split(separator: "/").dropFirst(5).joined(separator: "/")
    var query: Query = db.collection(collection)
    for clause in json["clauses"]?.array ?? [] {
      guard let object = clause.object, let next = try add(object, to: query, db) else { return nil }
      query = next
    }
    return query
  }

  private func add(_ clause: JSONObject, to query: Query, _ db: Firestore) throws -> Query? {
    if let condition = clause["where"]?.object {
      guard let path = path(condition["path"]) else { return nil }
      let value = Recorded.native(try JSONValue(json: condition["jsonValue"]?.string ?? "null"))
      switch condition["op"]?.string {
      case "==": return query.whereField(path, isEqualTo: value)
      case "<": return query.whereField(path, isLessThan: value)
      case "<=": return query.whereField(path, isLessThanOrEqualTo: value)
      case ">": return query.whereField(path, isGreaterThan: value)
      case ">=": return query.whereField(path, isGreaterThanOrEqualTo: value)
      default: return nil
      }
    }
    if let order = clause["orderBy"]?.object {
      guard let path = path(order["path"]) else { return nil }
      return query.order(by: path, descending: order["direction"]?.string == "desc")
    }
    if let limit = clause["limit"]?.integer { return query.limit(to: Int(limit)) }
    if let cursor = clause["startAt"]?.object {
      return try at(cursor, db, query.start(at:), query.start(atDocument:))
    }
    if let cursor = clause["startAfter"]?.object {
      return try at(cursor, db, query.start(after:), query.start(afterDocument:))
    }
    if let cursor = clause["endAt"]?.object { return try at(cursor, db, query.end(at:), query.end(atDocument:)) }
    if let cursor = clause["endBefore"]?.object {
      return try at(cursor, db, query.end(before:), query.end(beforeDocument:))
    }
    return nil
  }

  private func path(_ json: JSONValue?) -> VestaFirestore.FieldPath? {
    let names = (json?.object?["field"]?.array ?? []).compactMap(\.string)
    if names == ["__name__"] { return .documentID() }
    // The public initializer stops the program for an empty name, as upstream does.
    return names.isEmpty || names.contains("") ? nil : VestaFirestore.FieldPath(names)
  }

  private func at(
    _ json: JSONObject, _ db: Firestore, _ values: ([Any]) -> Query, _ document: (DocumentSnapshot) -> Query
  ) throws -> Query {
    guard let snapshot = json["docSnapshot"]?.object else {
      return values(
        try (json["jsonValues"]?.array ?? []).map { Recorded.native(try JSONValue(json: $0.string ?? "null")) })
    }
    let path = (snapshot["path"]?.string ?? "").split(separator: "/").dropFirst(5).joined(separator: "/")
    let reference = db.document(path)
    let fields = try JSONValue(json: snapshot["jsonData"]?.string ?? "{}").object?.members ?? []
    let data = Dictionary(fields.map { ($0.name, Recorded.native($0.value)) }) { _, new in new }
    let mutation = try Mutation.set(reference, UserValue.entries(of: data), as: .set)
    guard case .set(let map) = mutation.change else { throw CancellationError() }
    let name = ResourceName(database: db.database, path: reference.resourcePath)
    return document(
      DocumentSnapshot(
        reference: reference, document: CachedDocument(name, .found(map), version: WireTimestamp(seconds: 1)),
        metadata: SnapshotMetadata(hasPendingWrites: false, isFromCache: false)))
  }
}

import Foundation
import Testing
import VestaTesting

@testable import VestaDatabase
@testable import VestaDatabaseService

/// Every way to use the client wrongly: the sentence says what is wrong, and nothing is written.
@Suite(.timeLimit(.minutes(20)))
struct MisuseTests {
  private static let keys = "Keys must be non-empty and cannot contain '/' '.' '#' '$' '[' or ']'"
  private static let path = "Must be a non-empty string and not contain '.' '#' '$' '[' or ']'"

  struct Write: Sendable {
    let text: String
    let run: @Sendable (DatabaseReference) async throws -> Void

    init(_ text: String, _ run: @escaping @Sendable (DatabaseReference) async throws -> Void) {
      (self.text, self.run) = (text, run)
    }
  }

  static let writes: [Write] = [
    Write("(child:) \(path)") { _ = try await $0.child("a.b").setValue(1) },
    Write("(child:) \(path)") { _ = try await $0.child("").setValue(1) },
    Write("(referenceWithPath:) \(path)") { _ = try await $0.database.reference(withPath: "a#b").setValue(1) },
    Write("(cancelDisconnectOperations) failed to path /.info/x: Can't modify data under .info") {
      _ = try await $0.root.child(".info/x").cancelDisconnectOperations()
    },
    Write("(setValue:) failed to path /.info/x: Can't modify data under .info") {
      _ = try await $0.root.child(".info/x").setValue(1)
    },
    Write("(setValue:) Invalid key in object at path: p. \(keys)") { _ = try await $0.setValue(["a": 1, "b/c": 2]) },
    Write("(setValue:) Invalid key in object at path: p/a. \(keys)") { _ = try await $0.setValue(["a": ["": 2]]) },
    Write("(setValue:) Invalid key in object at path: p. \(keys)") { _ = try await $0.setValue(["a\u{7F}": 2]) },
    Write("(setValue:) Cannot store NaN at path: p/k.") { _ = try await $0.setValue(["a": 1, "k": Double.nan]) },
    Write("(setValue:) Cannot store NaN at path: p.") { _ = try await $0.setValue(-Double.infinity) },
    Write(
      """
      (setValue:) Cannot store object of type Date at p/d. \
      Can only store objects of type NSNumber, NSString, NSDictionary, and NSArray.
      """
    ) { _ = try await $0.setValue(["a": 1, "d": Date(timeIntervalSince1970: 0)] as [String: Any]) },
    Write("(setValue:) String exceeds max size of 10485760 utf8 bytes: p/s") {
      _ = try await $0.setValue(["a": "x", "s": String(repeating: "é", count: 5_242_881)])
    },
    Write(
      "(setValue:) path specified exceeds the maximum depth that can be written (32) or object contains a cycle"
    ) { reference in
      // The reference has a separate key.
      var value: Any = 1
      for _ in 0..<32 { value = ["d": value] }
      _ = try await reference.setValue(["a": 1, "b": value] as [String: Any])
    },
    Write("(setValue:) has a key path longer than 768 bytes (769).") {
      _ = try await $0.setValue(["a": 1, String(repeating: "k", count: 769): 2])
    },
    Write("(setValue:) Cannot store other keys with server value keys.") {
      _ = try await $0.setValue([".sv": "timestamp", "a": 1] as [String: Any])
    },
    Write("(setPriority:) Cannot store true/false as priority at path: p.") { _ = try await $0.setPriority(true) },
    Write("(setPriority:) Cannot store NaN as priority at path: p.") { _ = try await $0.setPriority(Double.nan) },
    Write("(setValue:andPriority:) Cannot store an NSDictionary as priority at path: p.") {
      _ = try await $0.setValue(1, andPriority: ["a": 1])
    },
    Write("(setValue:andPriority:) Cannot store an NSArray as priority at path: p.") {
      _ = try await $0.setValue(1, andPriority: [1])
    },
    Write(
      "(updateChildValues:) Invalid key in object. Keys must be non-empty and cannot contain '.' '#' '$' '[' or ']'"
    ) {
      _ = try await $0.updateChildValues(["a": 1, "b.c": 2])
    },
    Write("(updateChildValues:) Invalid path in object. Path (/a) is an ancestor of (/a/b).") {
      _ = try await $0.updateChildValues(["a": 1, "a/b": 2, "c": 3])
    },
    Write("(updateChildValues:) Cannot store NaN at path: p/b.") {
      _ = try await $0.updateChildValues(["a": 1, "b": Double.nan])
    },
    Write("(onDisconnectSetValue:) Cannot store NaN at path: p.") {
      _ = try await $0.onDisconnectSetValue(Double.nan)
    },
    Write("(setValue:) Cannot store NaN at path: p/q.") { reference in
      _ = try await reference.runTransactionBlock { data in
        data.value = ["a": 1, "q": Double.nan]
        return .success(withValue: data)
      }
    },
  ]

  @Test func `a write that cannot be stored fails with Firebase's sentence, and leaves nothing behind`() async throws {
    let world = World()
    let client = world.client()
    let reference = client.reference(withPath: "p")
    for (number, write) in Self.writes.enumerated() {
      do {
        try await write.run(reference)
        Issue.record("write \(number) was accepted: \(write.text)")
      } catch {
        let text = (error as? DatabaseError)?.message ?? "\(error)"
        // A value that a transaction's block sets was set by no function.
        #expect(text == write.text || "(setValue:) \(text)" == write.text, "write \(number)")
        #expect((error as NSError).domain == "com.firebase" && (error as NSError).code == 9999)
      }
    }
    await client.shutDown()
    await world.engine.settle()
    #expect(try await world.client().reference().getData().exists() == false)
  }

  struct Query: Sendable {
    let text: String
    let make: @Sendable (DatabaseReference) -> DatabaseQuery

    init(_ text: String, _ make: @escaping @Sendable (DatabaseReference) -> DatabaseQuery) {
      (self.text, self.make) = (text, make)
    }
  }

  private static let bounds = "values used with queryStartingAtValue:, queryEndingAtValue:, or queryEqualToValue:"
  static let queries: [Query] = [
    Query("Cannot use multiple queryOrderedBy calls!") { $0.queryOrderedByKey().queryOrderedByValue() },
    Query("Limit can't be zero") { $0.queryLimited(toFirst: 0) },
    Query("Limit must be less than 2,147,483,648") { $0.queryLimited(toLast: 1 << 31) },
    Query("Can't call queryLimitedToLast if queryLimitedToFirst or queryLimitedToLast was previously called") {
      $0.queryLimited(toFirst: 1).queryLimited(toLast: 1)
    },
    Query(
      """
      Can't call queryStartingAtValue: after queryStartingAtValue, queryStartingAfterValue or queryEqualToValue was \
      previously called
      """
    ) { $0.queryEqual(toValue: 1).queryStarting(atValue: 2) },
    Query(
      """
      Can't call queryEndingBeforeValue: after queryEndingAtValue, queryEndingBeforeValue or queryEqualToValue was \
      previously called
      """
    ) { $0.queryEnding(atValue: 1).queryEnding(beforeValue: 2) },
    Query("You can only pass nil, NSString or NSNumber to queryStartingAtValue:") {
      $0.queryStarting(atValue: ["a": 1])
    },
    Query("(queryOrderedByChild:) $key is invalid.  Use queryOrderedByKey: instead.") {
      $0.queryOrdered(byChild: "$key")
    },
    Query("(queryOrderedByChild:) .value is invalid.  Use queryOrderedByValue: instead.") {
      $0.queryOrdered(byChild: ".value")
    },
    Query("(queryOrderedByChild:) \(path)") { $0.queryOrdered(byChild: "a[0]") },
    Query("When using queryOrderedByKey, \(bounds) must be valid keys") {
      $0.queryOrderedByKey().queryStarting(atValue: 1)
    },
    Query("When using queryOrderedByKey, \(bounds) must be valid keys") {
      $0.queryEnding(atValue: 1).queryOrderedByKey()
    },
    Query("When using queryOrderedByKey, \(bounds) must be valid keys") {
      $0.queryOrderedByKey().queryEqual(toValue: "a.b")
    },
    Query(
      "You must use queryStartingAtValue: instead of queryStartingAtValue:childKey: when using queryOrderedByKey:"
    ) { $0.queryOrderedByKey().queryStarting(atValue: "a", childKey: "b") },
    Query("(queryStartingAtValue:childKey:) Must be a non-empty string and not contain '/' '.' '#' '$' '[' or ']'") {
      $0.queryStarting(atValue: 1, childKey: "a/b")
    },
  ]

  @Test func `a query that does not go together fails with Firebase's sentence in every use`() async throws {
    let client = World().client()
    let reference = client.reference(withPath: "p")
    for (number, wrong) in Self.queries.enumerated() {
      let query = wrong.make(reference)
      await #expect(throws: DatabaseError(.other, wrong.text), "query \(number)") { try await query.getData() }
      let cancelled = Log<String>()
      query.observe(.value, with: { _ in cancelled.add("called") }, withCancel: { cancelled.add("\($0)") })
      await cancelled.wait { $0.count == 1 }
      #expect(cancelled.entries == [wrong.text], "query \(number)")
      // References made from it do not work either, and say the same.
      await #expect(throws: DatabaseError(.other, wrong.text), "query \(number)") {
        for try await _ in query.queryLimited(toFirst: 3).value {}
      }
    }
  }
}

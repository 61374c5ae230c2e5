import Foundation
import Testing
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaTesting

@testable import VestaFirestoreService

/// The first matches of a query, kept current by changes alone.
struct LimitedViewTests {
  private static func query(limit: Int32, offset: Int32 = 0) throws -> NormalQuery {
    let query = StructuredQuery(
      from: [.init(collectionID: "scores")], filter: .field(path: "n", .greaterThanOrEqual, .integer(0)),
      orderBy: [.init(fieldPath: "n")], offset: offset, limit: limit)
    return try NormalQuery(query, parent: root)
  }

  private static func document(_ id: String, _ number: Int64) -> Document {
    Document(name: name("scores/\(id)"), fields: ["n": .integer(number)])
  }

  private static func change(_ id: String, from before: Int64?, to after: Int64?) throws -> WatchChange {
    let path = try ResourceName(document: name("scores/\(id)")).path
    return WatchChange(
      pathKey: PathKey(path), path: path, name: name("scores/\(id)"), before: before.map { document(id, $0) },
      after: after.map { document(id, $0) })
  }

  private static func numbers(_ view: LimitedView) -> [Value] {
    view.view.values.compactMap { $0.fields["n"] }.sorted { "\($0)" < "\($1)" }
  }

  @Test func `the spare takes the place of what leaves, and its end has to be asked for`() throws {
    let matches = (1...4).map { Self.document("d\($0)", Int64($0)) }
    var view = try LimitedView(try Self.query(limit: 2), matches: matches, wanted: 4, bytes: .max)
    #expect(view.take(try Self.change("d1", from: 1, to: nil), isIn: false) == .changed)
    #expect(Self.numbers(view) == [.integer(2), .integer(3)])
    // After all known ones: others may precede it.
    #expect(view.take(try Self.change("x", from: nil, to: 9), isIn: true) == .none)
    #expect(view.take(try Self.change("d2", from: 2, to: nil), isIn: false) == .changed)
    #expect(Self.numbers(view) == [.integer(3), .integer(4)])
    #expect(view.take(try Self.change("d3", from: 3, to: nil), isIn: false) == .unknown)
  }

  @Test(arguments: [nil, 2, 7] as [Int64?])
  func `a document is found whatever its state before the change is said to be`(before: Int64?) throws {
    let matches = (1...3).map { Self.document("d\($0)", Int64($0)) }
    var view = try LimitedView(try Self.query(limit: 2), matches: matches, wanted: 3, bytes: .max)
    #expect(view.take(try Self.change("d1", from: before, to: 5), isIn: true) == .changed)
    #expect(Self.numbers(view) == [.integer(2), .integer(3)])
  }

  @Test func `a result that is pushed out enters the spare and returns`() throws {
    let matches = (1...3).map { Self.document("d\($0)", Int64($0)) }
    var view = try LimitedView(try Self.query(limit: 2), matches: matches, wanted: 3, bytes: .max)
    #expect(view.take(try Self.change("x", from: nil, to: 0), isIn: true) == .changed)
    #expect(Self.numbers(view) == [.integer(0), .integer(1)])
    #expect(view.take(try Self.change("x", from: 0, to: nil), isIn: false) == .changed)
    #expect(Self.numbers(view) == [.integer(1), .integer(2)])
  }

  @Test func `a spare has as many bytes as it may, and the results are there in any case`() throws {
    let matches = (1...8).map { Self.document("d\($0)", Int64($0)) }
    var view = try LimitedView(try Self.query(limit: 2), matches: matches, wanted: 8, bytes: 0)
    #expect(Self.numbers(view) == [.integer(1), .integer(2)])
    #expect(view.take(try Self.change("d1", from: 1, to: nil), isIn: false) == .unknown)
    var other = try LimitedView(try Self.query(limit: 2), matches: matches, wanted: 8, bytes: 1)
    #expect(other.take(try Self.change("d1", from: 1, to: nil), isIn: false) == .changed)
    #expect(other.take(try Self.change("d2", from: 2, to: nil), isIn: false) == .unknown)
  }

  @Test func `a query with a large offset, or none to count from, has no spare`() throws {
    #expect(LimitedView.wanted(for: try Self.query(limit: 5, offset: 1_000), attempts: 0, ListenTuning()) == 1_021)
    #expect(LimitedView.wanted(for: try Self.query(limit: 5, offset: 1_001), attempts: 0, ListenTuning()) == nil)
    #expect(LimitedView.wanted(for: try Self.query(limit: 5), attempts: 3, ListenTuning()) == 133)
    var view = LimitedView(try Self.query(limit: 2, offset: 1), [:])
    #expect(view.take(try Self.change("x", from: nil, to: 9), isIn: true) == .unknown)
  }

  @Test func `the last known result may change in its place, and only a later place has to be asked for`() throws {
    let matches = (1...2).map { Self.document("d\($0)", Int64($0) * 10) }
    var view = try LimitedView(try Self.query(limit: 2), matches: matches, wanted: 2, bytes: .max)
    #expect(view.take(try Self.change("d2", from: 20, to: 20), isIn: true) == .changed)
    #expect(view.take(try Self.change("d2", from: 20, to: 15), isIn: true) == .changed)
    #expect(Self.numbers(view) == [.integer(10), .integer(15)])
    #expect(view.take(try Self.change("d2", from: 15, to: 16), isIn: true) == .unknown)
  }

  /// Random changes; as long as the view does not ask, it is what sorting all documents finds.
  @Test(arguments: UInt64(1)...8)
  func `a view that does not ask is what the query finds`(seed: UInt64) throws {
    try Self.attack(seed)
  }

  static func attack(_ seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    // All documents that the changes make, in the order of the query, which no limit changes.
    let order = try query(limit: 1)
    let made = (0..<14).flatMap { id in
      (Int64(0)...9).map { (id: "d\(id)", number: $0, document: document("d\(id)", $0)) }
    }
    let sorted = made.sorted { order.compare($0.document, $1.document) < 0 }
    var asked = 0
    for _ in 0..<200 {
      let (limit, offset) = (Int32.random(in: 1...4, using: &random), Int32.random(in: 0...2, using: &random))
      let query = try query(limit: limit, offset: offset)
      var all: [String: Int64] = [:]
      for number in 0..<Int.random(in: 0...12, using: &random) {
        all["d\(number)"] = Int64.random(in: 0...9, using: &random)
      }
      func first(_ count: Int) -> [Document] {
        sorted.lazy.filter { all[$0.id] == $0.number }.prefix(count).map(\.document)
      }
      let wanted = Int(limit + offset) + Int.random(in: 0...3, using: &random)
      var view = try LimitedView(query, matches: first(wanted), wanted: wanted, bytes: .max)
      for _ in 0..<30 {
        let id = "d\(Int.random(in: 0..<14, using: &random))"
        let (before, after) = (all[id], Bool.random(using: &random) ? Int64.random(in: 0...9, using: &random) : nil)
        if before == nil, after == nil { continue }
        let old = view.view
        all[id] = after
        let effect = view.take(try change(id, from: before, to: after), isIn: after != nil)
        if effect == .unknown {
          asked += 1
          break
        }
        let results = first(Int(limit + offset)).dropFirst(Int(offset))
        #expect(Set(view.view.values.map(\.name)) == Set(results.map(\.name)), "seed \(seed)")
        for document in results {
          #expect(view.view.values.contains { $0.fields == document.fields && $0.name == document.name })
        }
        if effect == .none { #expect(Set(old.keys) == Set(view.view.keys), "seed \(seed)") }
      }
    }
    #expect(asked > 10)
  }
}

@Suite(.enabled(if: ProcessInfo.processInfo.environment["VESTA_SOAK"] != nil))
struct LimitedViewSoakTests {
  /// `VESTA_PAST_SEED` is the first of a hundred seeds, each of up to 6,000 changes.
  @Test(arguments: UInt64(0)..<100) func `Soak: a view that does not ask is what the query finds`(
    number: UInt64
  ) throws {
    let first = ProcessInfo.processInfo.environment["VESTA_PAST_SEED"].flatMap { UInt64($0) } ?? 10_000
    try LimitedViewTests.attack(first + number)
  }
}

import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaTesting

@testable import VestaFirestoreSync

/// The tables of a client against plain ones, through random changes.
@Suite struct ClientTableTests {
  private static let collections = ["rooms", "rooms/a/rooms", "halls", "rooms/b/halls"]

  private static func document(_ path: ResourcePath, _ number: Int) -> CachedDocument {
    CachedDocument(
      ResourceName(database: database, path: path), .found(["n": .integer(Int64(number))]),
      version: Timestamp(seconds: 1))
  }

  private static func randomPath(_ random: inout SplitMix) -> ResourcePath {
    path("\(collections[random.below(collections.count)])/d\(random.below(6))")
  }

  @Test(arguments: 0..<20) func `documents are where they were put, however collections take turns`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var (counting, plain) = (RemoteDocuments(database: database), RemoteDocuments(database: database))
    plain.countsBytes = false
    var model: [ResourcePath: CachedDocument] = [:]
    for step in 0..<300 {
      let key = Self.randomPath(&random)
      if random.oneIn(2) {
        let document = Self.document(key, step)
        model[key] = document
        counting.insert(document)
        plain.insert(document)
      } else {
        model[key] = nil
        counting.remove(key)
        plain.remove(key)
      }
      let other = Self.randomPath(&random)
      #expect(counting.known(other) == model[other] && counting[other].isFound == (model[other] != nil))
      #expect(counting.count == model.count && counting.byteSize == plain.byteSize)
    }
    for group: CollectionID in ["rooms", "halls"] {
      let expected = Set(model.keys.map(\.parent).filter { $0.collectionID == group })
      #expect(counting.collections(of: group) == expected)
    }
    for collection in Self.collections {
      let expected = Set(model.keys.filter { $0.parent == path(collection) })
      #expect(Set(counting.documents(in: path(collection)).map(\.path)) == expected)
    }
  }

  @Test func `queries that have ended leave a collection to the only one that is left`() throws {
    let rooms = try LocalQuery(database: database, path: path("rooms"))
    let others = try [
      LocalQuery(database: database, path: path("rooms/a")), LocalQuery(database: database, path: path("lobby/b")),
      LocalQuery(database: database, path: .root, collectionGroup: "rooms"),
      LocalQuery(database: database, path: path("rooms"), limit: 1),
    ]
    var index = ViewIndex()
    index.insert(rooms, QueryID(rooms))
    #expect(index.isAlone(in: path("rooms")))
    for query in others {
      index.insert(query, QueryID(query))
      #expect(!index.isAlone(in: path("rooms")))
      index.remove(query, QueryID(query))
      #expect(index.isAlone(in: path("rooms")))
    }
    var ids: [QueryID] = []
    index.forEach(lookingAt: path("rooms/a")) { ids.append($0) }
    #expect(ids == [QueryID(rooms)])
  }

  @Test(arguments: 0..<20) func `the only query that looks at documents is the one that each of them finds`(
    seed: UInt64
  ) throws {
    var random = SplitMix(seed: seed)
    var found = 0
    for _ in 0..<50 {
      var index = ViewIndex()
      for _ in 0..<(1 + random.below(3)) {
        let query: LocalQuery =
          switch random.below(6) {
          case 0: try LocalQuery(database: database, path: Self.randomPath(&random))
          case 1: try LocalQuery(database: database, path: .root, collectionGroup: "rooms")
          default: try LocalQuery(database: database, path: path(Self.collections[random.below(4)]))
          }
        index.insert(query, QueryID(query))
      }
      let collection = Self.collections[random.below(4)]
      let keys = (0...random.below(4)).map { _ in
        random.oneIn(8) ? Self.randomPath(&random) : path("\(collection)/d\(random.below(6))")
      }
      guard let only = index.only(lookingAt: keys) else { continue }
      found += 1
      for key in keys {
        var ids: [QueryID] = []
        index.forEach(lookingAt: key) { ids.append($0) }
        #expect(ids == [only])
      }
    }
    #expect(found > 0)
  }

  @Test(arguments: 0..<20) func `references that are added together are those added one by one`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var (together, each) = (ReferenceSet(), ReferenceSet())
    for _ in 0..<100 {
      let id = Int32(random.below(4))
      let keys = (0..<random.below(6)).map { _ in Self.randomPath(&random) }
      switch random.below(4) {
      case 0: #expect(together.removeAll(of: id) == each.removeAll(of: id))
      case 1:
        for key in keys {
          together.remove(key, id)
          each.remove(key, id)
        }
      default:
        together.insert(keys, id)
        for key in keys { each.insert(key, id) }
      }
      for id in Int32(0)..<4 { #expect(together.keys(of: id) == each.keys(of: id)) }
      let key = Self.randomPath(&random)
      #expect(together.contains(key) == each.contains(key))
    }
  }

  @Test(arguments: 0..<20) func `first results are in order, whatever order is thought likely`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let orders = [NormalQuery.Order(FieldPath(["n"]), descending: random.oneIn(2))]
    let query = try LocalQuery(
      database: database, path: path("rooms"), orders: orders, limit: 5, limitType: random.oneIn(2) ? .first : .last)
    let documents = (0..<8).map { Self.document(path("rooms/d\($0)"), random.below(5)) }
    let changed = Dictionary(uniqueKeysWithValues: documents.map { ($0.path, $0) })
    let view = QueryView(query, id: QueryID(query), remoteKeys: [])
    let expected = view.computeChanges(changed).documents.map(\.path)
    let sorted = documents.sorted { query.compare($0, $1) < 0 }.map(\.path)
    let likely = [
      sorted, sorted.reversed(), sorted.shuffled(using: &random), Array(sorted.dropLast()), sorted + sorted,
    ]
    for order in likely + [sorted.dropLast() + [path("rooms/x")]] {
      #expect(view.computeChanges(changed, order: order).documents.map(\.path) == expected)
    }
  }
}

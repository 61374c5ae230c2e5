import Testing
import VestaFirestoreBackend
import VestaTesting

@testable import VestaFirestoreModel

@Suite struct DocumentSetTests {
  static func document(_ id: Int, _ rank: Int64?) -> CachedDocument {
    let name = ResourceName(database: DatabaseName(project: "p"), path: ResourcePath(["c", "d\(id)"]))
    return CachedDocument(name, .found(rank.map { ["rank": .integer($0)] } ?? [:]))
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `a set does what a sorted list does`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let orders = [NormalQuery.Order(FieldPath(["rank"]), descending: seed % 2 == 0), NormalQuery.Order(.documentName)]
    let order = DocumentOrder(orders)
    var set = DocumentSet(orders: orders)
    var model: [CachedDocument] = []
    for step in 0..<3000 {
      let document = Self.document(random.below(900), Int64(random.below(40)))
      model.removeAll { $0.path == document.path }
      if random.below(3) == 0 {
        set.remove(document.path)
      } else {
        set.insert(document)
        model.append(document)
      }
      guard step % 50 == 0 else { continue }
      model.sort { order.compare($0, $1) < 0 }
      #expect(Array(set) == model && set.count == model.count)
      #expect(set.first == model.first && set.last == model.last)
      for (index, document) in model.enumerated() where index % 7 == 0 {
        #expect(set.index(of: document.path) == index && set[position: index] == document)
      }
    }
    var bulk = DocumentSet(orders: orders)
    bulk.insert(contentsOf: model.shuffled(using: &random))
    #expect(bulk == set)
    bulk.insert(Self.document(5000, 3))
    #expect(bulk != set && bulk.index(of: Self.document(5000, 3).path) != nil)
  }

  @Test func `a document that changes its rank moves, and others keep their places`() {
    var set = DocumentSet(orders: [NormalQuery.Order(FieldPath(["rank"]))])
    for id in 0..<5 { set.insert(Self.document(id, Int64(id))) }
    set.insert(Self.document(0, 9))
    #expect(set.map(\.path.lastSegment) == ["d1", "d2", "d3", "d4", "d0"])
    #expect(set[Self.document(0, 9).path]?.fields == ["rank": .integer(9)])
    #expect(set.index(of: Self.document(7, 0).path) == nil && set.remove(Self.document(7, 0).path) == nil)
  }
}

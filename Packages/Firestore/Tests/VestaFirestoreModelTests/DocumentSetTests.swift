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
    // Documents are found by number: comparing their paths would take most of the time of this test.
    var numbered: [(id: Int, document: CachedDocument)] = []
    for step in 0..<3000 {
      let id = random.below(900)
      let document = Self.document(id, Int64(random.below(40)))
      if let known = numbered.firstIndex(where: { $0.id == id }) { numbered.remove(at: known) }
      if random.below(3) == 0 {
        set.remove(document.path)
      } else {
        set.insert(document)
        numbered.append((id, document))
      }
      guard step % 50 == 0 else { continue }
      // Sorted but for the last fifty.
      numbered.sort { order.compare($0.document, $1.document) < 0 }
      let model = numbered.map(\.document)
      #expect(Array(set) == model && set.count == model.count)
      #expect(set.first == model.first && set.last == model.last)
      for (index, document) in model.enumerated() where index % 7 == 0 {
        #expect(set.index(of: document.path) == index && set[position: index] == document)
      }
    }
    var bulk = DocumentSet(orders: orders)
    bulk.insert(contentsOf: numbered.map(\.document).shuffled(using: &random))
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

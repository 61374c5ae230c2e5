import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaTesting

@testable import VestaFirestoreSync

/// Documents that views show and their targets do not have.
@Suite struct LimboDocumentsTests {
  private func text(_ requests: [LimboDocuments.Request]) -> [String] {
    requests.map { request in
      switch request {
      case .listen(let record): "listen \(record.id) \(record.target.path)"
      case .unlisten(let id): "unlisten \(id)"
      }
    }
  }

  @Test func `the next document is asked for when the one before it is resolved`() {
    var limbo = LimboDocuments(database, limit: 1)
    let (a, b) = (path("rooms/a"), path("rooms/b"))
    #expect(text(limbo.track([.added(a), .added(b)], 2) { _ in false }) == ["listen 1 rooms/a"])
    #expect(limbo.waiting == [b] && limbo.active == [a: 1])
    #expect(text(limbo.track([.removed(a)], 2) { _ in false }) == ["unlisten 1", "listen 3 rooms/b"])
    #expect(text(limbo.removeAll(of: 2)) == ["unlisten 3"])
    #expect(limbo.counts == (0, 0) && limbo.waiting.isEmpty)
  }

  @Test func `a document is asked for once, and until the last target lets it go`() {
    var limbo = LimboDocuments(database, limit: nil)
    let a = path("rooms/a")
    #expect(text(limbo.insert(a, 2)) == ["listen 1 rooms/a"])
    #expect(text(limbo.insert(a, 4)) == [])
    #expect(text(limbo.remove(a, 2)) == [])
    // Another view of the target has it in limbo still.
    #expect(text(limbo.track([.removed(a)], 4) { _ in true }) == [])
    #expect(text(limbo.track([.removed(a)], 4) { _ in false }) == ["unlisten 1"])
  }

  @Test func `a target has its document from the message that brings it until the one that takes it`() {
    var limbo = LimboDocuments(database, limit: nil)
    let a = path("rooms/a")
    #expect(limbo.keys(of: 1) == nil && limbo.hasKey(of: 1, a) == nil)
    _ = limbo.insert(a, 2)
    #expect(limbo.keys(of: 1) == [] && limbo.hasKey(of: 1, a) == false)
    var update = TargetUpdate()
    update.added = [a]
    limbo.note([1: update])
    #expect(limbo.keys(of: 1) == [a] && limbo.hasKey(of: 1, a) == true && limbo.hasKey(of: 2, a) == nil)
    (update.added, update.removed) = ([], [a])
    limbo.note([1: update])
    #expect(limbo.keys(of: 1) == [])
  }

  @Test func `a refused target makes room for the next document`() {
    var limbo = LimboDocuments(database, limit: 1)
    let (a, b) = (path("rooms/a"), path("rooms/b"))
    _ = limbo.insert(a, 2)
    _ = limbo.insert(b, 2)
    let other = limbo.reject(2)
    #expect(other == nil)
    let rejected = limbo.reject(1)
    #expect(rejected?.key == a && text(rejected?.requests ?? []) == ["listen 3 rooms/b"])
  }

  @Test(arguments: 1...4) func `no more than the limit are asked for, and none is forgotten`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var limbo = LimboDocuments(database, limit: 3)
    var references: Set<[Int]> = []
    var asked: Set<Int32> = []
    for _ in 0..<2_000 {
      let (number, target) = (random.below(12), random.below(3))
      let key = path("rooms/r\(number)")
      let requests: [LimboDocuments.Request]
      switch random.below(5) {
      case 0, 1:
        requests = limbo.insert(key, Int32(target))
        references.insert([number, target])
      case 2, 3:
        requests = limbo.remove(key, Int32(target))
        references.remove([number, target])
      default:
        requests = limbo.removeAll(of: Int32(target))
        references = references.filter { $0[1] != target }
      }
      for request in requests {
        switch request {
        case .listen(let record): #expect(asked.insert(record.id).inserted)
        case .unlisten(let id): #expect(asked.remove(id) != nil)
        }
      }
      let wanted = Set(references.map { path("rooms/r\($0[0])") })
      #expect(Set(limbo.active.values) == asked && asked.count == min(3, wanted.count))
      #expect(Set(limbo.active.keys).union(limbo.waiting) == wanted)
    }
  }
}

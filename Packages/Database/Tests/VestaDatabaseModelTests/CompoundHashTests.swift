import Testing
import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaTesting

@testable import VestaDatabaseModel

struct CompoundHashTests {
  private func large(_ random: inout SplitMix) -> DatabaseNode {
    var node = DatabaseNode.empty
    for _ in 0..<80 { node = node.setting(random.path(1...4), to: random.node(depth: 2)) }
    for number in 0..<40 {
      node = node.setting(DatabasePath("x/\(number)"), to: DatabaseNode(.string("\"\\ of the number \(number)")))
    }
    return node
  }

  @Test(arguments: 0..<100)
  func `what differs, put into the old data, gives the new data`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let old = large(&random)
    var new = old
    for _ in 0..<random.below(6) {
      var path = random.path(1...3)
      if random.oneIn(4) { path = path.child(.priority) }
      new = new.setting(path, to: path.back?.isPriority == true ? DatabaseNode(.int(7)) : random.node(depth: 2))
    }
    let compound = try #require(CompoundHash.hash(of: old))
    #expect(compound.hashes.count == compound.posts.count + 1 && compound.hashes.last == "")
    let merges = CompoundHash.differences(of: new, from: compound)
    #expect(CompoundHash.apply(merges, to: old) == new, "seed \(seed)")
  }

  @Test func `only the ranges that differ are sent`() throws {
    let children = (0..<500).map { (DatabaseKey("k\($0)"), DatabaseNode(.string("value \($0)"))) }
    let old = DatabaseNode(children: children)
    let compound = try #require(CompoundHash.hash(of: old))
    #expect(compound.posts.count > 5)
    let changed = old.setting(DatabasePath("k77"), to: DatabaseNode(.int(1)))
    let merges = CompoundHash.differences(of: changed, from: compound)
    #expect(merges.count == 1 && merges[0].node.childCount < 250)
    let added = old.setting(DatabasePath("zz"), to: DatabaseNode(.int(1)))
    let tail = CompoundHash.differences(of: added, from: compound)
    let only = DatabaseNode(children: [("zz", DatabaseNode(.int(1)))])
    #expect(tail == [DatabaseRangeMerge(after: compound.posts.last, through: nil, only)])
  }

  @Test func `hashes that make no sense are answered with all of the data`() {
    let node = DatabaseNode(children: [("a", DatabaseNode(.int(1)))])
    let whole = [DatabaseRangeMerge(after: nil, through: nil, node)]
    for compound in [
      DatabaseCompoundHash(posts: [], hashes: []), DatabaseCompoundHash(posts: ["a"], hashes: [""]),
      DatabaseCompoundHash(posts: ["b", "a"], hashes: ["", "", ""]),
      DatabaseCompoundHash(posts: ["a", "a"], hashes: ["", "", ""]), DatabaseCompoundHash(posts: [], hashes: ["x"]),
    ] {
      let merges = CompoundHash.differences(of: node, from: compound)
      #expect(CompoundHash.apply(merges, to: DatabaseNode(.int(9))) == node, "\(compound)")
      #expect(merges == whole, "\(compound)")
    }
  }

  @Test func `small data has no hashes of ranges`() {
    #expect(CompoundHash.hash(of: DatabaseNode(.string("x"))) == nil)
    #expect(CompoundHash.hash(of: .empty) == nil)
  }

  @Test func `the text of a range names its leaves, escaped, between the keys above them`() throws {
    // The hash of `("a":("b":(string:"x\"y")),"c":(number:3ff0000000000000))`, worked out by hand.
    let filler = String(repeating: "z", count: 1100)
    let node = DatabaseNode(children: [
      ("a", DatabaseNode(children: [("b", DatabaseNode(.string("x\"y")))])), ("c", DatabaseNode(.int(1))),
      ("d", DatabaseNode(.string(filler))),
    ])
    let compound = try #require(CompoundHash.hash(of: node))
    let text = "(\"a\":(\"b\":(string:\"x\\\"y\")),\"c\":(number:3ff0000000000000),\"d\":(string:\"\(filler)\"))"
    #expect(compound.hashes.first == Base64.standard.encode(SHA1.digest([UInt8](text.utf8))))
    #expect(compound.posts == ["d"])
  }

  @Test func `a range that ends with a priority, whose node has its children in the next one, is sent with them`() {
    let one = DatabaseNode(.int(1))
    let node = DatabaseNode(children: [
      ("m", one), ("n", DatabaseNode(children: [("a", one)], priority: .int(2))), ("o", one),
    ])
    for post in ["n/.priority", "n/.priority/x", "n/0"] as [DatabasePath] {
      let compound = DatabaseCompoundHash(posts: [post], hashes: ["another", "another"])
      let merges = CompoundHash.differences(of: node, from: compound)
      for old in [DatabaseNode.empty, one, DatabaseNode(children: [("n", one), ("z", one)])] {
        #expect(CompoundHash.apply(merges, to: old) == node, "\(post)")
      }
    }
  }
}

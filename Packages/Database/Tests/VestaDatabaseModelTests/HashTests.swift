import Testing
import VestaBytes
import VestaDatabaseBackend

@testable import VestaDatabaseModel

struct HashTests {
  @Test func `hashes follow the canonical text`() {
    func sha(_ text: String) -> String { Base64.standard.encode(SHA1.digest([UInt8](text.utf8))) }
    #expect(NodeHash.hash(.empty) == "")
    #expect(NodeHash.hash(DatabaseNode(.int(1))) == sha("number:3ff0000000000000"))
    #expect(NodeHash.hash(DatabaseNode(.double(1))) == sha("number:3ff0000000000000"))
    #expect(NodeHash.hash(DatabaseNode(.bool(true), priority: .string("p"))) == sha("priority:string:p:boolean:true"))
    for (leaf, text) in [
      (.int(-1), "number:bff0000000000000"), (.double(-0.0), "number:0000000000000000"),
      (.double(0.1), "number:3fb999999999999a"), (.string("é:"), "string:é:"), (.timestamp, "object:timestamp"),
      (.incrementInt(-2), "object:increment:-2"), (.bool(false), "boolean:false"),
    ] as [(DatabaseLeaf, String)] {
      #expect(NodeHash.hash(DatabaseNode(leaf)) == sha(text))
      #expect(NodeHash.hash(DatabaseNode(.int(1), priority: leaf)) == sha("priority:\(text):number:3ff0000000000000"))
    }
    let leaf = sha("string:x")
    let node = DatabaseNode(children: [("b", DatabaseNode(.string("x"))), ("a", DatabaseNode(.string("x")))])
    #expect(NodeHash.hash(node) == sha(":a:\(leaf):b:\(leaf)"))
  }

  @Test func `the hash of children with priorities is accepted in both orders`() {
    let node = DatabaseNode(children: [
      ("a", DatabaseNode(.int(1), priority: .int(2))), ("b", DatabaseNode(.int(2), priority: .int(1))),
    ])
    #expect(NodeHash.hash(node) != NodeHash.hash(node, order: .apple))
    #expect(NodeHash.matches(NodeHash.hash(node), node))
    #expect(NodeHash.matches(NodeHash.hash(node, order: .apple), node))
    #expect(
      !NodeHash.matches(
        NodeHash.hash(node), node.setting("a" as DatabaseKey, to: DatabaseNode(.int(1), priority: .int(3)))))
    // Below, and next to children of which one has no priority.
    let mixed = DatabaseNode(children: [("n", node), ("m", DatabaseNode(.int(1)))], priority: .string("x"))
    #expect(NodeHash.hash(mixed) != NodeHash.hash(mixed, order: .apple))
    #expect(NodeHash.matches(NodeHash.hash(mixed, order: .apple), mixed))
    let some = node.setting("c" as DatabaseKey, to: DatabaseNode(.int(1)))
    #expect(NodeHash.hash(some) == NodeHash.hash(some, order: .apple))
    #expect(!NodeHash.matches("", node) && NodeHash.matches("", .empty))
  }
}

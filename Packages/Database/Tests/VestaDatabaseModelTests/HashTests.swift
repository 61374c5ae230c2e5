import Testing
import VestaBytes
import VestaDatabaseBackend

@testable import VestaDatabaseModel

struct HashTests {
  @Test func `SHA-1 gives the digests of its specification`() {
    func hexadecimal(_ text: String) -> String {
      SHA1.digest([UInt8](text.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
    #expect(hexadecimal("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d")
    #expect(hexadecimal("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
    #expect(hexadecimal(String(repeating: "a", count: 200)).count == 40)
  }

  @Test func `hashes follow the canonical text`() {
    func sha(_ text: String) -> String { Base64.standard.encode(SHA1.digest([UInt8](text.utf8))) }
    #expect(NodeHash.hash(.empty) == "")
    #expect(NodeHash.hash(DatabaseNode(.int(1))) == sha("number:3ff0000000000000"))
    #expect(NodeHash.hash(DatabaseNode(.double(1))) == sha("number:3ff0000000000000"))
    #expect(NodeHash.hash(DatabaseNode(.bool(true), priority: .string("p"))) == sha("priority:string:p:boolean:true"))
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
  }
}

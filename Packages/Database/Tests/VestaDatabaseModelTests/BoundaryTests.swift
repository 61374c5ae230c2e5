import Testing
import VestaBytes
import VestaDatabaseBackend

@testable import VestaDatabaseModel

/// The first value beyond each limit, and the last one within it.
struct BoundaryTests {
  // MARK: The keys next to a key

  private static let longest = KeyNeighbors.maximumLength

  @Test(arguments: [
    ("", " "), ("a", "a "), ("0", "1"), ("-1", "0"), ("-2147483648", "-2147483647"), ("2147483646", "2147483647"),
    ("2147483647", " "), ("2147483648", "2147483648 "), ("01", "2"),
  ])
  func `the successor of a key is the next integer or one character longer`(key: String, next: String) {
    #expect(KeyNeighbors.apple.successor(of: DatabaseKey(key)) == DatabaseKey(next))
  }

  @Test(arguments: [
    ("0", "-1"), ("-2147483647", "-2147483648"), ("2147483647", "2147483646"), ("a ", "a"), (" ", "2147483647"),
  ])
  func `the predecessor of a key is the integer before or one character shorter`(key: String, last: String) {
    #expect(KeyNeighbors.apple.predecessor(of: DatabaseKey(key)) == DatabaseKey(last))
  }

  @Test func `the neighbors of keys of full length change the last character that can change`() {
    let full = String(repeating: "b", count: Self.longest)
    func cut(_ count: Int, _ end: String) -> String { String(full.dropLast(count)) + end }
    #expect(KeyNeighbors.apple.successor(of: DatabaseKey(cut(1, ""))).text == cut(1, " "))
    #expect(KeyNeighbors.apple.successor(of: DatabaseKey(full)).text == cut(1, "c"))
    let end = cut(2, "\u{FFFF}\u{FFFF}")
    #expect(KeyNeighbors.apple.successor(of: DatabaseKey(end)).text == cut(3, "c"))
    let highest = DatabaseKey(String(repeating: "\u{FFFF}", count: Self.longest))
    #expect(KeyNeighbors.apple.successor(of: highest) == .maximum)
    let before = KeyNeighbors.apple.predecessor(of: "ab")
    #expect(before.text.hasPrefix("aa\u{FFFF}") && before.text.unicodeScalars.count == Self.longest)
    let last = KeyNeighbors.apple.predecessor(of: DatabaseKey(full))
    #expect(last.text == cut(1, "a"))
    // Characters that no key can have are passed over.
    #expect(KeyNeighbors.apple.predecessor(of: "a/").text.hasPrefix("a-\u{FFFF}"))
    #expect(KeyNeighbors.apple.successor(of: DatabaseKey(cut(1, "-"))).text == cut(1, "0"))
    #expect(KeyNeighbors.apple.predecessor(of: "-2147483648") == .minimum)
    #expect(KeyNeighbors.apple.predecessor(of: "") == .minimum)
    #expect(KeyNeighbors.pushIDs.successor(of: "a") == "a-" && KeyNeighbors.pushIDs.predecessor(of: "a-") == "a")
    #expect(KeyNeighbors.pushIDs.predecessor(of: "a0").text.hasPrefix("a-z"))
    #expect(KeyNeighbors.pushIDs.predecessor(of: "-") == "2147483647")
    #expect(KeyNeighbors.pushIDs.predecessor(of: "az").text.hasPrefix("ayz"))
    #expect(KeyNeighbors.pushIDs.successor(of: DatabaseKey(cut(1, "-"))).text == cut(1, "0"))
    #expect(KeyNeighbors.pushIDs.successor(of: DatabaseKey(cut(1, "z"))).text == cut(2, "c"))
  }

  // MARK: Limits of the service

  private func status(_ node: DatabaseNode, _ path: DatabasePath = "a") -> DatabaseStatus? {
    TreeLimits.problem(writing: node, at: path)?.status
  }

  private func nested(_ count: Int) -> DatabaseNode {
    (0..<count).reduce(DatabaseNode(.int(1))) { node, _ in DatabaseNode(children: [("d", node)]) }
  }

  @Test func `thirty-two levels can be written, and none more`() {
    let path = DatabasePath((0..<32).map { DatabaseKey("p\($0)") })
    #expect(status(DatabaseNode(.int(1)), path) == nil)
    #expect(status(DatabaseNode(.int(1)), path.child(.priority)) == nil)
    #expect(status(DatabaseNode(.int(1)), path.child("q")) == .invalid)
    #expect(status(nested(31)) == nil && status(nested(32)) == .invalid)
    #expect(TreeLimits.problem(writing: nested(32), at: "a")?.message.contains("maximum depth") == true)
  }

  @Test func `keys have up to 768 bytes, not characters`() {
    let (fits, long) = (String(repeating: "é", count: 384), String(repeating: "é", count: 384) + "x")
    #expect(status(DatabaseNode(.int(1)), DatabasePath([DatabaseKey(fits)])) == nil)
    #expect(status(DatabaseNode(.int(1)), DatabasePath([DatabaseKey(long)])) == .invalid)
    func child(_ key: String) -> DatabaseNode { DatabaseNode(children: [(DatabaseKey(key), DatabaseNode(.int(1)))]) }
    #expect(status(child(fits)) == nil && status(child(long)) == .invalid)
    #expect(TreeLimits.problem(writing: child(long), at: "a")?.message.contains("768 bytes (769)") == true)
  }

  @Test func `strings have up to ten mebibytes, writes up to sixteen`() {
    let ten = String(repeating: "x", count: 10_485_760)
    #expect(status(DatabaseNode(.string(ten))) == nil && status(DatabaseNode(.string(ten + "x"))) == .tooBig)
    let rest = String(repeating: "x", count: (16 << 20) - ten.utf8.count - 2 - 2 - 1 - 10)
    func pair(_ text: String) -> DatabaseNode {
      DatabaseNode(children: [("a", DatabaseNode(.string(ten))), ("b", DatabaseNode(.string(text)))])
    }
    #expect(NodeSize.estimate(pair(rest)) == 16 << 20)
    #expect(status(pair(rest)) == nil && status(pair(rest + "x")) == .tooBig)
  }

  @Test func `an invalid value, priority or key is refused at any depth`() {
    func below(_ node: DatabaseNode) -> DatabaseNode {
      DatabaseNode(children: [("k", node), ("l", DatabaseNode(.int(1)))])
    }
    let wrong: [DatabaseNode] = [
      DatabaseNode(.double(.nan)), DatabaseNode(.double(.infinity)), DatabaseNode(.incrementDouble(.nan)),
      DatabaseNode(.int(1), priority: .bool(true)), DatabaseNode(.int(1), priority: .double(.nan)),
      DatabaseNode(children: [("a.b", DatabaseNode(.int(1)))]), DatabaseNode(children: [("", DatabaseNode(.int(1)))]),
      DatabaseNode(children: [("a\u{1F}", DatabaseNode(.int(1)))]),
      DatabaseNode(children: [("x", DatabaseNode(.int(1)))], priority: .bool(false)),
    ]
    for node in wrong {
      #expect(status(node) == .invalid && status(below(node)) == .invalid && status(below(below(node))) == .invalid)
    }
    for (path, node) in [
      ("a/.priority", DatabaseNode(.bool(true))), ("a/.priority", below(DatabaseNode(.int(1)))),
      ("a.b", DatabaseNode(.int(1))),
      ("a/b#c", .empty), (".priority/x", DatabaseNode(.int(1))),
    ] as [(DatabasePath, DatabaseNode)] {
      #expect(status(node, path) == .invalid, "\(path)")
    }
    let right: [(DatabasePath, DatabaseNode)] = [
      ("a/.priority", .empty), ("a/.priority", DatabaseNode(.string("p"))), ("a/.priority", DatabaseNode(.timestamp)),
      (".priority", DatabaseNode(.int(1))), ("", below(DatabaseNode(.incrementInt(1), priority: .timestamp))),
      ("\u{80}~é", DatabaseNode(.bool(false))),
    ]
    for (path, node) in right { #expect(status(node, path) == nil, "\(path)") }
  }

  // MARK: Bytes

  @Test func `keys are read from wherever they begin, and cut ones are errors`() throws {
    let keys: [DatabaseKey] = ["7", "-2147483648", "-0", "0001", "a", "é", "\u{E000}", "\u{10FFFF}", " ", "2147483648"]
    for key in keys {
      for start in [0, 1, 5] {
        var bytes = [UInt8](repeating: 0x10, count: start)
        PathCoding.append(DatabasePath([key, "b"]), to: &bytes)
        #expect(try PathCoding.decode(bytes, from: start) == [key, "b"])
        var position = start
        #expect(try PathCoding.key(in: bytes, at: &position) == key)
        var end = [UInt8](repeating: 0x10, count: start)
        PathCoding.append(key, to: &end)
        #expect(position == end.count)
        for count in start..<end.count {
          var position = start
          #expect(throws: (any Error).self) { try PathCoding.key(in: Array(end.prefix(count)), at: &position) }
        }
      }
    }
  }

  @Test func `every kind of leaf is read as it was written, alone, as a priority and below others`() throws {
    let leaves: [DatabaseLeaf] = [
      .bool(false), .bool(true), .int(0), .int(.min), .int(.max), .double(-0.5), .double(.greatestFiniteMagnitude),
      .string(""), .string("é\u{0}"), .timestamp, .incrementInt(-3), .incrementDouble(0.25),
    ]
    for leaf in leaves {
      for priority in [nil, .string("p"), leaf] as [DatabaseLeaf?] {
        let node = DatabaseNode(leaf, priority: priority)
        let parent = DatabaseNode(children: [("a", node), ("b", node)], priority: priority)
        for node in [node, parent] { #expect(try NodeCoding.decode(NodeCoding.encode(node)) == node, "\(leaf)") }
        let row = try NodeCoding.decodeRow(NodeCoding.encode(leaf: leaf, priority: priority))
        #expect(row.leaf == leaf && row.priority == priority)
      }
      let row = try NodeCoding.decodeRow(NodeCoding.encode(leaf: nil, priority: leaf))
      #expect(row.leaf == nil && row.priority == leaf)
      for bytes in [
        NodeCoding.encode(DatabaseNode(leaf, priority: leaf)), NodeCoding.encode(leaf: leaf, priority: leaf),
      ] {
        #expect(throws: BytesError.self) { try NodeCoding.decode(bytes + [0]) }
        #expect(throws: BytesError.self) { try NodeCoding.decodeRow(bytes + [0]) }
        for count in 0..<bytes.count {
          #expect(throws: BytesError.self) { try NodeCoding.decode(Array(bytes.prefix(count))) }
        }
      }
    }
    #expect(throws: BytesError.self) { try NodeCoding.decode([0x7F]) }
    #expect(try NodeCoding.decode(NodeCoding.encode(nested(1000))) == nested(1000))
    #expect(throws: BytesError.self) { try NodeCoding.decode(NodeCoding.encode(nested(1200))) }
  }

  // MARK: Sizes

  @Test func `the estimate of a size counts leaves, keys and priorities`() {
    func size(_ leaf: DatabaseLeaf, _ priority: DatabaseLeaf? = nil) -> Int {
      NodeSize.estimate(DatabaseNode(leaf, priority: priority))
    }
    #expect(size(.bool(true)) == 4 && size(.int(1)) == 8 && size(.double(0.5)) == 8 && size(.string("é")) == 4)
    #expect(size(.timestamp) == 8 && size(.bool(true), .int(1)) == 4 + 24 + 8)
    let node = DatabaseNode(
      children: [("ab", DatabaseNode(.bool(true))), ("é", DatabaseNode(.string("")))], priority: .string("p"))
    #expect(NodeSize.estimate(node) == 1 + (2 + 4 + 4) + (2 + 4 + 2) + 3)
    #expect(NodeSize.estimate(.empty) == 4)
  }

  @Test func `keys that are one number in several spellings have one order in memory and in rows`() {
    let keys = ["-1", "-01", "0", "00", "-0", "000", "-00", "1", "01", "001", "a"].map { DatabaseKey($0) }
    func bytes(_ key: DatabaseKey) -> [UInt8] {
      var bytes: [UInt8] = []
      PathCoding.append(key, to: &bytes)
      return bytes
    }
    for left in keys {
      for right in keys {
        #expect((left < right) == bytes(left).lexicographicallyPrecedes(bytes(right)), "\(left) and \(right)")
      }
    }
  }
}

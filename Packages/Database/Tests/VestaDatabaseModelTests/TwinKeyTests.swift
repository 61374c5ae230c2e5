import Testing
import VestaDatabaseBackend

@testable import VestaDatabaseModel

/// Children whose keys Swift takes for one.
struct TwinKeyTests {
  private static let one = DatabaseKey("caf\u{E9}"), two = DatabaseKey("cafe\u{301}")

  private func node(_ children: [(DatabaseKey, Int64)]) -> DatabaseNode {
    DatabaseNode(children: children.map { ($0.0, DatabaseNode(.int($0.1))) })
  }

  private func firstKey(of node: DatabaseNode) -> DatabaseKey? {
    var first: DatabaseKey?
    node.forEachChild { key, _ in first = first ?? key }
    return first
  }

  private func writtenBack(_ node: DatabaseNode, _ change: (inout [String: Any]) -> Void) throws -> DatabaseNode {
    var dictionary = try #require(node.plainValue as? [String: Any])
    change(&dictionary)
    return try NodeImport(at: .root).node(dictionary).keepingTwins(of: node)
  }

  @Test func `a dictionary that is written back keeps the twin that it cannot show`() throws {
    let old = node([(Self.one, 1), (Self.two, 2), ("x", 3)])
    #expect(try writtenBack(old) { $0["x"] = 4 } == node([(Self.one, 1), (Self.two, 2), ("x", 4)]))
  }

  @Test func `a change of the twin that is shown is one of that twin alone`() throws {
    let old = node([(Self.one, 1), (Self.two, 2)])
    let shown = try #require(firstKey(of: old))
    let other = shown == Self.one ? Self.two : Self.one
    let new = try writtenBack(old) { $0[shown.text] = 9 }
    #expect(new[shown].leaf == .int(9) && new[other] == old[other])
  }

  @Test func `without the key both twins are absent`() throws {
    let old = node([(Self.one, 1), (Self.two, 2), ("x", 3)])
    #expect(try writtenBack(old) { $0[Self.one.text] = nil } == node([("x", 3)]))
  }

  @Test func `twins are kept at any depth, and nothing else is`() throws {
    let inner = node([(Self.one, 1), (Self.two, 2), ("gone", 3)])
    let old = DatabaseNode(children: [("a", DatabaseNode(children: [("b", inner)])), ("c", DatabaseNode(.int(5)))])
    let new = DatabaseNode(children: [("a", DatabaseNode(children: [("b", node([(Self.one, 7)]))]))])
    let expected = DatabaseNode(children: [
      ("a", DatabaseNode(children: [("b", node([(Self.one, 7), (Self.two, 2)]))]))
    ])
    let isShown = firstKey(of: inner) == Self.one
    if isShown { #expect(new.keepingTwins(of: old) == expected) }
    #expect(new.keepingTwins(of: .empty) == new)
    #expect(DatabaseNode.empty.keepingTwins(of: old).isEmpty)
    #expect(DatabaseNode(.int(1)).keepingTwins(of: old) == DatabaseNode(.int(1)))
  }

  @Test func `both twins that are set stay as they are set`() {
    let old = node([(Self.one, 1), (Self.two, 2)]), new = node([(Self.one, 3), (Self.two, 4)])
    #expect(new.keepingTwins(of: old) == new)
  }
}

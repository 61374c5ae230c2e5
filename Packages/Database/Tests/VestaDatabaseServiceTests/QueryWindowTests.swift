import Testing
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaDatabaseModel
import VestaTesting

@testable import VestaDatabaseService

/// A window that follows commits against one that is read again.
struct QueryWindowTests {
  @Test(arguments: 0..<300)
  func `a window that follows commits is the one that would be read`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var spec = random.spec()
    while spec.loadsAllData { spec = random.spec() }
    var tree = random.node(depth: 3)
    var window = QueryWindow(NodeWindow.window(of: tree, spec), spec)
    var shown = window.node
    var reads = 0
    for step in 0..<60 {
      var values: [(path: DatabasePath, node: DatabaseNode)] = []
      for _ in 0...random.below(3) {
        var path = random.path((random.oneIn(12) ? 0 : 1)...3)
        var node = random.node(depth: 2)
        if random.oneIn(6) {
          path = path.child(.priority)
          node = random.oneIn(3) ? .empty : DatabaseNode(.int(Int64(random.below(3))))
        }
        values.append((path, node))
        tree = tree.setting(path, to: node)
      }
      let label = "seed \(seed) step \(step) \(spec)"
      var changes: [DatabasePathValue]?
      if case .children(let touched) = ChildTouch(values, { window.child($0) }) {
        var now: [DatabaseKey: DatabaseNode] = [:]
        for (key, node) in touched {
          now[key] = node ?? tree[key]
          #expect(now[key] == tree[key], "\(label): \(key)")
        }
        changes = window.update(now)
      }
      if changes == nil { reads += 1 }
      let sent = changes ?? window.replace(NodeWindow.window(of: tree, spec))
      #expect(window.node == NodeWindow.window(of: tree, spec), "\(label)")
      for change in sent { shown = shown.setting(change.path, to: change.node) }
      #expect(shown == window.node, "\(label): what listeners have")
    }
    if spec.limit == nil { #expect(reads < 30, "a query without a limit was read \(reads) times") }
  }

  private func scores(_ values: [String: Int64]) -> DatabaseNode {
    DatabaseNode(children: values.map { (DatabaseKey($0.key), DatabaseNode(.int($0.value))) })
  }

  @Test func `a full window is read again only when an unknown child may enter it`() {
    let spec = DatabaseQuerySpec(index: .value, limit: .init(2, .last))
    var window = QueryWindow(scores(["b": 5, "c": 7]), spec)
    #expect(window.update(["d": DatabaseNode(.int(6))])?.map(\.path) == ["b", "d"])
    #expect(window.update(["c": DatabaseNode(.int(9))])?.map(\.path) == ["c"])
    #expect(window.update(["a": DatabaseNode(.int(1))]) == [])
    #expect(window.update(["c": DatabaseNode(.int(7))])?.map(\.path) == ["c"])
    #expect(window.update(["c": DatabaseNode(.int(3))]) == nil)
    #expect(window.update(["d": .empty]) == nil)
    #expect(window.node == scores(["c": 7, "d": 6]))
    #expect(window.update(["d": .empty, "e": DatabaseNode(.int(8))])?.map(\.path) == ["d", "e"])
  }
}

extension QueryWindow {
  /// A child; `nil` when it is not in the window.
  func child(_ key: DatabaseKey) -> DatabaseNode? { node[key].isEmpty ? nil : node[key] }
}

import Testing
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaDatabaseModel
import VestaTesting

@testable import VestaDatabase

/// Listens that begin and end while others of their client have no data yet, in every order of what can happen.
@Suite(.timeLimit(.minutes(20)))
struct ListenOrderTests {
  private typealias Call = ListenModel.Call

  private static let first = DatabaseQuerySpec(index: .value, limit: .init(1, .first))
  private static let pair = DatabaseQuerySpec(index: .value, limit: .init(2, .first))

  private static func node(_ children: [DatabaseKey: DatabaseNode]) -> DatabaseNode {
    DatabaseNode(children: children.map { ($0.key, $0.value) })
  }

  private static func number(_ value: Int64) -> DatabaseNode { DatabaseNode(.int(value)) }

  /// A place with a child that is in the window of a query, and a number that enters it.
  private static let tree = node([
    "t": node(["k": node(["x": number(1), "y": number(2)]), "z": node(["x": number(3)])])
  ])

  private static func observe(_ id: Int, _ path: DatabasePath, _ spec: DatabaseQuerySpec = .all) -> Call {
    .observe(id, SyncQuery(path: path, spec: spec))
  }

  /// Histories in which one listen begins with the data of another, covers a third and ends again.
  private static let histories: [[Call]] = [
    [observe(1, "t", pair), observe(2, "t/k", first), observe(3, "t/k")],
    [observe(1, "t", pair), observe(2, "t/k/x"), observe(3, "t/k")],
    [observe(1, "t", pair), observe(2, "t/k/x"), observe(3, "t/k"), .stop(1)],
    [observe(1, "t/k", first), observe(2, "t"), .stop(2)],
    [observe(1, "t/k", first), observe(2, "t/k"), .stop(1), observe(3, "t/k", first)],
    [observe(1, "t", pair), observe(2, "t/k", first), observe(3, "t/k"), .stop(3), observe(4, "t")],
    [observe(1, "t", pair), .set("t/k/y", number(6)), observe(2, "t/k/y", first), observe(3, "t/k")],
  ]

  private static let commits: [[DatabasePathValue]] = [
    [], [DatabasePathValue("t/b", number(4))], [DatabasePathValue("t/k/x", number(5))],
    // Removed, and there again.
    [DatabasePathValue("t/k", .empty), DatabasePathValue("t/k", tree[DatabasePath("t/k")])],
  ]

  @Test(arguments: histories.indices, 0..<8)
  func `a history of listens shows what the service has in every order of its steps`(number: Int, seed: UInt64) {
    var random = SplitMix(seed: seed)
    for round in 0..<80 {
      let commits = Self.commits[round % Self.commits.count]
      let model = ListenModel(Self.tree, calls: Self.histories[number], foreign: commits)
      let order = model.finish(using: &random)
      #expect(model.wrong.isEmpty && model.invented.isEmpty, "\(model.wrong) \(model.invented) \(order)")
    }
  }

  /// Longer histories, a few orders of each.
  @Test(arguments: 0..<40)
  func `observers show what the service has, however calls, commits and messages follow each other`(seed: UInt64) {
    for number in 0..<25 { check(seed &* 1_000 &+ UInt64(number)) }
  }

  @Test(.enabled(if: Soak.isAsked), .timeLimit(.minutes(60)))
  func `observers of many histories show what the service has`() async {
    await Soak("Database, orders of listening").run { seed, _ in check(seed) }
  }

  private func check(_ seed: UInt64) {
    var random = SplitMix(seed: seed)
    let history = ListenHistory(using: &random)
    for _ in 0..<4 {
      let model = history.model
      let order = model.finish(using: &random)
      let problems = model.wrong + model.invented
      #expect(problems.isEmpty, "seed \(seed): \(problems) \(history) \(order)")
    }
  }
}

/// Random calls of a client and writes of another one, over few places.
private struct ListenHistory: CustomStringConvertible {
  private let tree: DatabaseNode
  private var calls: [ListenModel.Call] = []
  private var foreign: [DatabasePathValue] = []

  init(using random: inout SplitMix) {
    tree = DatabaseNode(children: [("t", DatabaseNode(children: ["k", "m"].map { ($0, Self.node(&random)) }))])
    var ids: [Int] = []
    for id in 1...(2 + random.below(5)) {
      switch random.below(8) {
      case 0 where !ids.isEmpty: calls.append(.stop(ids.remove(at: random.below(ids.count))))
      case 1: calls.append(.set(Self.path(1, &random), Self.node(&random)))
      default:
        calls.append(.observe(id, Self.query(&random)))
        ids.append(id)
      }
    }
    if random.oneIn(3) { return }
    for _ in 0..<random.below(4) { foreign.append(DatabasePathValue(Self.path(0, &random), Self.node(&random))) }
  }

  var model: ListenModel { ListenModel(tree, calls: calls, foreign: foreign) }
  var description: String { "\(tree) \(calls) \(foreign)" }

  private static func path(_ least: Int, _ random: inout SplitMix) -> DatabasePath {
    let keys = (0..<(least + random.below(3 - least))).map { depth in
      DatabaseKey(random.pick(depth == 0 ? ["k", "k", "m"] : ["x", "y"]))
    }
    return DatabasePath(["t"] + keys)
  }

  private static func node(_ random: inout SplitMix) -> DatabaseNode {
    switch random.below(4) {
    case 0: .empty
    case 1: DatabaseNode(.int(Int64(random.below(5))))
    default: DatabaseNode(children: ["x", "y", "z"].map { ($0, DatabaseNode(.int(Int64(random.below(5))))) })
    }
  }

  private static func query(_ random: inout SplitMix) -> SyncQuery {
    if random.oneIn(3) { return SyncQuery(path: path(0, &random), spec: .all) }
    let index: DatabaseIndex = random.oneIn(2) ? .value : .key
    let limit = DatabaseQuerySpec.Limit(1 + random.below(2), random.oneIn(2) ? .first : .last)
    return SyncQuery(path: path(0, &random), spec: DatabaseQuerySpec(index: index, limit: limit))
  }
}

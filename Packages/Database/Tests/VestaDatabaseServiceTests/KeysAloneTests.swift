import Testing
import VestaDatabaseBackend
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

/// Reads of keys alone, some at a time, beside the same query over all of the data.
struct KeysAloneTests {
  @Test func `keys that are read in parts are those of the children`() async throws {
    for seed in UInt64(1)...40 {
      var random = SplitMix(seed: seed)
      var options = DatabaseServiceOptions()
      options.tuning = .small(&random)
      let engine = DatabaseEngine(store: ModelStore(), options: options)
      // Numbers are ordered as numbers, and a child of many rows is passed as a whole.
      let names = ["1", "02", "10", "2", "a", "b", "ä", "~"] + (0..<random.below(12)).map { "k\($0)" }
      let children = names.filter { _ in random.oneIn(2) }.map { name in
        (
          DatabaseKey(name),
          random.oneIn(3)
            ? DatabaseNode(.bool(false))
            : DatabaseNode(
              children: (0...random.below(6)).map { (DatabaseKey("x\($0)"), DatabaseNode(.int(Int64($0)))) })
        )
      }
      #expect(await TestClient(engine).put("all", DatabaseNode(children: children)).status == .ok)
      for side in [DatabaseQuerySpec.Side.first, .last] {
        var spec = DatabaseQuerySpec(index: .key)
        if random.oneIn(2) { spec.limit = .init(1 + random.below(5), side) }
        if random.oneIn(2) { spec.start = .init(DatabaseNode(.string(random.pick(names)))) }
        if random.oneIn(2) { spec.end = .init(DatabaseNode(.string(random.pick(names)))) }
        var request = DatabaseReadRequest(namespace: "test", path: "all")
        request.spec = spec
        let whole = try await engine.read(request, context: CallContext())
        request.depth = .keys
        let keys = try await engine.read(request, context: CallContext())
        #expect(Self.names(keys.node) == Self.names(whole.node), "\(seed): \(spec)")
      }
      try await engine.close()
    }
  }

  private static func names(_ node: DatabaseNode) -> [String] {
    var names: [String] = []
    node.forEachChild { key, _ in names.append(key.description) }
    return names
  }
}

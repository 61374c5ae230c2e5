import Foundation
import Testing
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaDatabaseModel
import VestaTesting

struct ValueTests {
  private func node(_ value: Any?) throws -> DatabaseNode { try NodeImport(at: "a").node(value) }

  @Test func `booleans, whole numbers and doubles keep their types`() throws {
    #expect(try node(true).leaf == .bool(true))
    #expect(try node(1).leaf == .int(1))
    #expect(try node(NSNumber(value: false)).leaf == .bool(false))
    #expect(try node(NSNumber(value: 7)).leaf == .int(7))
    #expect(try node(2.5).leaf == .double(2.5))
    #expect(try node(Float(0.5)).leaf == .double(0.5))
    #expect(try node(UInt8(3)).leaf == .int(3))
    #expect(try node(Int64.max).leaf == .int(.max))
    #expect(try node(Optional<Int>.none as Any).isEmpty)
    #expect(try node(["x": Optional(4) as Any]) == node(["x": 4]))
  }

  @Test func `arrays become children by index, and dense children become arrays`() throws {
    let array = try node(["x", NSNull(), "z"])
    #expect(array == DatabaseNode(children: [("0", DatabaseNode(.string("x"))), ("2", DatabaseNode(.string("z")))]))
    #expect((array.plainValue as? [Any])?.count == 3)
    #expect(try node(["0": 1, "9": 2]).plainValue is [String: Any])
    #expect(DatabaseNode.empty.plainValue is NSNull)
  }

  @Test func `values with priorities are read and written`() throws {
    let leaf = try node([".value": 5, ".priority": "p"])
    #expect(leaf == DatabaseNode(.int(5), priority: .string("p")))
    #expect(try node(leaf.exportValue) == leaf)
    #expect(try node([".priority": 1, "a": 2]).priority == .int(1))
    #expect(try node([".value": NSNull()]).isEmpty)
  }

  @Test(arguments: [
    ("a.b", "Invalid key in object at path: a."), ("", "Invalid key in object at path: a."),
    ("a/b", "Invalid key in object at path: a."), ("k\u{7}", "Invalid key in object at path: a."),
  ])
  func `wrong keys are refused with Firebase's text`(key: String, text: String) {
    let error = #expect(throws: InvalidValue.self) { try node([key: 1]) }
    #expect(error?.description.hasPrefix(text) == true)
  }

  @Test func `wrong values are refused with Firebase's text`() {
    func text(_ value: Any?) -> String? {
      do {
        _ = try node(value)
        return nil
      } catch { return "\(error)" }
    }
    #expect(text(Double.nan) == "Cannot store NaN at path: a.")
    #expect(text(["b": Double.infinity]) == "Cannot store NaN at path: a/b.")
    #expect(text(Date())?.hasPrefix("Cannot store object of type Date at a. Can only store") == true)
    #expect(text([".value": 1, ".priority": true]) == "Cannot store true/false as priority at path: a.")
    #expect(text([".value": 1, ".priority": ["x"]]) == "Cannot store an NSArray as priority at path: a.")
    #expect(text([".sv": "timestamp", "x": 1]) == "Cannot store other keys with server value keys.")
    let deep = (0..<40).reduce(1 as Any) { value, _ in ["k": value] }
    #expect(text(deep)?.hasPrefix("path specified exceeds the maximum depth") == true)
    #expect(text([String(repeating: "k", count: 800): 1]) == "has a key path longer than 768 bytes (800).")
  }

  @Test func `server values are replaced by the time and by sums`() throws {
    let write = try node([
      "t": [".sv": "timestamp"], "n": [".sv": ["increment": 2]], "p": [".value": 1, ".priority": [".sv": "timestamp"]],
    ])
    let old = DatabaseNode(children: [("n", DatabaseNode(.int(40)))])
    let resolved = ServerValues.resolve(write, now: 99) { old[$0] }
    #expect(
      resolved[DatabasePath("t")].leaf == .int(99) && resolved[DatabasePath("n")].leaf == .int(42)
        && resolved[DatabasePath("p")].priority == .int(99))
    #expect(
      ServerValues.resolve(DatabaseNode(.incrementInt(1)), now: 0) { _ in DatabaseNode(.int(.max)) }.leaf
        == .double(0x1p63))
    #expect(
      ServerValues.resolve(DatabaseNode(.incrementInt(1)), now: 0) { _ in DatabaseNode(.string("x")) }.leaf == .int(1))
  }

  @Test func `push ids grow, within a millisecond and when the clock is set back`() {
    var random = SplitMix(seed: 3)
    var generator = PushID()
    var ids: [String] = []
    for time in [5, 5, 5, 6, 4, 4, 7] as [Int64] {
      ids.append(generator.next(at: time) { Int.random(in: 0..<64, using: &random) })
    }
    #expect(ids.allSatisfy { $0.utf8.count == 20 })
    #expect(zip(ids, ids.dropFirst()).allSatisfy { DatabaseKey($0) < DatabaseKey($1) })
  }

  @Test func `dictionaries may have keys of any type, which stand for their texts`() throws {
    let mixed: [AnyHashable: Any] = ["a": 1, 7: true, 2.5 as Float: "x"]
    #expect(throws: InvalidValue.self) { try node(mixed) }
    let keys: [AnyHashable: Any] = ["a": 1, 7: true]
    #expect(try node(keys) == DatabaseNode(children: [("7", DatabaseNode(.bool(true))), ("a", DatabaseNode(.int(1)))]))
    #expect(
      try node([3: [4: 5]]) == DatabaseNode(children: [("3", DatabaseNode(children: [("4", DatabaseNode(.int(5)))]))]))
    #expect(try node([".sv": ["increment": 2]] as [AnyHashable: Any]) == DatabaseNode(.incrementInt(2)))
  }

  @Test func `a value, a priority and a server value in one dictionary`() throws {
    let x = DatabaseNode(children: [("x", DatabaseNode(.int(1)))])
    let cases: [([String: Any], DatabaseNode)] = [
      ([".value": 1], DatabaseNode(.int(1))),
      ([".value": 1, ".priority": 2], DatabaseNode(.int(1), priority: .int(2))),
      ([".value": 5, "x": 1], x), ([".value": NSNull(), "x": 1], x), ([".value": NSNull(), ".priority": 3], .empty),
      ([".value": ["x": 1], ".priority": "p"], x.withPriority(.string("p"))), ([".priority": 1], .empty),
      (["x": 1, ".priority": NSNull()], x), (["x": 1, ".priority": 0.5], x.withPriority(.double(0.5))),
      ([".sv": "timestamp"], DatabaseNode(.timestamp)),
      ([".sv": "timestamp", ".priority": 4], DatabaseNode(.timestamp, priority: .int(4))),
      ([".sv": ["increment": 1.5]], DatabaseNode(.incrementDouble(1.5))),
      (["x": 1, ".priority": [".sv": "timestamp"]], x.withPriority(.timestamp)),
      (["x": 1, "y": NSNull(), "z": [String: Any]()], x), (["x": Optional<Int?>.some(.some(1)) as Any], x),
    ]
    for (value, expected) in cases { #expect(try node(value) == expected, "\(value)") }
    for wrong in [
      [".sv": "other"], [".sv": ["increment": "x"]], [".sv": ["increment": Double.nan]], [".sv": ["other": 1]],
      [".sv": ["increment": 1, "other": 2]], [".sv": "timestamp", "x": 1], ["x": 1, ".priority": [".sv": "other"]],
      ["x": 1, ".priority": ["a": 1]], ["x": 1, ".priority": Date()],
    ] as [[String: Any]] {
      #expect(throws: InvalidValue.self, "\(wrong)") { try node(wrong) }
    }
    let nested = (0..<1100).reduce(1 as Any) { value, _ in ["d": value] }
    let error = #expect(throws: InvalidValue.self) { try node(nested) }
    #expect(error?.description == "Max object depth exceeded: a" + String(repeating: "/d", count: 1001))
  }

  @Test func `children become an array when at least half of it is filled`() {
    func value(_ keys: [DatabaseKey]) -> Any {
      DatabaseNode(children: keys.map { ($0, DatabaseNode(.string($0.text))) }).plainValue
    }
    #expect(value(["0", "1", "2"]) as? [String] == ["0", "1", "2"])
    #expect((value(["0", "2"]) as? [Any])?.map { $0 as? String } == ["0", nil, "2"])
    #expect((value(["1", "3"]) as? [Any])?.map { $0 as? String } == [nil, "1", nil, "3"])
    #expect(value(["0"]) as? [String] == ["0"] && (value(["1"]) as? [Any])?.count == 2)
    for keys in [["0", "4"], ["2"], ["00", "1"], ["-1", "0"], ["0", "a"], ["-0", "1"]] as [[DatabaseKey]] {
      #expect((value(keys) as? [String: String])?.count == keys.count, "\(keys)")
    }
    let node = DatabaseNode(children: [("0", DatabaseNode(.int(1), priority: .int(2)))], priority: .string("p"))
    let export = node.exportValue as? [String: Any]
    #expect(export?.count == 2 && export?[".priority"] as? String == "p")
    #expect(export?["0"] as? [String: Int] == [".value": 1, ".priority": 2])
    #expect(DatabaseNode.empty.plainValue is NSNull && DatabaseNode.empty.exportValue is NSNull)
  }

  @Test func `values of thousands of levels are refused`() async throws {
    for isArray in [false, true] {
      for levels in [1_001, 4_000] {
        var value: Any = 1
        for _ in 0..<levels { value = isArray ? [value] : ["a": value] }
        let deep = value
        let error = #expect(throws: InvalidValue.self) { try node(deep) }
        #expect(error?.description.hasPrefix("Max object depth exceeded: ") == true)
      }
    }
  }

  @Test func `containers and objects of all kinds are read alike`() throws {
    let expected = try node(["a": 1, "b": ["c": "x"]])
    #expect(
      try node(["a": NSNumber(value: 1), "b": NSDictionary(dictionary: ["c": NSString(string: "x")])]) == expected)
    #expect(try node(NSDictionary(dictionary: ["a": 1, "b": ["c": "x"]])) == expected)
    #expect(try node(["a": 1, "b": ["c": "x"], "d": NSNull(), "e": [String: Any](), "f": [Any]()]) == expected)
    #expect(try node(["a": 1, "b": ["c": "x"]] as [AnyHashable: Any]) == expected)
    #expect(try node(["a": 1] as [String: Int]) == node(["a": 1]))
    #expect(try node([1, 2] as [Int]) == node(NSArray(array: [1, 2])))
    #expect(try node(NSString(string: "x")).leaf == .string("x"))
  }

  @Test func `of two keys that Swift takes for one the first keeps its own value`() {
    let twins = DatabaseNode(children: [
      ("e\u{301}", DatabaseNode(.int(1))), ("\u{E9}", DatabaseNode(.int(2))), ("z", DatabaseNode(.int(3))),
    ])
    #expect(twins.childCount == 3)
    let plain = twins.plainValue as? [String: Any]
    let kept = plain?.first { $0.key == "\u{E9}" }
    #expect(plain?.count == 2)
    #expect(kept?.value as? Int == (kept.map { Array($0.key.unicodeScalars).count } == 2 ? 1 : 2))
  }

  @Test func `ids of a clock before 1970, and of one at the end of time, are keys that grow`() {
    var ids = PushID()
    let made = [Int64.min, -1, 0, 1, .max, .max].map { ids.next(at: $0) }
    #expect(made == made.sorted { DatabaseKey($0) < DatabaseKey($1) } && Set(made).count == made.count)
    #expect(made.allSatisfy { $0.count == 20 })
    #expect(made[0].hasPrefix("--------"))
  }
}

import Synchronization
import Testing
import VestaFirestoreBackend
import VestaRules

@testable import VestaRulesGuards

/// The values of one document, which several decisions may look at at the same time.
@Suite struct LazyFieldsStressTests {
  private static func document(lists: Int, elements: Int) -> MapValue {
    MapValue((0..<lists).map { ("list\($0)", .array((0..<elements).map { .integer(Int64($0)) })) })
  }

  /// The address of a list's elements; two lists of one address are one list as long as both are kept.
  private func address(_ value: RulesValue?) -> UnsafePointer<RulesValue>? {
    guard case .list(let list) = value else { return nil }
    return list.withUnsafeBufferPointer { $0.baseAddress }
  }

  @Test(arguments: [(31, false), (32, true), (500, true)])
  func `a large list is turned into a value once`(elements: Int, isKept: Bool) {
    let fields = FirestoreFields(Self.document(lists: 3, elements: elements))
    let first = (0..<3).map { fields.value(of: "list\($0)") }
    let second = (0..<3).map { fields.value(of: "list\($0)") }
    for (one, other) in zip(first, second) { #expect((address(one) == address(other)) == isKept) }
    withExtendedLifetime((first, second)) {}
  }

  @Test func `a large list inside of a map or of a list of maps is turned into a value once`() {
    let list = VestaFirestoreBackend.Value.array((0..<500).map { .integer($0) })
    let inner: MapValue = ["list": list]
    let fields = FirestoreFields(["map": .map(["inner": .map(inner)]), "maps": .array([.map(inner)])])
    func looks() -> [RulesValue?] {
      guard case .map(let map) = fields.value(of: "map"), case .map(let inner) = map["inner"],
        case .list(let maps) = fields.value(of: "maps"), case .map(let first) = maps.first
      else { return [] }
      return [inner["list"], first["list"]]
    }
    let (first, second) = (looks(), looks())
    #expect(first.count == 2 && first.map(address) == second.map(address))
    withExtendedLifetime((first, second)) {}
  }

  @Test func `the members of a document are made once`() {
    let fields = FirestoreFields(Self.document(lists: 3, elements: 2))
    let (first, second) = (fields.members, fields.members)
    let addresses = [first, second].map { $0.withUnsafeBufferPointer { $0.baseAddress } }
    #expect(addresses[0] == addresses[1])
    withExtendedLifetime((first, second)) {}
  }

  /// Each task looks at lists that no other one does, so that all of them have something to keep until the end.
  ///
  /// Without the flag that keeps all but one thread away from the kept values, this crashes.
  @Test func `many tasks read one document at once`() async {
    let (tasks, lists, elements) = (4, 400, 32)
    let document = Self.document(lists: lists, elements: elements)
    for _ in 0..<40 {
      let (fields, ready) = (FirestoreFields(document), ReadyCount())
      let count = await withTaskGroup(of: Int.self) { group in
        for task in 0..<tasks {
          group.addTask {
            ready.value.add(1, ordering: .relaxed)
            while ready.value.load(ordering: .relaxed) < tasks { await Task.yield() }
            return stride(from: task, to: lists, by: tasks).reduce(fields.members.count) { count, index in
              guard case .list(let list) = fields.value(of: "list\(index)") else { return count }
              return count + list.count
            }
          }
        }
        return await group.reduce(0, +)
      }
      #expect(count == tasks * lists + lists * elements)
    }
  }

  /// The number of tasks that have started.
  private final class ReadyCount: Sendable {
    let value = Atomic(0)
  }
}

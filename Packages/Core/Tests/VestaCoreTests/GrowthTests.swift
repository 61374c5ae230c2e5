import Testing
import VestaConcurrency
import VestaTesting

@testable import VestaCore

/// Structures that live as long as the process do not grow with the apps, instances and failures that it has seen.
@Suite struct GrowthTests {
  private struct Refused: Error {}

  private final class Table: Sendable {
    let instances = InstanceTable<Int, String>()
  }

  private enum TableLibrary: TestLibrary {
    static func components() -> [Component] { [Component(Table.self, caching: .shared) { _ in Table() }] }
  }

  /// The entries of the board that all gates of the process share, and of the registry of apps.
  private var size: Int {
    CreationBoard.shared.withLock { $0.gates.count + $0.sleepers.count } + AppRegistry.shared.apps.count
  }

  @Test(.timeLimit(.minutes(5))) func `two thousand apps that were deleted leave nothing behind`() async throws {
    let before = size
    for number in 0..<2_000 {
      let app = try VestaApp.configure(
        name: uniqueName("growth"), options: VestaOptions(), libraries: [TableLibrary.self])
      let table = try app.container.require(Table.self)
      #expect(try table.instances.instance(for: number) { "\(number)" } == "\(number)")
      #expect(throws: Refused.self) { try table.instances.instance(for: -number - 1) { throw Refused() } }
      await app.delete()
    }
    // Concurrent tests have other apps; each of ours had two gates.
    #expect(size < before + 2_000)
  }

  @Test(.timeLimit(.minutes(5))) func `a gate forgets the items whose creation is over, also under 16 threads`() async {
    let gate = CreationGate<Int>(place: "test")
    await withTaskGroup { group in
      for thread in 0..<16 {
        group.addTask {
          await TestThreads.run {
            // Every item is asked for by two threads.
            for item in 0..<1_000 {
              while true {
                let entry = gate.enter(item / 2 * 16 + thread / 2)
                if entry == .create {
                  gate.leave(item / 2 * 16 + thread / 2)
                  break
                }
              }
              if gate.knownItems > 16 { Issue.record("\(gate.knownItems) items are known"); return }
            }
          }
        }
      }
    }
    #expect(gate.knownItems == 0)
    // A thread that needs its own item again is told, and what it was told leaves nothing behind.
    #expect(gate.enter(1) == .create)
    #expect(gate.enter(1) == .cycle(path: ["1", "1"]))
    #expect(gate.knownItems == 1)
    gate.leave(1)
    await gate.close()
    #expect(gate.enter(1) == .closed)
    #expect(gate.knownItems == 0)
  }
}

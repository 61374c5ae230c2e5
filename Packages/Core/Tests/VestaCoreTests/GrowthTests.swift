import Testing
import VestaConcurrency

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

  @Test(.timeLimit(.minutes(2))) func `two thousand apps that were deleted leave nothing behind`() async throws {
    let before = size
    for number in 0..<2_000 {
      let app = try VestaApp.configure(
        name: uniqueName("growth"), options: VestaOptions(), libraries: [TableLibrary.self])
      let table = try app.container.require(Table.self)
      #expect(try table.instances.instance(for: number) { "\(number)" } == "\(number)")
      #expect(throws: Refused.self) { try table.instances.instance(for: -number - 1) { throw Refused() } }
      await app.delete()
    }
    // Tests beside this one have apps of their own; each of ours had two gates.
    #expect(size < before + 2_000)
  }
}

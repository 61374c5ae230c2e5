import Foundation
import VestaStoreInterop
import VestaStoreInteropContracts
import Testing
import VestaMemoryStore
import VestaSQLite

@Suite struct StoreImplementations {
  static let all: [Implementation<StoreSubject>] = [
    Implementation("ModelStore") { StoreSubject(store: ModelStore(), other: ModelStore()) },
    Implementation("MemoryStore") { StoreSubject(store: MemoryStore(), other: MemoryStore()) },
    Implementation("SQLiteStore") { try await sqliteStore() },
  ]

  @Test(arguments: all) func keepsEveryPromise(_ implementation: Implementation<StoreSubject>) async {
    await implementation.keeps(StoreContracts.all)
  }

  private static func sqliteStore() async throws -> StoreSubject {
    let directory = TemporaryDirectory()
    let open = { @Sendable in try await SQLiteStore.open(named: "contract", in: directory.path) }
    return StoreSubject(store: try await open(), reopen: { try await open() })
  }
}

/// A directory that goes away with the last closure that uses it.
private final class TemporaryDirectory: Sendable {
  let path = FileManager.default.temporaryDirectory.appending(path: "vesta-contracts-\(UUID().uuidString)").path

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

import Foundation
import VestaStoreInterop
import VestaTesting

@testable import VestaSQLite

extension TemporaryDirectory {
  /// The path of the database file of this directory's store.
  var database: String { path(of: "test/store.sqlite") }

  /// Opens the store of this directory.
  func open(_ durability: StoreDurability = .full, tuning: StoreTuning = StoreTuning(), clock: StoreClock = .system)
    throws -> SQLiteStore
  {
    let options = StoreOptions(durability: durability, clock: clock)
    return try SQLiteStore(named: "test", in: path, options: options, tuning: tuning)
  }

  /// The bytes of a file at any path.
  func bytes(at path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

  /// Writes a file at any path.
  func write(_ bytes: [UInt8], at path: String) throws { try Data(bytes).write(to: URL(fileURLWithPath: path)) }
}

extension OrderedStore {
  func everything() async throws -> [StoreEntry] { try await read { try await $0.entries(in: .all) } }

  func value(for key: [UInt8]) async throws -> [UInt8]? { try await get(key) }
}

func key(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }

/// Bytes that differ from the bytes of any other number, all along.
func value(_ number: Int, length: Int) -> [UInt8] {
  var state = UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15 | 1
  return (0..<length).map { _ in
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return UInt8(truncatingIfNeeded: state >> 24)
  }
}

/// The code of the error that an operation throws; `nil` when it throws none.
func code(of operation: () async throws -> Void) async -> StoreError.Code? {
  do {
    try await operation()
    return nil
  } catch {
    return (error as? StoreError)?.code
  }
}

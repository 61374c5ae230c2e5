import Foundation
import Testing
import VestaStoreInterop
import VestaTesting

@testable import VestaSQLite

extension OneAtATime {
  /// Stores whose files this user may not write.
  @Suite struct FileModeTests {
    /// A closed store with one entry.
    private func closed() async throws -> TemporaryDirectory {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      try await store.put([1], for: [1])
      try await store.close()
      return directory
    }

    private func set(_ mode: Int, on path: String) throws {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    @Test(arguments: ["store.sqlite", "lock"])
    func `a store with a file of mode 0400 is refused as read-only when it is opened`(_ name: String) async throws {
      let directory = try await closed()
      let file = "\(directory.path)/test/\(name)"
      try set(0o400, on: file)
      let error = #expect(throws: StoreError.self) { try FileModes.enforced { try directory.open() } }
      #expect(error?.code == .readOnly)
      #expect(error?.path?.hasPrefix("\(directory.path)/test") == true)
      #expect(error?.hint?.contains("owns") == true)
      // Nothing is left open or changed.
      try set(0o600, on: file)
      let store = try directory.open()
      #expect(try await store.get([1]) == [1])
      try await store.close()
    }

    @Test func `a store in a directory of mode 0500 is refused as read-only when it is opened`() async throws {
      let directory = try await closed()
      let folder = "\(directory.path)/test"
      try set(0o500, on: folder)
      defer { try? set(0o700, on: folder) }
      let error = #expect(throws: StoreError.self) { try FileModes.enforced { try directory.open() } }
      #expect(error?.code == .readOnly)
      #expect(error?.path?.hasPrefix(folder) == true)
      try set(0o700, on: folder)
      let store = try directory.open()
      #expect(try await store.get([1]) == [1])
      try await store.close()
    }

    @Test func `a store cannot be created in a directory of mode 0500`() throws {
      let directory = try TemporaryDirectory()
      try set(0o500, on: directory.path)
      defer { try? set(0o700, on: directory.path) }
      let error = #expect(throws: StoreError.self) { try FileModes.enforced { try directory.open() } }
      #expect(error?.code == .readOnly)
      #expect(error?.message.contains("Permission denied") == true)
      #expect(directory.names == [])
    }
  }
}

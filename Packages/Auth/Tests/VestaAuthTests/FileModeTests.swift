import Foundation
import Testing
import VestaCredentialInterop
import VestaTesting

@testable import VestaAuth

/// Sessions whose files this user may not write.
@Suite struct FileModeTests {
  private func set(_ mode: Int, on path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  @Test func `a session of mode 0400 is loaded, and saving over it is unwritable`() throws {
    let directory = try TemporaryDirectory()
    let store = FileCredentialStore(directory: URL(filePath: directory.path))
    try store.save([1], for: "key")
    try set(0o400, on: directory.path(of: "key.session"))
    try FileModes.enforced { () throws in
      #expect(try store.load("key") == [1])
      let error = #expect(throws: CredentialStoreError.self) { try store.save([2], for: "key") }
      #expect(error?.code == .unwritable)
      #expect(error?.description.contains("key.session") == true)
    }
    #expect(try store.load("key") == [1])
    #expect(directory.names == ["key.session"])
  }

  @Test func `in a directory of mode 0500 sessions are loaded, and other changes are unwritable`() throws {
    let directory = try TemporaryDirectory()
    let store = FileCredentialStore(directory: URL(filePath: directory.path))
    try store.save([1], for: "key")
    try set(0o500, on: directory.path)
    defer { try? set(0o700, on: directory.path) }
    let operations: [(String, () throws -> Void)] = [
      ("save", { try store.save([2], for: "other") }),
      ("save a long one", { try store.save([UInt8](repeating: 2, count: 9_000), for: "key") }),
      ("remove", { try store.remove("key") }),
      ("set aside", { _ = try store.setAside("key") }),
    ]
    try FileModes.enforced { () throws in
      for (name, operation) in operations {
        let error = #expect(throws: CredentialStoreError.self, "\(name)", performing: operation)
        #expect(error?.code == .unwritable, "\(name)")
      }
      #expect(try store.load("key") == [1])
    }
    #expect(directory.names == ["key.session"])
  }

  @Test func `a session of mode 0000 is unreadable, and not absent`() throws {
    let directory = try TemporaryDirectory()
    let store = FileCredentialStore(directory: URL(filePath: directory.path))
    try store.save([1], for: "key")
    try set(0, on: directory.path(of: "key.session"))
    FileModes.enforced {
      let error = #expect(throws: CredentialStoreError.self) { try store.load("key") }
      #expect(error?.code == .unreadable)
    }
  }
}

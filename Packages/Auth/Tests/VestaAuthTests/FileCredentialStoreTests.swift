import Foundation
import Testing
import VestaConcurrency

@testable import VestaAuth

@Suite struct FileCredentialStoreTests {
  @Test func whatIsSavedIsThereForTheNextStore() async throws {
    try await withTemporaryDirectory { directory in
      let place = directory.appending(path: "a/b/auth")
      try FileCredentialStore(directory: place).save([1, 2, 3], for: "x/ y")
      let next = FileCredentialStore(directory: place)
      let loaded = try next.load("x/ y")
      #expect(loaded == [1, 2, 3])
      let other = try next.load("z")
      #expect(other == nil)
      try next.save([4], for: "x/ y")
      let replaced = try next.load("x/ y")
      #expect(replaced == [4])
      try next.remove("x/ y")
      try next.remove("x/ y")
      let gone = try next.load("x/ y")
      #expect(gone == nil)
    }
  }

  @Test func onlyTheOwnerMayReadAndNothingElseIsLeft() async throws {
    try await withTemporaryDirectory { directory in
      let place = directory.appending(path: "auth")
      let store = FileCredentialStore(directory: place)
      for round in 0..<3 { try store.save([UInt8(round)], for: "key") }
      let files = try FileManager.default.contentsOfDirectory(atPath: place.path)
      #expect(files == ["key.session"])
      let file = try FileManager.default.attributesOfItem(atPath: place.appending(path: "key.session").path)
      #expect(file[.posixPermissions] as? Int == 0o600)
      let folder = try FileManager.default.attributesOfItem(atPath: place.path)
      #expect(folder[.posixPermissions] as? Int == 0o700)
    }
  }

  @Test(arguments: ["", "garbage", "vesta-credential 1 0\nhello", "vesta-credential 1 "])
  func aDamagedFileIsKeptAside(_ content: String) async throws {
    try await withTemporaryDirectory { directory in
      let store = FileCredentialStore(directory: directory)
      let file = directory.appending(path: "key.session")
      try Data(content.utf8).write(to: file)
      let error = #expect(throws: CredentialStoreError.self) { try store.load("key") }
      #expect(error?.code == .corrupted)
      let files = try FileManager.default.contentsOfDirectory(atPath: directory.path)
      #expect(files.count == 1 && files[0].hasPrefix("key.session.corrupt-"))
      let kept = try Data(contentsOf: directory.appending(path: files[0]))
      #expect(kept == Data(content.utf8))
      let loaded = try store.load("key")
      #expect(loaded == nil)
    }
  }

  @Test func whatCannotBeReadIsAnErrorAndNotNothing() async throws {
    try await withTemporaryDirectory { directory in
      let file = directory.appending(path: "key.session")
      try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
      let store = FileCredentialStore(directory: directory)
      let reading = #expect(throws: CredentialStoreError.self) { try store.load("key") }
      #expect(reading?.code == .unreadable)
      let writing = #expect(throws: CredentialStoreError.self) { try store.save([1], for: "key") }
      #expect(writing?.code == .unwritable)
    }
  }

  @Test func aFileIsEitherReadAsItWasOrRefused() {
    let bytes = (0..<64).map { UInt8($0) }
    let file = CredentialFile.encode(bytes)
    #expect(CredentialFile.decode(file) == bytes)
    #expect(CredentialFile.decode(CredentialFile.encode([])) == [])
    for length in 0..<file.count { #expect(CredentialFile.decode(Array(file[..<length])) == nil) }
    for index in file.indices {
      var damaged = file
      damaged[index] ^= 0x20
      #expect(CredentialFile.decode(damaged) == nil, "byte \(index)")
    }
  }

  @Test func writersAtTheSameMomentLeaveOneOfTheirValues() async throws {
    try await withTemporaryDirectory { directory in
      let store = FileCredentialStore(directory: directory)
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<16 {
          group.addTask { try? store.save([UInt8](repeating: UInt8(number), count: 5000), for: "key") }
        }
      }
      let bytes = try #require(try store.load("key"))
      #expect(bytes.count == 5000 && Set(bytes).count == 1)
    }
  }
}

import Foundation
import Testing
import VestaFiles
import VestaTesting

/// The modes of the files, and the errors where this user has no access.
@Suite struct FileModeTests {
  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  private func set(_ mode: Int, on path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  @Test func `files and directories are created for their owner alone`() throws {
    let directory = try TemporaryDirectory()
    let (folder, path) = (directory.path + "/a/b", directory.path + "/a/b/file")
    try DurableFile.makeDirectory(folder)
    try DurableFile.replace(path, with: [1])
    #expect(try mode(path) == 0o600)
    for made in [folder, directory.path + "/a"] { #expect(try mode(made) == 0o700) }
    try DurableFile.replace(path, with: [2])
    _ = try DurableFile.change(path) { _ in FileChange(offset: 0, bytes: [3]) }
    try DurableFile.move(path, to: folder + "/moved")
    #expect(try mode(folder + "/moved") == 0o600)
  }

  @Test func `a file of mode 0400 is read, and a change of it is an error that says why`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/file"
    try DurableFile.replace(path, with: [1, 2])
    try set(0o400, on: path)
    try FileModes.enforced { () throws in
      #expect(try DurableFile.read(path) == [1, 2])
      let failure = #expect(throws: FileFailure.self) {
        try DurableFile.change(path) { _ in FileChange(offset: 0, bytes: [9]) }
      }
      #expect(failure?.code == EACCES)
      #expect(failure?.path == path)
      #expect(failure?.description.contains(path) == true)
    }
    #expect(try DurableFile.read(path) == [1, 2])
    #expect(try mode(path) == 0o400)
  }

  @Test func `in a directory of mode 0500 files are read, and nothing is created or renamed`() throws {
    let directory = try TemporaryDirectory()
    let (folder, path) = (directory.path + "/folder", directory.path + "/folder/file")
    try DurableFile.makeDirectory(folder)
    try DurableFile.replace(path, with: [1])
    try set(0o500, on: folder)
    defer { try? set(0o700, on: folder) }
    let forbidden: [(String, () throws -> Void)] = [
      ("replace", { try DurableFile.replace(path, with: [2]) }),
      ("create", { try DurableFile.replace(folder + "/other", with: [2]) }),
      ("remove", { try DurableFile.remove(path) }),
      ("move", { try DurableFile.move(path, to: directory.path + "/moved") }),
      ("make", { try DurableFile.makeDirectory(folder + "/a/b") }),
    ]
    try FileModes.enforced { () throws in
      for (name, operation) in forbidden {
        let failure = #expect(throws: FileFailure.self, "\(name)", performing: operation)
        #expect(failure?.code == EACCES, "\(name)")
        #expect(failure?.description.contains(folder) == true, "\(name)")
      }
      #expect(try DurableFile.read(path) == [1])
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["file"])
  }
}

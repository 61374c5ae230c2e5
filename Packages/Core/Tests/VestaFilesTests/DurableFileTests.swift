import Foundation
import Testing
import VestaTesting

@testable import VestaFiles

@Suite struct DurableFileTests {
  @Test func `a file has the bytes of the last replacement, and nothing is left next to it`() throws {
    let directory = try TemporaryDirectory()
    let (folder, path) = (directory.path + "/a/b", directory.path + "/a/b/file")
    try DurableFile.makeDirectory(folder)
    try DurableFile.makeDirectory(folder)
    #expect(try DurableFile.read(path) == nil)
    for round in 1...3 { try DurableFile.replace(path, with: [UInt8](repeating: UInt8(round), count: 40_000)) }
    #expect(try DurableFile.read(path) == [UInt8](repeating: 3, count: 40_000))
    #expect(try DurableFile.read(path + ".new") == nil)
  }

  @Test func `a file is changed in place, or left as it is`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/file"
    #expect(try !DurableFile.change(path) { _ in FileChange(offset: 0, bytes: [9]) })
    try DurableFile.replace(path, with: [1, 2, 3, 4])
    #expect(try DurableFile.change(path) { FileChange(offset: $0.count - 1, bytes: [8, 9]) })
    #expect(try !DurableFile.change(path) { _ in nil })
    #expect(try DurableFile.read(path) == [1, 2, 3, 8, 9])
  }

  @Test func `a moved file replaces the one that had its name`() throws {
    let directory = try TemporaryDirectory()
    let (old, new) = (directory.path + "/old", directory.path + "/folder/new")
    try DurableFile.makeDirectory(directory.path + "/folder")
    try DurableFile.replace(new, with: [1])
    try DurableFile.replace(old, with: [2])
    try DurableFile.move(old, to: new)
    #expect(try DurableFile.read(new) == [2])
    #expect(try DurableFile.read(old) == nil)
  }

  @Test func `a removed file is absent, and so are the remains of its replacement after a crash`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/file"
    try DurableFile.replace(path + ".new", with: [1])
    try DurableFile.replace(path, with: [2])
    try DurableFile.remove(path)
    try DurableFile.remove(path)
    #expect(try DurableFile.read(path) == nil)
    #expect(try DurableFile.read(path + ".new") == nil)
  }

  @Test func `what a crash has left is swept, and another file is not`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/file"
    try DurableFile.replace(path + ".new", with: [1])
    try DurableFile.replace(path, with: [2])
    DurableFile.sweep(path)
    #expect(try DurableFile.read(path + ".new") == nil)
    #expect(try DurableFile.read(path) == [2])
  }

  @Test func `a failure names the call, the path and the reason, and nothing has changed`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/file"
    try DurableFile.makeDirectory(path)
    let failure = #expect(throws: FileFailure.self) { try DurableFile.replace(path, with: [1]) }
    #expect(failure?.description.contains(path) == true && failure?.code != 0)
    #expect(throws: FileFailure.self) { try DurableFile.replace(directory.path + "/none/file", with: [1]) }
    #expect(throws: FileFailure.self) { try DurableFile.move(directory.path + "/none", to: path) }
    #expect(try DurableFile.read(path + ".new") == nil)
  }

  @Test func `readers concurrent with writers see whole files`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/file"
    try DurableFile.replace(path, with: [UInt8](repeating: 0, count: 5_000))
    await withTaskGroup(of: Void.self) { group in
      for writer in 1...4 {
        group.addTask {
          for _ in 0..<8 { try? DurableFile.replace(path, with: [UInt8](repeating: UInt8(writer), count: 5_000)) }
        }
        group.addTask {
          for _ in 0..<32 {
            do {
              let bytes = try DurableFile.read(path)
              #expect(bytes?.count == 5_000 && Set(bytes ?? []).count == 1)
            } catch {
              // A slow disk may hold the lock of a writer for longer than a reader waits.
              #expect("\(error)".contains("locked"))
            }
          }
        }
      }
    }
  }

  #if !os(Windows)
    @Test func `a directory that could be read in part only is an error, and its end is none`() throws {
      func entry(_ name: String) -> dirent {
        var entry = dirent()
        // Unsafe bytes, used inside the closure only: the system's fixed array is filled.
        withUnsafeMutableBytes(of: &entry.d_name) { $0.copyBytes(from: Array(name.utf8) + [0]) }
        return entry
      }
      /// Reads some entries, and then what the system says with an error number.
      func names(_ entries: [String], then code: Int32) throws -> [String] {
        var rest = entries[...]
        // Unsafe pointer to the one entry that is read before the next one is put there; freed below.
        let place = UnsafeMutablePointer<dirent>.allocate(capacity: 1)
        defer { place.deallocate() }
        return try DurableFile.names(in: "/folder") {
          guard let name = rest.popFirst() else {
            errno = code
            return nil
          }
          place.initialize(to: entry(name))
          // A call that succeeds may leave any number behind.
          errno = EAGAIN
          return place
        }
      }
      #expect(try names([".", "one", "..", "two"], then: 0) == ["one", "two"])
      #expect(try names([], then: 0) == [])
      for read in [[], ["one"], ["one", "two"]] {
        let failure = #expect(throws: FileFailure.self) { try names(read, then: EIO) }
        #expect(failure?.code == EIO && failure?.path == "/folder")
      }
    }
  #endif
}

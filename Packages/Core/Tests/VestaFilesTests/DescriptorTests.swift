import Foundation
import Testing
import VestaConcurrency
import VestaTesting

@testable import VestaFiles

/// The time at which a file is really closed, and the files that a new file next to them does not change.
@Suite struct DescriptorTests {
  #if os(Linux)
    /// How many descriptors this process has open for a path.
    private func descriptors(of path: String) throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")) == path
      }
    }

    /// The path of a file in a directory, as the system names it.
    private func path(_ name: String, in directory: TemporaryDirectory) -> String {
      URL(fileURLWithPath: directory.path).resolvingSymlinksInPath().path + "/\(name)"
    }

    @Test func `a file is closed by the call, and at the latest with its last reference`() throws {
      let directory = try TemporaryDirectory()
      let path = path("file", in: directory)
      let file = try OpenFile(writing: path, .always)
      #expect(try descriptors(of: path) == 1)
      file.close()
      #expect(try descriptors(of: path) == 0)
      do {
        let other = try OpenFile(reading: path)
        #expect(try descriptors(of: path) == 1)
        _ = try other.size()
      }
      #expect(try descriptors(of: path) == 0)
    }

    @Test func `a file that is closed while others read is closed by the last of them`() async throws {
      let directory = try TemporaryDirectory()
      let path = path("file", in: directory)
      try DurableFile.replace(path, with: [UInt8](repeating: 7, count: 100_000))
      for _ in 0..<50 {
        let file = try OpenFile(reading: path)
        // Separate threads: tasks that only read would leave no thread to the others.
        let (begun, ended) = (Log<Int>(), Log<Int>())
        for number in 0..<3 {
          Thread.detachNewThread {
            begun.add(number)
            while (try? file.read(at: 0, length: 100_000)) != nil {}
            ended.add(number)
          }
        }
        await begun.wait { $0.count == 3 }
        file.close()
        await ended.wait { $0.count == 3 }
        #expect(try descriptors(of: path) == 0)
        withExtendedLifetime(file) {}
      }
    }
  #endif

  @Test func `a new file is its owner's alone, unless it is to be public`() throws {
    let directory = try TemporaryDirectory()
    func mode(_ name: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: directory.path(of: name))[.posixPermissions] as? Int
    }
    _ = try OpenFile(writing: directory.path(of: "own"), .always)
    #expect(try mode("own") == 0o600)
    _ = try OpenFile(writing: directory.path(of: "all"), .always, isPrivate: false)
    #expect(try mode("all").map { $0 & 0o044 } != 0)
  }

  @Test func `a temporary file that has its place leaves its old name alone`() throws {
    let directory = try TemporaryDirectory()
    let file = try FileBeside(named: ".new", target: directory.path(of: "target"))
    try file.append([1])
    try file.finish()
    try directory.write([2], to: ".new")
    file.discard()
    #expect(try directory.bytes(of: ".new") == [2])
    let other = try FileBeside(continuing: directory.path(of: ".new"), target: directory.path(of: "target"))
    other.discard()
    try directory.write([3], to: ".new")
    other.discard()
    #expect(try directory.bytes(of: ".new") == [3])
  }

  @Test func `a temporary file is emptied whole, and its directory is as new ones are`() throws {
    let directory = try TemporaryDirectory()
    let file = try FileBeside(named: ".new", target: directory.path(of: "folder/target"))
    let folder = try FileManager.default.attributesOfItem(atPath: directory.path(of: "folder"))
    #expect((folder[.posixPermissions] as? Int).map { $0 & 0o055 } != 0)
    try file.append([1, 2])
    try file.truncate()
    try file.finish()
    #expect(try directory.bytes(of: "folder/target") == [])
  }

  @Test(arguments: [
    ("/a/b", "/a"), ("/a/b/", "/a"), ("/a/b//", "/a"), ("/a", "/"), ("/a/", "/"), ("/", "/"), ("//", "/"), ("a", "."),
    ("a/", "."), ("a/b", "a"), ("a/b/", "a"),
  ])
  func `a path has the directory that it is in`(path: String, parent: String) {
    #expect(FilePath.parent(of: path) == parent)
  }
}

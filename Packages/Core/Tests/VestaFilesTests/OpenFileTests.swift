import Foundation
import Testing
import VestaConcurrency
import VestaFiles
import VestaTesting

@Suite struct OpenFileTests {
  @Test func `bytes are written and read at any position`() throws {
    let directory = try TemporaryDirectory()
    let file = try OpenFile(writing: directory.path(of: "file"), .always)
    try file.write([1, 2, 3, 4, 5], at: 0)
    try file.write([9, 9], at: 7)
    #expect(try file.read(at: 3, length: 100) == [4, 5, 0, 0, 9, 9])
    #expect(try file.read(at: 9, length: 4) == [])
    try file.truncate(to: 2)
    #expect(try file.size() == 2)
    try file.sync()
    file.close()
    file.close()
    let failure = #expect(throws: FileFailure.self) { try file.read(at: 0, length: 1) }
    #expect(failure?.isClosed == true)
    #expect(try OpenFile(reading: directory.path(of: "file")).read(at: 0, length: 9) == [1, 2])
  }

  @Test func `a missing or an existing file is what the caller says it is`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path(of: "file")
    #expect(#expect(throws: FileFailure.self) { try OpenFile(reading: path) }?.isMissing == true)
    #expect(#expect(throws: FileFailure.self) { try OpenFile(writing: path, .never) }?.isMissing == true)
    try OpenFile(writing: path, .ifMissing).write([7], at: 0)
    #expect(#expect(throws: FileFailure.self) { try OpenFile(writing: path, .always) }?.isExisting == true)
    #expect(try OpenFile(writing: path, .ifMissing).read(at: 0, length: 2) == [7])
  }

  @Test func `a link, a pipe without a reader and a path with a zero byte are not waited for or followed`() throws {
    let directory = try TemporaryDirectory()
    let (link, pipe) = (directory.path(of: "link"), directory.path(of: "pipe"))
    try DurableFile.replace(directory.path(of: "file"), with: [1])
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: directory.path(of: "file"))
    #expect(throws: FileFailure.self) { try OpenFile(reading: link) }
    #expect(throws: FileFailure.self) { try OpenFile(writing: link, .ifMissing) }
    #expect(throws: FileFailure.self) { try OpenFile(reading: directory.path(of: "file\u{0}x")) }
    #expect(mkfifo(pipe, 0o600) == 0)
    #expect(try OpenFile(reading: pipe).identity().isRegular == false)
  }

  @Test func `a temporary file takes its place whole, or leaves nothing`() throws {
    let directory = try TemporaryDirectory()
    let target = directory.path(of: "a/b/target")
    let file = try FileBeside(named: ".new", target: target)
    try file.append([1, 2])
    try file.append([3])
    #expect(!DurableFile.exists(target))
    try file.finish()
    file.discard()
    #expect(try DurableFile.read(target) == [1, 2, 3])
    let other = try FileBeside(named: ".new", target: target)
    try other.append([4])
    other.discard()
    #expect(throws: FileFailure.self) { try other.append([5]) }
    #expect(try DurableFile.names(in: directory.path(of: "a/b")) == ["target"])
    #expect(try DurableFile.read(target) == [1, 2, 3])
  }

  @Test func `a temporary file that was left continues where it was`() throws {
    let directory = try TemporaryDirectory()
    let target = directory.path(of: "target")
    do { try FileBeside(named: ".new", target: target).append([1, 2]) }
    let file = try FileBeside(continuing: directory.path(of: ".new"), target: target)
    #expect(try file.read(at: 0, length: 9) == [1, 2])
    try file.append([3])
    try file.finish()
    #expect(try DurableFile.read(target) == [1, 2, 3])
    #expect(throws: FileFailure.self) { try FileBeside(continuing: directory.path, target: target) }
  }

  @Test func `a temporary file that is being written can neither be continued nor removed`() throws {
    let directory = try TemporaryDirectory()
    let (target, temporary) = (directory.path(of: "target"), directory.path(of: ".new"))
    let file = try FileBeside(named: ".new", target: target)
    try file.append([1, 2])
    let refused = #expect(throws: FileFailure.self) { try FileBeside(continuing: temporary, target: target) }
    #expect(refused?.isLocked == true)
    #expect(!FileBeside.removeLeftover(temporary))
    try file.sync()
    try file.finish()
    #expect(try DurableFile.read(target) == [1, 2])
    do { try FileBeside(named: ".new", target: target).append([3]) }
    #expect(FileBeside.removeLeftover(temporary))
    #expect(try DurableFile.names(in: directory.path) == ["target"])
    #expect(try DurableFile.read(target) == [1, 2])
  }

  @Test func `a change that hides its time is seen by the time of the status`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path(of: "file")
    try DurableFile.replace(path, with: [1, 2])
    let file = try OpenFile(writing: path, .never)
    let (identity, status) = (try file.identity(), try file.statusTime())
    var times = [timespec(), timespec()]
    times[1].tv_sec = Int(identity.modifiedSeconds)
    times[1].tv_nsec = Int(identity.modifiedNanoseconds)
    repeat {
      try file.write([9], at: 0)
      #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
    } while try file.statusTime() == status
    #expect(try file.identity() == identity)
  }

  @Test func `a directory that is not private stays as it is, and a file is no directory`() throws {
    let directory = try TemporaryDirectory()
    let shared = directory.path(of: "shared")
    #expect(mkdir(shared, 0o700) == 0 && chmod(shared, 0o1777) == 0)
    try DurableFile.makeDirectory(shared, isPrivate: false)
    let mode = try FileManager.default.attributesOfItem(atPath: shared)[.posixPermissions] as? Int
    #expect(mode.map { $0 & 0o777 } == 0o777)
    try DurableFile.replace(directory.path(of: "file"), with: [])
    #expect(throws: FileFailure.self) { try DurableFile.makeDirectory(directory.path(of: "file"), isPrivate: false) }
    #expect(throws: FileFailure.self) { try DurableFile.makeDirectory(directory.path(of: "file/below")) }
    #expect(try DurableFile.names(in: directory.path(of: "none")) == [])
    #expect(try DurableFile.names(in: directory.path(of: "file")) == [])
  }
}

@Suite struct OpenFileStressTests {
  @Test func `a reader never gets the bytes of a file that was opened after its own was closed`() async throws {
    let directory = try TemporaryDirectory()
    let (mine, other) = (directory.path(of: "mine"), directory.path(of: "other"))
    try DurableFile.replace(mine, with: [UInt8](repeating: 1, count: 4_096))
    try DurableFile.replace(other, with: [UInt8](repeating: 2, count: 4_096))
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<400 {
        guard let file = try? OpenFile(reading: mine) else { continue }
        group.addTask {
          for _ in 0..<4 {
            guard let bytes = try? file.read(at: 0, length: 4_096) else { return }
            #expect(bytes.allSatisfy { $0 == 1 } && bytes.count == 4_096)
          }
        }
        group.addTask { file.close() }
        group.addTask { _ = try? OpenFile(reading: other).read(at: 0, length: 1) }
      }
    }
  }

  @Test func `a file that is lent stays open until it is given back`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path(of: "file")
    let file = try OpenFile(writing: path, .always)
    try file.write([1, 2, 3], at: 0)
    var loan = try file.lend()
    let descriptor = try #require(loan?.descriptor)
    file.close()
    #expect(try loan?.read(at: 1, length: 9) == [2, 3])
    #expect(#expect(throws: FileFailure.self) { try file.lend() }?.isClosed == true)
    #expect(FileManager.default.fileExists(atPath: "/dev/fd/\(descriptor)"))
    loan = nil
    #expect(#expect(throws: FileFailure.self) { try file.read(at: 0, length: 1) }?.isClosed == true)
  }
}

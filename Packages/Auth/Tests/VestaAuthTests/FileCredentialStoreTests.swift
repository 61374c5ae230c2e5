import Foundation
import Testing
import VestaBytes
import VestaConcurrency
import VestaCredentialInterop
import VestaCredentialInteropContracts
import VestaFiles
import VestaTesting

@testable import VestaAuth

@Suite struct FileCredentialStoreTests {
  @Test func `a saved session is there for the next store`() async throws {
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

  @Test func `only the owner may read a session, and no other file is left`() async throws {
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

  @Test(arguments: ["", "garbage", "vesta-credential 1 0\nhello", "vesta-credential 1 ", "VESTACR2"])
  func `a damaged file is kept aside`(_ content: String) async throws {
    try await withTemporaryDirectory { directory in
      let store = FileCredentialStore(directory: directory)
      let file = directory.appending(path: "key.session")
      try Data(content.utf8).write(to: file)
      let error = #expect(throws: CredentialStoreError.self) { try store.load("key") }
      #expect(error?.code == .corrupted)
      #expect(error?.message.hasSuffix(" Sign in again.") == true)
      let files = try FileManager.default.contentsOfDirectory(atPath: directory.path)
      #expect(files.count == 1 && files[0].hasPrefix("key.session.corrupt-"))
      let kept = try Data(contentsOf: directory.appending(path: files[0]))
      #expect(kept == Data(content.utf8))
      let loaded = try store.load("key")
      #expect(loaded == nil)
    }
  }

  @Test func `a file that cannot be read is an error and not an absent session`() async throws {
    try await withTemporaryDirectory { directory in
      let file = directory.appending(path: "key.session")
      try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
      let store = FileCredentialStore(directory: directory)
      let reading = #expect(throws: CredentialStoreError.self) { try store.load("key") }
      #expect(reading?.code == .unreadable && reading?.message.contains("is not a regular file") == true)
      let writing = #expect(throws: CredentialStoreError.self) { try store.save([1], for: "key") }
      #expect(writing?.code == .unwritable)
    }
  }

  @Test func `the file store and the memory store keep every promise of a credential store`() async throws {
    try await withTemporaryDirectory { root in
      let outcomes = await CredentialStoreContracts.all.run { Self.subject(in: root) }
      #expect(outcomes.filter { !$0.isKept }.map(\.description) == [])
    }
    let memory = await CredentialStoreContracts.all.run { CredentialStoreSubject(MemoryCredentialStore()) }
    #expect(memory.filter { !$0.isKept }.map(\.description) == [])
  }

  private static func subject(in root: URL) -> CredentialStoreSubject {
    let place = root.appending(path: UUID().uuidString)
    let away = root.appending(path: UUID().uuidString)
    return CredentialStoreSubject(
      FileCredentialStore(directory: place), reopened: { FileCredentialStore(directory: place) },
      damage: { key in
        let file = place.appending(path: CredentialFile.name(of: key))
        try Data(try Data(contentsOf: file).map { $0 ^ 0x55 }).write(to: file)
      },
      setReadsFail: { fails in
        // A file in the place of the directory cannot be looked into, whatever user runs the test.
        if fails {
          try FileManager.default.moveItem(at: place, to: away)
          try Data().write(to: place)
        } else {
          try FileManager.default.removeItem(at: place)
          try FileManager.default.moveItem(at: away, to: place)
        }
      },
      crashes: { bytes, key in
        let file = place.appending(path: CredentialFile.name(of: key))
        let before = [UInt8](try Data(contentsOf: file))
        guard let change = CredentialFile.layout.change(of: before, to: bytes) else { return [] }
        // Each part of the change that may have reached the disk, and each part of a new file next to the old one.
        let torn = (0...change.bytes.count).map { count -> [UInt8] in
          var content = before
          content.replaceSubrange(change.offset..<(change.offset + count), with: change.bytes.prefix(count))
          return content
        }
        return try torn.enumerated().filter { $0.offset % 7 == 0 || $0.offset > torn.count - 3 }.map { _, content in
          let directory = root.appending(path: UUID().uuidString)
          try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
          let copy = directory.appending(path: file.lastPathComponent)
          try Data(content).write(to: copy)
          try Data(content.prefix(content.count / 2)).write(to: URL(filePath: copy.path + ".new"))
          return FileCredentialStore(directory: directory)
        }
      })
  }

  @Test func `a file of the first layout is read with a newline in its session`() async throws {
    try await withTemporaryDirectory { directory in
      let session = Array("first\nsecond".utf8)
      var checksum = CRC32C()
      checksum.update(session)
      let head = Array("vesta-credential 1 \(String(checksum.value, radix: 16))\n".utf8)
      try Data(head + session).write(to: directory.appending(path: "key.session"))
      #expect(try FileCredentialStore(directory: directory).load("key") == session)
    }
  }

  // MARK: Strangers in its place

  #if canImport(Darwin) || canImport(Glibc) || canImport(Musl) || canImport(Android)
    @Test func `a symbolic link in the place of a session is refused and not followed`() async throws {
      try await withTemporaryDirectory { directory in
        let target = directory.appending(path: "target")
        try Data("other".utf8).write(to: target)
        let store = FileCredentialStore(directory: directory)
        for name in ["key.session", "key.session.new"] {
          let link = directory.appending(path: name)
          try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
          #expect(throws: CredentialStoreError.self) { try store.save([1, 2, 3], for: "key") }
          #expect(try Data(contentsOf: target) == Data("other".utf8))
          try FileManager.default.removeItem(at: link)
        }
        try FileManager.default.createSymbolicLink(
          at: directory.appending(path: "key.session"), withDestinationURL: target)
        let error = #expect(throws: CredentialStoreError.self) { try store.load("key") }
        #expect(error?.code == .unreadable && error?.description.contains("symbolic link") == true)
      }
    }

    @Test func `a pipe in the place of a session makes no caller wait`() async throws {
      try await withTemporaryDirectory { directory in
        #expect(mkfifo(directory.appending(path: "key.session").path, 0o600) == 0)
        let store = FileCredentialStore(directory: directory)
        let reading = #expect(throws: CredentialStoreError.self) { try store.load("key") }
        #expect(reading?.code == .unreadable)
        #expect(throws: CredentialStoreError.self) { try store.save([1], for: "key") }
      }
    }

    @Test func `rights of others are taken away`() async throws {
      try await withTemporaryDirectory { directory in
        let place = directory.appending(path: "auth")
        let file = place.appending(path: "key.session")
        let store = FileCredentialStore(directory: place)
        try store.save([1], for: "key")
        #expect(chmod(file.path, 0o644) == 0 && chmod(place.path, 0o777) == 0)
        #expect(try store.load("key") == [1])
        #expect(
          try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
        try store.save([2], for: "another")
        #expect(
          try FileManager.default.attributesOfItem(atPath: place.path)[.posixPermissions] as? Int == 0o755)
      }
    }

    @Test func `a foreign lock is an error and not a wait without end`() async throws {
      try await withTemporaryDirectory { directory in
        let store = FileCredentialStore(directory: directory)
        try store.save([1], for: "key")
        let file = open(directory.appending(path: "key.session").path, O_RDONLY)
        defer { close(file) }
        #expect(flock(file, LOCK_EX) == 0)
        let error = #expect(throws: CredentialStoreError.self) { try store.load("key") }
        #expect(error?.code == .unreadable && error?.description.contains("locked") == true)
      }
    }

    @Test func `the remains of a new file after a crash are removed at the next occasion`() async throws {
      try await withTemporaryDirectory { directory in
        let store = FileCredentialStore(directory: directory)
        let left = directory.appending(path: "key.session.new")
        func leave() throws {
          try Data("half a session".utf8).write(to: left)
          #expect(chmod(left.path, 0o600) == 0)
        }
        func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() }
        try leave()
        #expect(try store.load("key") == nil)
        #expect(try files() == [])
        try leave()
        try store.save([1], for: "key")
        #expect(try files() == ["key.session"])
        try leave()
        try store.remove("key")
        #expect(try files() == [])
      }
    }
  #endif

  // MARK: Damage

  @Test func `a file with two damaged slots is kept aside`() async throws {
    try await withTemporaryDirectory { directory in
      let store = FileCredentialStore(directory: directory)
      try store.save([1], for: "key")
      try store.save([2], for: "key")
      let file = directory.appending(path: "key.session")
      var bytes = [UInt8](try Data(contentsOf: file))
      bytes[28] ^= 1
      bytes[bytes.count / 2 + 28] ^= 1
      try Data(bytes).write(to: file)
      let error = #expect(throws: CredentialStoreError.self) { try store.load("key") }
      #expect(error?.code == .corrupted)
      let files = try FileManager.default.contentsOfDirectory(atPath: directory.path)
      #expect(files.count == 1 && files[0].hasPrefix("key.session.corrupt-"))
      try store.save([3], for: "key")
      let loaded = try store.load("key")
      #expect(loaded == [3])
    }
  }

  // MARK: The file

  @Test func `a file of the first layout is read and then replaced`() async throws {
    try await withTemporaryDirectory { directory in
      let file = directory.appending(path: "key.session")
      try Data("vesta-credential 1 9a71bb4c\nhello".utf8).write(to: file)
      let store = FileCredentialStore(directory: directory)
      let loaded = try store.load("key")
      #expect(loaded == Array("hello".utf8))
      try store.save([1], for: "key")
      let saved = try store.load("key")
      #expect(saved == [1])
      let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
    }
  }

  @Test func `a session is written in place while it fits`() async throws {
    try await withTemporaryDirectory { directory in
      let store = FileCredentialStore(directory: directory)
      let file = directory.appending(path: "key.session").path
      let number = { try FileManager.default.attributesOfItem(atPath: file)[.systemFileNumber] as? Int }
      // The longest that fits, one more, and a short one in what is a long file by then.
      try store.save([1], for: "key")
      let first = try number()
      for length in [0, 4_068, 1, 4_068] {
        let bytes = [UInt8](repeating: 7, count: length)
        try store.save(bytes, for: "key")
        let (loaded, now) = (try store.load("key"), try number())
        #expect(loaded == bytes && now == first)
      }
      let long = [UInt8](repeating: 8, count: 4_069)
      try store.save(long, for: "key")
      let loaded = try store.load("key")
      #expect(loaded == long)
      try store.save([2], for: "key")
      let short = try store.load("key")
      #expect(short == [2])
      let files = try FileManager.default.contentsOfDirectory(atPath: directory.path)
      #expect(files == ["key.session"])
    }
  }

  @Test func `readers concurrent with writers see whole sessions, and the last one stays`() async throws {
    try await withTemporaryDirectory { directory in
      let value = { @Sendable (number: Int) in [UInt8](repeating: UInt8(number), count: 1_000 + number) }
      try FileCredentialStore(directory: directory).save(value(0), for: "key")
      await withTaskGroup(of: Void.self) { group in
        for writer in 0..<4 {
          group.addTask {
            let store = FileCredentialStore(directory: directory)
            for round in 1...8 { try? store.save(value(writer * 8 + round), for: "key") }
          }
          group.addTask {
            let store = FileCredentialStore(directory: directory)
            for _ in 0..<32 {
              do {
                let bytes = try store.load("key")
                #expect(bytes.map { $0 == value(Int($0[0])) } == true)
              } catch {
                // A slow disk may hold the lock of a writer for longer than a reader waits.
                #expect("\(error)".contains("locked"))
              }
            }
          }
        }
      }
      let last = try #require(try FileCredentialStore(directory: directory).load("key"))
      #expect([8, 16, 24, 32].contains(Int(last[0])) && last == value(Int(last[0])))
    }
  }

  @Test func `concurrent writers leave one of their values`() async throws {
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

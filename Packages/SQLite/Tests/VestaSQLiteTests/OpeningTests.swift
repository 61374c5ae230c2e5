import CVestaSQLite
import Foundation
import Testing
import VestaStoreInterop
import VestaStoreInteropCrashTesting
import VestaTesting

@testable import VestaSQLite

extension OneAtATime {
  @Suite struct OpeningTests {
    @Test func `files and directories are for the owner alone`() async throws {
      let directory = try TemporaryDirectory()
      let parent = "\(directory.path)/a/b"
      let store = try await SQLiteStore.open(named: "test", in: parent)
      try await store.put([1], for: [1])
      _ = try await store.everything()
      let mode = { (path: String) in
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      }
      for path in ["\(directory.path)/a", parent, "\(parent)/test"] { #expect(try mode(path) == 0o700, "\(path)") }
      for file in ["lock", "store.sqlite", "store.sqlite-wal", "store.sqlite-shm"] {
        #expect(try mode("\(parent)/test/\(file)") == 0o600, "\(file)")
      }
      try await store.close()
      #expect(!FileManager.default.fileExists(atPath: "\(parent)/test/store.sqlite-wal"))
    }

    @Test func `a store is open once in a process`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      #expect(await code { _ = try directory.open() } == .alreadyOpen)
      // Through another name for the same directory as well.
      try FileManager.default.createSymbolicLink(
        atPath: "\(directory.path)/link", withDestinationPath: "\(directory.path)/test")
      let options = StoreOptions()
      #expect(
        await code { _ = try await SQLiteStore.open(named: "link", in: directory.path, options: options) }
          == .alreadyOpen)
      try await store.close()
      try await directory.open().close()
    }

    @Test func `a store that was dropped can be opened again`() async throws {
      let directory = try TemporaryDirectory()
      var store: SQLiteStore? = try directory.open()
      try await store?.put([1], for: [1])
      let commits = try #require(store?.commits)
      store = nil
      for await _ in commits {}
      let again = try directory.open()
      let kept = try await again.value(for: [1])
      #expect(kept == [1])
      try await again.close()
    }

    @Test func `another process finds the store locked until its owner is killed`() async throws {
      let directory = try TemporaryDirectory()
      let owner = try WorkerProcess("StoreCrashWorker", "hold", directory.path)
      try await owner.wait(for: "ready")
      #expect(await code { _ = try directory.open() } == .locked)
      _ = try await owner.killAfter(microseconds: 0, afterLine: nil)
      try await directory.open().close()
    }

    @Test func `a closed store is free while a copy of its descriptor is open, as in a process that is being started`()
      async throws
    {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      try await store.put([1], for: [1])
      let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
      let lock = try #require(
        files.first {
          let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
          return target?.hasPrefix(directory.path) == true && target?.hasSuffix("/lock") == true
        })
      let copy = dup(try #require(Int32(lock)))
      defer { close(copy) }
      #expect(copy >= 0)
      try await store.close()
      let again = try directory.open()
      #expect(try await again.everything().count == 1)
      try await again.close()
    }

    @Test(arguments: ["", ".", "..", ".hidden", "a/b", "a b", "ä", String(repeating: "x", count: 101)])
    func `a name that cannot be a directory is refused`(_ name: String) async throws {
      let directory = try TemporaryDirectory()
      #expect(await code { _ = try await SQLiteStore.open(named: name, in: directory.path) } == .invalidName)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
    }

    @Test func `other files are not taken for a store`() async throws {
      for content in [Array("hello".utf8), value(1, length: 20_000), Array("SQLite format 3\0".utf8)] {
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: "\(directory.path)/test", withIntermediateDirectories: true)
        try directory.write(content, at: directory.database)
        #expect(await code { _ = try directory.open() } == .notADatabase)
        #expect(try directory.bytes(at: directory.database) == content)
      }
    }

    @Test func `the database of another program is not taken for a store`() async throws {
      for settings in ["", "PRAGMA page_size = 8192; PRAGMA application_id = 7;", "PRAGMA journal_mode = WAL;"] {
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: "\(directory.path)/test", withIntermediateDirectories: true)
        try sqlite(directory.database, "\(settings) CREATE TABLE entry (key, value); INSERT INTO entry VALUES (1, 2);")
        #expect(await code { _ = try directory.open() } == .notADatabase, "\(settings)")
      }
    }

    @Test func `a file of a later version is left alone`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      try await store.close()
      try sqlite(directory.database, "PRAGMA user_version = 4")
      let error = #expect(throws: StoreError.self) { try directory.open() }
      #expect(error?.code == .newerSchema)
      #expect(error?.path == directory.database)
      #expect(error?.hint != nil)
    }

    @Test func `an interrupted making is taken up again`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      try await store.close()
      // As a kill before the tables were made leaves it: an empty file, or none, and nothing noted in the lock file.
      try directory.write([], at: directory.database)
      try directory.write([], at: "\(directory.path)/test/lock")
      let again = try directory.open()
      try await again.put([1], for: [1])
      try await again.close()
    }

    @Test func `a directory that cannot be written is reported as read-only`() async throws {
      // No user may make directories there, not even the administrator, whom no permissions stop elsewhere.
      let place = FileManager.default.fileExists(atPath: "/sys/kernel") ? "/sys/kernel" : "/System"
      let error = await #expect(throws: StoreError.self) {
        try await SQLiteStore.open(named: "test", in: "\(place)/vesta")
      }
      #expect(error?.code == .readOnly)
      #expect(error?.path == "\(place)/vesta/test")
      #expect(error?.hint != nil)
    }

    @Test func `a path below a file is an error with the path`() async throws {
      let directory = try TemporaryDirectory()
      try directory.write([1], at: "\(directory.path)/file")
      let error = await #expect(throws: StoreError.self) {
        try await SQLiteStore.open(named: "test", in: "\(directory.path)/file/below")
      }
      // It does not pass by itself: an input-output error would be tried again without end.
      #expect(error?.code == .notADatabase)
      #expect(error?.hint?.contains("another directory") == true)
      #expect(error?.path?.hasPrefix(directory.path) == true)
    }

    @Test func `a read-only file system is an error that says so`() {
      let failure = StoreError(system: SystemFailure(code: EROFS), operation: "open", path: "/x")
      #expect(failure.code == .readOnly)
      let inSQLite = StoreError(sqlite: SQLITE_CANTOPEN, system: EACCES, operation: "open", path: "/x")
      #expect(inSQLite.code == .readOnly)
      #expect(StoreError(sqlite: SQLITE_READONLY, system: 0, operation: "write", path: "/x").code == .readOnly)
    }

    @Test func `the header identifies the kind of a file`() throws {
      #expect(StoreHeader([]) == .empty)
      var header = [UInt8](repeating: 0, count: 100)
      #expect(StoreHeader(header) == .zeros)
      header[99] = 1
      #expect(StoreHeader(header) == .foreign)
      header[99] = 0
      header.replaceSubrange(0..<16, with: Array("SQLite format 3\0".utf8))
      header[16] = 0x20
      header[20] = 8
      #expect(StoreHeader(header) == .store)
      header.replaceSubrange(68..<72, with: Array("VSTA".utf8))
      header[63] = 1
      #expect(StoreHeader(header) == .store)
      header[63] = UInt8(StoreHeader.schemaVersion)
      #expect(StoreHeader(header) == .store)
      header[63] += 1
      #expect(StoreHeader(header) == .newer)
      header[68] = 0
      #expect(StoreHeader(header) == .foreign)
      #expect(StoreHeader(Array(header.prefix(99))) == .foreign)
    }
  }
}

/// Runs SQL on a file as another program would.
func sqlite(_ path: String, _ sql: String) throws {
  var handle: OpaquePointer?
  defer { sqlite3_close_v2(handle) }
  try #require(sqlite3_open(path, &handle) == SQLITE_OK)
  try #require(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK)
}

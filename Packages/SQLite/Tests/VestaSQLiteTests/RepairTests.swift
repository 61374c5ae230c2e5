import CVestaSQLite
import Foundation
import Testing
import VestaStoreInterop
import VestaTesting

@testable import VestaSQLite

extension OneAtATime {
  /// The files that other programs, and losses of power, leave behind.
  @Suite struct RepairTests {
    /// The files of an open store with 150 transactions, as a kill leaves them.
    private func crashed() async throws -> (directory: TemporaryDirectory, entries: [StoreEntry]) {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      for number in 0..<150 { try await store.put(value(number, length: number * 40), for: key(number)) }
      let entries = try await store.everything()
      let copy = try directory.crashImage()
      try await store.close()
      return (copy, entries)
    }

    @Test func `a store that another program opened after a crash is mended without a loss`() async throws {
      let (directory, entries) = try await crashed()
      // The last connection of the other program writes the log back, without our checksums.
      try sqlite(directory.database, "SELECT count(*) FROM entry")
      let error = await #expect(throws: StoreError.self) {
        let store = try directory.open()
        do { _ = try await store.everything() } catch {
          try await store.close()
          throw error
        }
      }
      #expect(error?.code == .corrupt)
      #expect(error?.hint?.contains(#"SQLiteStore.repair(named: "test", in: "\#(directory.path)")"#) == true)
      let repair = try await SQLiteStore.repair(named: "test", in: directory.path)
      #expect(repair == StoreRepair(rewroteChecksums: true, lostLog: false))
      let store = try directory.open()
      #expect(try await store.everything() == entries)
      #expect(try await store.checkIntegrity() == [])
      try await store.put([1], for: [1])
      try await store.close()
      #expect(try directory.files() == ["lock", "reserve", "store.sqlite"])
      #expect(try directory.mode(of: directory.database) == 0o600)
    }

    @Test func `repairing a sound store changes nothing, and an open one is refused`() async throws {
      let (directory, entries) = try await crashed()
      let store = try directory.open()
      #expect(await code { try await SQLiteStore.repair(named: "test", in: directory.path) } == .alreadyOpen)
      try await store.close()
      let before = try directory.bytes(at: directory.database)
      let repair = try await SQLiteStore.repair(named: "test", in: directory.path)
      #expect(repair == StoreRepair(rewroteChecksums: false, lostLog: false))
      #expect(try directory.bytes(at: directory.database) == before)
      let again = try directory.open()
      #expect(try await again.everything() == entries)
      try await again.close()
    }

    @Test func `a damaged content is beyond repair, and left as it is`() async throws {
      let (directory, _) = try await crashed()
      let store = try directory.open()
      try await store.close()
      var bytes = try directory.bytes(at: directory.database)
      for page in 2..<6 { for at in 0..<60 { bytes[page * 8_192 + at] = 0xAA } }
      try directory.write(bytes, at: directory.database)
      let error = await #expect(throws: StoreError.self) {
        try await SQLiteStore.repair(named: "test", in: directory.path)
      }
      #expect(error?.code == .corrupt)
      #expect(error?.operation == "repair")
      #expect(try directory.bytes(at: directory.database) == bytes)
      #expect(try directory.files().filter { $0.contains("partial") } == [])
    }

    @Test func `a flipped bit in the header of the log is reported, and repair continues without the log`() async throws
    {
      let (directory, _) = try await crashed()
      let log = directory.database + "-wal"
      let sound = try directory.bytes(at: log)
      for bit in stride(from: 0, to: 32 * 8, by: 7) {
        var bytes = sound
        bytes[bit / 8] ^= 1 << (bit % 8)
        try directory.write(bytes, at: log)
        let error = #expect(throws: StoreError.self) { try directory.open() }
        #expect(error?.code == .corrupt, "bit \(bit)")
        #expect(error?.path == log)
      }
      let repair = try await SQLiteStore.repair(named: "test", in: directory.path)
      #expect(repair.lostLog)
      let store = try directory.open()
      #expect(try await store.checkIntegrity() == [])
      try await store.close()
      #expect(try directory.files().contains("store.sqlite-wal.damaged"))
    }

    @Test func `the header of a log is judged by its sums`() {
      #expect(LogHeader([]) == .absent)
      #expect(LogHeader([UInt8](repeating: 0, count: 32)) == .absent)
      #expect(LogHeader([UInt8](repeating: 1, count: 31)) == .absent)
      #expect(LogHeader([UInt8](repeating: 1, count: 32)) == .damaged)
    }

    @Test func `a file of zeros that was never complete is started over, a complete one is damaged`() async throws {
      let directory = try TemporaryDirectory()
      try FileManager.default.createDirectory(atPath: "\(directory.path)/test", withIntermediateDirectories: true)
      try directory.write([UInt8](repeating: 0, count: 8_192), at: directory.database)
      let store = try directory.open()
      try await store.put([1], for: [1])
      try await store.close()
      try directory.write([UInt8](repeating: 0, count: 8_192), at: directory.database)
      #expect(await code { _ = try directory.open() } == .corrupt)
      // Zeros and something else are another program's file.
      let other = try TemporaryDirectory()
      try FileManager.default.createDirectory(atPath: "\(other.path)/test", withIntermediateDirectories: true)
      try other.write([UInt8](repeating: 0, count: 8_192) + [1], at: other.database)
      #expect(await code { _ = try other.open() } == .notADatabase)
      #expect(try other.bytes(at: other.database).count == 8_193)
    }

    @Test func `half a first page of a store that was never complete is started over, whichever half it is`()
      async throws
    {
      // The first page as SQLite writes it first, with the checksum of its end.
      let page = try await {
        let directory = try TemporaryDirectory()
        try await directory.open().close()
        return Array(try directory.bytes(at: directory.database).prefix(8_192))
      }()
      let checksum = [UInt8](repeating: 0, count: 8_184) + page.suffix(8)
      let foreign = [UInt8](repeating: 0, count: 8_183) + [1] + page.suffix(8)
      for (bytes, expected) in [(checksum, nil), (foreign, StoreError.Code.notADatabase)] {
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: "\(directory.path)/test", withIntermediateDirectories: true)
        try directory.write(bytes, at: directory.database)
        // As SQLite leaves it before the journal of the first page counts.
        try directory.write([UInt8](repeating: 0, count: 512), at: "\(directory.database)-journal")
        let refusal = await code {
          let store = try directory.open()
          try await store.put([1], for: [1])
          try await store.close()
        }
        #expect(refusal == expected)
        if expected != nil { #expect(try directory.bytes(at: directory.database) == bytes) }
      }
    }

    @Test(arguments: [1, 2]) func `a store of an earlier schema is brought up to date`(_ schema: Int) async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      try await store.put([1], for: [1])
      try await store.close()
      let old = try Connection(path: directory.database, operation: "test")
      try old.execute("ALTER TABLE state DROP COLUMN exact; UPDATE state SET version = 7", operation: "test")
      if schema == 1 { try old.execute("ALTER TABLE state DROP COLUMN floor", operation: "test") }
      try old.execute("PRAGMA user_version = \(schema)", operation: "test")
      old.close()
      let again = try directory.open()
      #expect(try await again.read { $0.version } == StoreVersion(rawValue: 7))
      #expect(try await again.put([2], for: [1]).microseconds > 1_600_000_000_000_000)
      try await again.raiseFloor(to: nil)
      try await again.close()
    }

    @Test(arguments: ["database", "directory", "lock", "replaced"])
    func `a store whose files were taken away acknowledges nothing more`(_ what: String) async throws {
      let directory = try TemporaryDirectory()
      var tuning = StoreTuning()
      tuning.placeCheckInterval = .zero
      let store = try directory.open(tuning: tuning)
      try await store.put([1], for: [1])
      let files = FileManager.default
      switch what {
      case "database": try files.moveItem(atPath: directory.database, toPath: "\(directory.path)/moved")
      case "lock": try files.removeItem(atPath: "\(directory.path)/test/lock")
      case "replaced":
        try directory.write(directory.bytes(at: directory.database), at: "\(directory.path)/copy")
        try files.removeItem(atPath: directory.database)
        try files.moveItem(atPath: "\(directory.path)/copy", toPath: directory.database)
      default: try files.moveItem(atPath: "\(directory.path)/test", toPath: "\(directory.path)/moved")
      }
      let error = await #expect(throws: StoreError.self) { try await store.put([2], for: [1]) }
      #expect(error?.code == .inputOutput)
      #expect(error?.message.contains("moved") == true)
      try await store.close()
    }

    @Test func `a look at the places of the files is good for its interval, and no longer`() async throws {
      let directory = try TemporaryDirectory()
      var tuning = StoreTuning()
      for interval in [Duration.seconds(1_000_000), .zero] {
        tuning.placeCheckInterval = interval
        let store = try directory.open(tuning: tuning)
        try await store.put([1], for: [1])
        let (lock, away) = ("\(directory.path)/test/lock", "\(directory.path)/away")
        try FileManager.default.moveItem(atPath: lock, toPath: away)
        let error = await code { try await store.put([2], for: [1]) }
        #expect(error == (interval == .zero ? .inputOutput : nil))
        try FileManager.default.moveItem(atPath: away, toPath: lock)
        try await store.put([3], for: [1])
        try await store.close()
      }
    }

    @Test func `a file that is cut off under the open store is damaged`() async throws {
      let directory = try TemporaryDirectory()
      let first = try directory.open()
      for number in 0..<200 { try await first.put(value(number, length: 900), for: key(number)) }
      try await first.close()
      let store = try directory.open()
      let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: directory.database))
      try handle.truncate(atOffset: 0)
      try handle.close()
      let found = await code { _ = try await store.everything() }
      #expect(found == .corrupt)
      try await store.close()
    }

    @Test func `a read error of the device is no damage`() {
      let failure = StoreError(sqlite: SQLITE_IOERR | (33 << 8), system: EIO, operation: "read", path: "/x")
      #expect(failure.code == .inputOutput)
      let index = StoreError(sqlite: SQLITE_IOERR | (19 << 8), system: 0, operation: "commit", path: "/x")
      #expect(index.code == .diskFull)
      #expect(StoreError(sqlite: SQLITE_ERROR, system: 0, operation: "read", path: "/x").code == .corrupt)
    }
  }
}

extension TemporaryDirectory {
  /// A copy of the files of an open store, as a kill of the process leaves them.
  func crashImage() throws -> TemporaryDirectory {
    let copy = try TemporaryDirectory()
    try FileManager.default.createDirectory(atPath: "\(copy.path)/test", withIntermediateDirectories: true)
    for file in ["lock", "store.sqlite", "store.sqlite-wal"]
    where FileManager.default.fileExists(atPath: "\(path)/test/\(file)") {
      try copy.write(bytes(at: "\(path)/test/\(file)"), at: "\(copy.path)/test/\(file)")
    }
    return copy
  }

  /// The files of the store.
  func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: "\(path)/test").sorted() }

  func mode(of file: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
  }
}

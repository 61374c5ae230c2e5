import Foundation
import Testing
import VestaStoreInterop
import VestaTesting

@testable import VestaSQLite

extension OneAtATime {
  @Suite struct BackupTests {
    private func filled(_ count: Int = 300) async throws -> (TemporaryDirectory, SQLiteStore, [StoreEntry]) {
      let directory = try TemporaryDirectory()
      let store = try directory.open(.relaxed)
      try await store.write { transaction in
        for number in 0..<count { try await transaction.put(value(number, length: 4_000), for: key(number)) }
      }
      return (directory, store, try await store.everything())
    }

    @Test func `of many backups to one file, each that returned has left a whole one`() async throws {
      let (directory, store, entries) = try await filled(3_000)
      let target = "\(directory.path)/copy.sqlite"
      for round in 0..<3 {
        let tasks = (0..<6).map { _ in Task.detached { try await store.backup(to: target) } }
        for (index, task) in tasks.enumerated() {
          for _ in 0..<(round * 40) { await Task.yield() }
          if index % 2 == 1 { task.cancel() }
        }
        var succeeded = 0
        for task in tasks {
          do {
            try await task.value
            succeeded += 1
            // The file is complete, whatever the others do at the same time.
            #expect(try Platform.size(of: target) > entries.count * 4_000)
          } catch is CancellationError {}
        }
        #expect(succeeded >= 3)
        try await SQLiteStore.restore(named: "restored", in: directory.path, from: target)
        let restored = try await SQLiteStore.open(named: "restored", in: directory.path)
        #expect(try await restored.everything() == entries)
        try await restored.close()
      }
      let left = try FileManager.default.contentsOfDirectory(atPath: directory.path)
      #expect(left.filter { $0.contains("partial") } == [])
      try await store.close()
    }

    @Test func `every backup is written to a separate file, which no other process has opened`() throws {
      let directory = try TemporaryDirectory()
      let target = directory.path(of: "copy.sqlite")
      let made = try (0..<50).map { _ in try Platform.makeUniqueFile(beside: target) }
      defer { for (_, lock) in made { Platform.closeFile(lock) } }
      let partials = made.map(\.name)
      #expect(Set(partials).count == 50)
      #expect(partials.allSatisfy { $0.hasPrefix(directory.path) && $0 != target })
      #expect(directory.names.count == 50)
    }

    @Test func `a backup into the directory of an open store is refused, and the store loses nothing`() async throws {
      let (directory, store, _) = try await filled(10)
      let other = try TemporaryDirectory()
      let open = try other.open()
      try FileManager.default.createSymbolicLink(
        atPath: "\(directory.path)/link", withDestinationPath: "\(directory.path)/test")
      for target in [
        store.path, "\(directory.path)/test/copy", "\(directory.path)/link/store.sqlite", other.database,
        "\(directory.path)/test/store.sqlite-wal",
      ] {
        #expect(await code { try await store.backup(to: target) } == .invalidName, "\(target)")
      }
      for number in 0..<50 { try await store.put([9], for: key(number)) }
      try await store.close()
      try await open.close()
      let again = try directory.open()
      #expect(try await again.everything().count == 50)
      #expect(try await again.checkIntegrity() == [])
      try await again.close()
    }

    @Test func `a link in the place of the target is replaced and not followed`() async throws {
      let (directory, store, _) = try await filled(10)
      try directory.write([1, 2, 3], at: "\(directory.path)/precious")
      try FileManager.default.createSymbolicLink(
        atPath: "\(directory.path)/copy", withDestinationPath: "\(directory.path)/precious")
      try await store.backup(to: "\(directory.path)/copy")
      #expect(try directory.bytes(at: "\(directory.path)/precious") == [1, 2, 3])
      #expect(try directory.mode(of: "\(directory.path)/copy") == 0o600)
      try await store.close()
    }

    @Test func `restoring puts the backup in the place of the store`() async throws {
      let (directory, store, entries) = try await filled(200)
      let target = "\(directory.path)/copy.sqlite"
      try await store.backup(to: target)
      try await store.write { try await $0.deleteRange(.all) }
      try await store.put([1], for: [1])
      #expect(
        await code { try await SQLiteStore.restore(named: "test", in: directory.path, from: target) } == .alreadyOpen)
      try await store.close()
      try await SQLiteStore.restore(named: "test", in: directory.path, from: target)
      let restored = try directory.open()
      #expect(try await restored.everything() == entries)
      try await restored.put([1], for: [1])
      try await restored.close()
      #expect(try directory.files() == ["lock", "reserve", "store.sqlite"])
    }

    @Test func `what is no whole backup is refused, and the store stays as it is`() async throws {
      let (directory, store, entries) = try await filled(200)
      let target = "\(directory.path)/copy.sqlite"
      try await store.backup(to: target)
      let inUse = await code { try await SQLiteStore.restore(named: "other", in: directory.path, from: store.path) }
      #expect(inUse == .locked)
      try await store.close()
      let sound = try directory.bytes(at: target)
      var flipped = sound
      flipped[9 * 8_192 + 5_000] ^= 4
      var truncated = sound
      truncated.removeLast(8_192)
      let foreign = Array("something else".utf8)
      let cases: [([UInt8], StoreError.Code)] = [
        ([], .corrupt), ([UInt8](repeating: 0, count: 8_192), .corrupt), (flipped, .corrupt), (truncated, .corrupt),
        (foreign, .notADatabase),
      ]
      for (bytes, expected) in cases {
        try directory.write(bytes, at: target)
        let found = await code { try await SQLiteStore.restore(named: "test", in: directory.path, from: target) }
        #expect(found == expected, "\(bytes.count) bytes")
      }
      let missing = await code {
        try await SQLiteStore.restore(named: "test", in: directory.path, from: "\(directory.path)/none")
      }
      #expect(missing == .inputOutput)
      let own = await code {
        try await SQLiteStore.restore(named: "test", in: directory.path, from: directory.database)
      }
      #expect(own == .locked)
      let again = try directory.open()
      #expect(try await again.everything() == entries)
      try await again.close()
      #expect(try directory.files() == ["lock", "reserve", "store.sqlite"])
    }

    @Test func `what killed backups have left is swept, and what runs is left alone`() async throws {
      let (directory, store, entries) = try await filled(200)
      let target = "\(directory.path)/copy.sqlite"
      for name in ["partial-1a2b", "partial-1a2b-journal", "partial-3c", "other"] {
        try directory.write([1], at: "\(target).\(name)")
      }
      let (running, lock) = try Platform.makeUniqueFile(beside: target)
      try await store.backup(to: target)
      let running2 = String(running.split(separator: "/").last ?? "")
      let left = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
      #expect(left == ["copy.sqlite", "copy.sqlite.other", running2, "test"])
      Platform.closeFile(lock)
      try await store.backup(to: target)
      #expect(!FileManager.default.fileExists(atPath: running))
      try await store.close()
      try await SQLiteStore.restore(named: "test", in: directory.path, from: target)
      let restored = try directory.open()
      #expect(try await restored.everything() == entries)
      try await restored.close()
    }

    @Test func `compacting returns free space, concurrently with readers, and keeps everything`() async throws {
      let (directory, store, entries) = try await filled(1_000)
      try await store.write { try await $0.deleteRange(KeyRange(from: key(50), to: nil)) }
      let before = try await store.size()
      #expect(before.freeBytes > 3_000_000)
      let kept = try await store.read { reader in
        let first = try await reader.get(key(1))
        try await Task.detached { try await store.compact() }.value
        return first == (try await reader.get(key(1)))
      }
      #expect(kept)
      try await store.put([1], for: key(0))
      try await store.compact()
      let after = try await store.size()
      #expect(after.freeBytes == 0)
      #expect(after.databaseBytes < before.databaseBytes / 5)
      #expect(try await store.everything().dropFirst() == entries[1..<50])
      #expect(try await store.checkIntegrity() == [])
      try await store.close()
      #expect(try Platform.size(of: directory.database) < before.databaseBytes / 5)
    }

    @Test func `compacting inside a body is nested, and a cancelled one changes nothing`() async throws {
      let (_, store, entries) = try await filled(500)
      let error = await code { try await store.write { _ in try await store.compact() } }
      #expect(error == .nested)
      let task = Task.detached { try await store.compact() }
      task.cancel()
      do { try await task.value } catch is CancellationError {}
      #expect(try await store.everything() == entries)
      try await store.close()
    }

    @Test(arguments: [true, false])
    func `deleted and replaced secrets are overwritten where the options say so`(_ overwrites: Bool) async throws {
      let directory = try TemporaryDirectory()
      let options = StoreOptions(overwritesDeleted: overwrites)
      let store = try await SQLiteStore.open(named: "test", in: directory.path, options: options)
      let secrets = (0..<8).map { Array("the secret number \($0) of somebody".utf8) }
      for (index, secret) in secrets.enumerated() {
        let value = index % 2 == 0 ? secret : secret + value(1, length: 9_000)
        try await store.put(value, for: key(index))
        // Written back, so that it is in the database file.
        try await store.compact()
      }
      for index in 0..<4 { try await store.delete(key(index)) }
      for index in 4..<8 { try await store.put([1], for: key(index)) }
      try await store.close()
      let data = try Data(contentsOf: URL(fileURLWithPath: directory.database))
      let left = secrets.filter { data.range(of: Data($0)) != nil }
      #expect(left.isEmpty == overwrites)
    }
  }
}

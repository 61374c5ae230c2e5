import CVestaSQLite
import CVestaStoreFiles
import Foundation
import Testing
import VestaStoreInterop
import VestaStoreInteropCrashTesting
import VestaTesting

@testable import VestaSQLite

extension OneAtATime {
  @Suite struct FaultTests {
    /// A closed store of some hundred entries, small ones and large ones.
    private func filled() async throws -> (directory: TemporaryDirectory, entries: [StoreEntry]) {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      try await store.write { transaction in
        for number in 0..<400 {
          try await transaction.put(value(number, length: number % 50 == 0 ? 20_000 : 300), for: key(number))
        }
      }
      let entries = try await store.everything()
      try await store.close()
      return (directory, entries)
    }

    @Test func `a full disk is an error and loses nothing`() async throws {
      let directory = try TemporaryDirectory()
      let worker = try WorkerProcess("StoreCrashWorker", "fill", directory.path, "3000000")
      let lines = await worker.finish()
      #expect(lines.contains { $0.hasPrefix("full ") }, "\(lines)")
      #expect(lines.contains("sound true"), "\(lines)")
      #expect(lines.contains("backup full"), "\(lines)")
      #expect(!lines.contains { $0.hasPrefix("lost") || $0.hasPrefix("half") || $0.hasPrefix("error") }, "\(lines)")
      let store = try directory.open()
      let problems = try await store.checkIntegrity()
      #expect(problems == [])
      try await store.put([1], for: [1])
      try await store.close()
    }

    @Test(arguments: [false, true])
    func `a commit that a full disk takes no part or half of has failed for certain`(_ halves: Bool) async throws {
      defer { store_files_inject(store_fault()) }
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      try await store.put([1], for: key(0))
      var fault = store_fault()
      fault.operations = Int32(STORE_FAULT_WRITE)
      (fault.times, fault.no_space, fault.halves) = (Int32.max, 1, halves ? 1 : 0)
      store_files_inject(fault)
      for number in 0..<3 {
        #expect(await code { try await store.put([2], for: key(number)) } == .diskFull)
      }
      store_files_inject(store_fault())
      #expect(try await store.everything() == [StoreEntry(key: key(0), value: [1])])
      try await store.put([3], for: key(0))
      try await store.close()
      let again = try directory.open()
      #expect(try await again.everything() == [StoreEntry(key: key(0), value: [3])])
      try await again.close()
    }

    /// There are old frames where the new ones would go.
    @Test(arguments: [false, true])
    func `a commit that fails within a log that starts over has failed for certain`(_ halves: Bool) async throws {
      defer { store_files_inject(store_fault()) }
      let directory = try TemporaryDirectory()
      var tuning = StoreTuning()
      tuning.checkpointPages = 20
      let store = try directory.open(tuning: tuning)
      var pages = 0
      for number in 0... {
        try await store.put(value(number, length: 1_500), for: key(number))
        let after = try await store.logPages()
        if after < pages { break }
        pages = after
      }
      let entries = try await store.everything()
      var fault = store_fault()
      fault.operations = Int32(STORE_FAULT_WRITE)
      (fault.times, fault.halves) = (Int32.max, halves ? 1 : 0)
      store_files_inject(fault)
      #expect(await code { try await store.put([2], for: key(0)) } == .inputOutput)
      store_files_inject(store_fault())
      let image = try directory.crashImage()
      try await store.close()
      for directory in [image, directory] {
        let again = try directory.open()
        #expect(try await again.everything() == entries)
        try await again.close()
      }
    }

    @Test func `a log that gets no room behind its frames takes commits all the same`() async throws {
      defer { store_files_inject(store_fault()) }
      let directory = try TemporaryDirectory()
      var fault = store_fault()
      fault.operations = Int32(STORE_FAULT_ROOM)
      (fault.times, fault.no_space) = (Int32.max, 1)
      store_files_inject(fault)
      let store = try directory.open()
      for number in 0..<20 { try await store.put(value(number, length: 3_000), for: key(number)) }
      #expect(store_files_faults() >= 20)
      store_files_inject(store_fault())
      let image = try directory.crashImage()
      try await store.close()
      for directory in [image, directory] {
        let again = try directory.open()
        let entries = try await again.everything()
        #expect(entries == (0..<20).map { StoreEntry(key: key($0), value: value($0, length: 3_000)) })
        try await again.close()
      }
    }

    @Test func `after running out of pages the store continues`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      try await store.put([1], for: key(0))
      try await store.withTurn { try $0.limitPages(to: 40) }
      let error = await code {
        try await store.write { transaction in
          for number in 1..<200 { try await transaction.put(value(number, length: 5_000), for: key(number)) }
        }
      }
      #expect(error == .diskFull)
      let entries = try await store.everything()
      #expect(entries == [StoreEntry(key: key(0), value: [1])])
      try await store.put([2], for: key(0))
      let after = try await store.value(for: key(0))
      #expect(after == [2])
      try await store.close()
    }

    @Test func `a body that swallows a failure of the disk commits nothing`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      try await store.withTurn { try $0.limitPages(to: 40) }
      let error = await code {
        try await store.write { transaction in
          for number in 0..<200 { try? await transaction.put(value(number, length: 5_000), for: key(number)) }
          try? await transaction.put([1], for: [1])
        }
      }
      #expect(error == .diskFull)
      let entries = try await store.everything()
      #expect(entries == [])
      try await store.close()
    }

    @Test func `a failed sync is an error for the whole group and does not reappear`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      try await store.put([1], for: key(0))
      try await store.withTurn { $0.failSyncs(1) }
      let error = await code { try await store.put([2], for: key(0)) }
      #expect(error == .inputOutput)
      let seen = try await store.value(for: key(0))
      #expect(seen == [1])

      // The files that a crash right now would leave behind.
      let copy = try TemporaryDirectory()
      try FileManager.default.createDirectory(atPath: "\(copy.path)/test", withIntermediateDirectories: true)
      for suffix in ["", "-wal"] {
        try copy.write(directory.bytes(at: directory.database + suffix), at: copy.database + suffix)
      }
      let recovered = try copy.open()
      let kept = try await recovered.value(for: key(0))
      #expect(kept == [1])
      try await recovered.close()

      let version = try await store.put([3], for: key(0))
      #expect(version > StoreVersion(rawValue: 1))
      try await store.close()
    }

    @Test func `a disk that fails for good leaves the outcome open and says so`() async throws {
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      try await store.put([1], for: key(0))
      try await store.withTurn { $0.failSyncs(2) }
      let error = await code { try await store.put([2], for: key(0)) }
      #expect(error == .unknownOutcome)
      try await store.put([3], for: key(0))
      let seen = try await store.value(for: key(0))
      #expect(seen == [3])
      try await store.close()
    }

    @Test func `flipped bytes are an error or harmless and never wrong data`() async throws {
      let (directory, entries) = try await filled()
      let seed = UInt64.random(in: 0...UInt64.max)
      print("FaultTests: seed \(seed)")
      var random = SplitMix(seed: seed)
      let sound = try directory.bytes(at: directory.database)
      var found = 0
      for _ in 0..<150 {
        var bytes = sound
        let position = Int.random(in: 0..<bytes.count, using: &random)
        bytes[position] ^= UInt8.random(in: 1...255, using: &random)
        try directory.write(bytes, at: directory.database)
        let result = await read(directory)
        switch result {
        case .success(let read): #expect(read == entries, "position \(position)")
        case .failure(let error):
          found += 1
          #expect(error.code == .corrupt, "position \(position): \(error)")
          #expect(error.path != nil)
        }
      }
      #expect(found > 100)
    }

    @Test func `the integrity check finds flipped bytes`() async throws {
      let (directory, _) = try await filled()
      var bytes = try directory.bytes(at: directory.database)
      let page = 8_192
      bytes[5 * page + 4_000] ^= 0x40
      try directory.write(bytes, at: directory.database)
      let store = try directory.open()
      let problems = try await store.checkIntegrity()
      #expect(!problems.isEmpty)
      try await store.close()
    }

    @Test func `a truncated file is an error or harmless and never wrong data`() async throws {
      let (directory, entries) = try await filled()
      let sound = try directory.bytes(at: directory.database)
      for length in [0, 1, 99, 100, 8_191, 8_192, 8_193, sound.count / 2, sound.count - 8_192, sound.count - 1] {
        try directory.write(Array(sound.prefix(length)), at: directory.database)
        switch await read(directory) {
        case .success(let read): #expect(read == entries, "length \(length)")
        case .failure(let error): #expect(error.code == .corrupt, "length \(length): \(error)")
        }
      }
    }

    @Test func `a missing data file is not taken for a new store`() async throws {
      let (directory, _) = try await filled()
      try FileManager.default.removeItem(atPath: directory.database)
      let error = await code { _ = try directory.open() }
      #expect(error == .corrupt)
    }

    /// Everything in the store of a directory, read after opening it.
    private func read(_ directory: TemporaryDirectory) async -> Result<[StoreEntry], StoreError> {
      do {
        let store = try directory.open()
        do {
          let entries = try await store.everything()
          try await store.close()
          return .success(entries)
        } catch {
          try await store.close()
          throw error
        }
      } catch {
        guard let error = error as? StoreError else { preconditionFailure("not a StoreError: \(error)") }
        return .failure(error)
      }
    }
  }
}

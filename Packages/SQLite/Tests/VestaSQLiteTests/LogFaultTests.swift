import CVestaStoreFiles
import Testing
import VestaStoreInterop
import VestaTesting

@testable import VestaSQLite

extension OneAtATime {
  /// Each write of a commit fails once, wherever in the log the commit is written.
  @Suite struct LogFaultTests {
    enum Place: CaseIterable {
      /// The first commit of a log, which writes its header.
      case fresh
      /// Among the zeros behind the frames.
      case room
      /// Over old frames: the commit that writes a new header, and the one after it.
      case startsOver, startedOver
      /// More frames than are written together.
      case many
      /// Frames that are written before the commit and once more by it.
      case rewritten
      /// The first commit after a crash.
      case recovered
    }

    enum Fault: CaseIterable { case none, half, whole }

    private func small(_ number: Int, in round: Int = 0) -> StoreEntry {
      StoreEntry(key: key(number), value: key(number &* 31 &+ round) + [UInt8](repeating: 7, count: 1_500))
    }

    /// An open store whose next commit is at a place, and what is in it.
    private func store(at place: Place) async throws -> (TemporaryDirectory, SQLiteStore, [StoreEntry]) {
      var directory = try TemporaryDirectory()
      var tuning = StoreTuning()
      if place == .startsOver || place == .startedOver { tuning.checkpointPages = 20 }
      if place == .rewritten { tuning.writerCacheKilobytes = 30 }
      var store = try directory.open(tuning: tuning)
      var entries: [StoreEntry] = []
      func put() async throws -> Int {
        entries.append(small(entries.count))
        try await store.put(entries[entries.count - 1].value, for: entries[entries.count - 1].key)
        return try await store.logPages()
      }
      switch place {
      case .fresh: break
      case .room, .many, .rewritten, .recovered: for _ in 0..<3 { _ = try await put() }
      case .startsOver, .startedOver:
        while try await put() < tuning.checkpointPages {}
        if place == .startedOver { while try await put() >= tuning.checkpointPages {} }
      }
      guard place == .recovered else { return (directory, store, entries) }
      let image = try directory.crashImage()
      try await store.close()
      (directory, store) = (image, try image.open(tuning: tuning))
      return (directory, store, entries)
    }

    /// The entries that the commit at a place writes.
    private func added(at place: Place, in round: Int = 1) -> [StoreEntry] {
      let count = place == .many ? 90 : place == .rewritten ? 30 : 4
      return (0..<count).map { small(1_000 + $0, in: round) }
    }

    private func commit(at place: Place, _ store: SQLiteStore) async throws {
      let rounds = (place == .rewritten ? 0 : 1)...1
      let entries = rounds.map { added(at: place, in: $0) }
      try await store.write { transaction in
        for entry in entries.joined() { try await transaction.put(entry.value, for: entry.key) }
      }
    }

    private func entries(in directory: TemporaryDirectory) async throws -> [StoreEntry] {
      let store = try directory.open()
      let entries = try await store.everything()
      try await store.close()
      return entries
    }

    /// Lets one write of a commit fail, after `after` others; whether there was one.
    private func play(_ fault: Fault, _ place: Place, after: Int, times: Int32) async throws -> Bool {
      let (directory, store, before) = try await store(at: place)
      var plan = store_fault()
      (plan.operations, plan.after, plan.times) = (Int32(STORE_FAULT_WRITE), Int32(after), times)
      (plan.halves, plan.performs, plan.no_space) = (fault == .half ? 1 : 0, fault == .whole ? 1 : 0, 1)
      store_files_inject(plan)
      let error = await code { try await commit(at: place, store) }
      let hasFailed = store_files_faults() > 0
      store_files_inject(store_fault())
      let what: Comment = "\(fault) of write \(after), \(times) times: \(String(describing: error))"
      let after = before + added(at: place)
      #expect(try await store.everything() == (hasFailed ? before : after), what)
      let kept = try await entries(in: directory.crashImage())
      if error == .unknownOutcome {
        #expect(fault == .whole && times > 1 && [before, after].contains(kept), what)
      } else {
        #expect(error == (hasFailed ? .diskFull : nil), what)
        #expect(kept == (hasFailed ? before : after), what)
      }
      // The same commit again, and another one.
      try await commit(at: place, store)
      try await store.put([1], for: key(9_999))
      let image = try directory.crashImage()
      try await store.close()
      for directory in [image, directory] {
        #expect(try await entries(in: directory) == after + [StoreEntry(key: key(9_999), value: [1])], what)
      }
      return hasFailed
    }

    @Test(arguments: Place.allCases, Fault.allCases)
    func `a commit is whole or absent, and a failure certain unless the erasing fails too`(
      _ place: Place, _ fault: Fault
    ) async throws {
      defer { store_files_inject(store_fault()) }
      for times: Int32 in [1, .max] {
        var after = 0
        while try await play(fault, place, after: after, times: times) { after += 1 }
        #expect(after >= (place == .rewritten ? 15 : place == .many ? 2 : 1))
      }
    }

    @Test func `a commit that may or may not be in the log is of unknown outcome`() async throws {
      defer { store_files_inject(store_fault()) }
      let (directory, store, before) = try await store(at: .room)
      var plan = store_fault()
      (plan.operations, plan.times) = (Int32(STORE_FAULT_WRITE | STORE_FAULT_READ), .max)
      store_files_inject(plan)
      #expect(await code { try await store.put([1], for: key(9_999)) } == .unknownOutcome)
      store_files_inject(store_fault())
      #expect(try await store.everything() == before)
      #expect(try await entries(in: directory.crashImage()) == before)
      try await store.close()
    }

    @Test func `a failure to read while a store is opened is never told as damage`() async throws {
      defer { store_files_inject(store_fault()) }
      let directory = try TemporaryDirectory()
      let store = try directory.open()
      for number in 0..<50 { try await store.put(value(number, length: 500), for: key(number)) }
      let image = try directory.crashImage()
      try await store.close()
      for place in [directory, image] {
        var (after, isThrough) = (0, false)
        while !isThrough {
          let copy = try place.crashImage()
          var plan = store_fault()
          (plan.operations, plan.after, plan.times) = (Int32(STORE_FAULT_READ), Int32(after), 1)
          store_files_inject(plan)
          let error = await code { try await copy.open().close() }
          isThrough = store_files_faults() == 0
          store_files_inject(store_fault())
          #expect(error == nil || error == .inputOutput, "read \(after)")
          let again = try copy.open()
          #expect(try await again.everything().count == 50)
          try await again.close()
          after += 1
        }
        #expect(after > 2)
      }
    }
  }
}

import Foundation
import Testing
import VestaStoreInterop
import VestaTesting

@testable import VestaSQLite

extension OneAtATime {
  /// A log that another program moves, replaces, removes or cuts under the open store.
  @Suite struct LostLogTests {
    enum Harm: CaseIterable { case removed, moved, replaced, emptied, cut }

    private func harm(_ log: String, _ harm: Harm) throws {
      let manager = FileManager.default
      switch harm {
      case .removed: try manager.removeItem(atPath: log)
      case .moved: try manager.moveItem(atPath: log, toPath: log + ".elsewhere")
      case .replaced:
        try manager.copyItem(atPath: log, toPath: log + ".new")
        try manager.removeItem(atPath: log)
        try manager.moveItem(atPath: log + ".new", toPath: log)
      case .emptied: try #require(truncate(log, 0) == 0)
      case .cut: try #require(truncate(log, 100_000) == 0)
      }
    }

    @Test(arguments: Harm.allCases)
    func `commits are refused when the log is not what was written, and what was acknowledged is kept where it can be`(
      _ harm: Harm
    ) async throws {
      let directory = try TemporaryDirectory()
      var tuning = StoreTuning()
      tuning.placeCheckInterval = .zero
      let store = try directory.open(tuning: tuning)
      for number in 0..<200 { try await store.put(value(number, length: 500), for: key(number)) }
      try self.harm(directory.database + "-wal", harm)
      for number in 200..<210 {
        let error = await #expect(throws: StoreError.self) { try await store.put([1], for: key(number)) }
        // A body that reads what was cut off fails before the commit does.
        #expect(error?.code == .inputOutput, "\(String(describing: error))")
      }
      // A process that is killed now, and one that closes the store.
      let image = try directory.crashImage()
      try? await store.close()
      for place in [image, directory] {
        let again = try place.open()
        let kept = try await again.everything()
        switch harm {
        case .removed, .moved, .replaced: #expect(kept.count == 200)
        // The data after the cut is lost; the data before it is whole and in order.
        case .emptied, .cut: #expect(kept.count < 200)
        }
        #expect(kept.map(\.key) == (0..<kept.count).map { key($0) })
        #expect(kept.map(\.value) == (0..<kept.count).map { value($0, length: 500) })
        #expect(try await again.checkIntegrity().isEmpty)
        try await again.put([1], for: key(1_000))
        try await again.close()
      }
    }

    @Test func `a log that was cut is not written behind a hole, also between two looks`() async throws {
      let directory = try TemporaryDirectory()
      var tuning = StoreTuning()
      tuning.placeCheckInterval = .seconds(3_600)
      let store = try directory.open(tuning: tuning)
      for number in 0..<50 { try await store.put(value(number, length: 500), for: key(number)) }
      try harm(directory.database + "-wal", .emptied)
      #expect(await code { try await store.put([1], for: key(1_000)) } != nil)
      try? await store.close()
      let again = try directory.open()
      #expect(try await again.get(key(1_000)) == nil)
      #expect(try await again.checkIntegrity().isEmpty)
      try await again.close()
    }
  }
}

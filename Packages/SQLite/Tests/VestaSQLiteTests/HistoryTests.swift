import Testing
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaSQLite

extension OneAtATime {
  /// One random history on the store and on the obvious model, which must answer alike all along.
  @Suite struct HistoryTests {
    @Test func `random histories give the answers of the model`() async throws {
      let seed = UInt64.random(in: 0...UInt64.max)
      print("HistoryTests: seed \(seed)")
      var random = SplitMix(seed: seed)
      let directory = try TemporaryDirectory()
      var store = try directory.open(.relaxed)
      var model = StoreModel()
      for step in 0..<400 {
        let script = (0..<Int.random(in: 1...8, using: &random)).map { _ in Change.random(using: &random) }
        let fails = Int.random(in: 0..<6, using: &random) == 0
        let before = model
        for change in script { change.apply(to: &model) }
        let expected = model
        do {
          try await store.write { transaction in
            for change in script { try await change.apply(to: transaction) }
            let seen = try await transaction.entries(in: .all)
            #expect(seen == expected.entries, "own changes, step \(step)")
            if fails { throw Failure() }
          }
        } catch is Failure {
          model = before
        }
        let range = KeyRange(from: Change.key(using: &random), to: Change.key(using: &random))
        let limit = Bool.random(using: &random) ? nil : Int.random(in: 0...5, using: &random)
        let order: ScanOrder = Bool.random(using: &random) ? .ascending : .descending
        let found = try await store.read { try await $0.entries(in: range, order: order, limit: limit) }
        #expect(found == model.entries(in: range, order: order, limit: limit), "step \(step)")
        if step % 50 == 49 {
          try await store.close()
          store = try directory.open(.relaxed)
        }
      }
      let problems = try await store.checkIntegrity()
      #expect(problems == [])
      try await store.close()
    }

    private enum Change: Sendable {
      case put([UInt8], [UInt8])
      case delete([UInt8])
      case deleteRange(KeyRange)

      static func key(using random: inout SplitMix) -> [UInt8] {
        (0..<Int.random(in: 0...3, using: &random)).map { _ in [0, 1, 0x7F, 0xFF].randomElement(using: &random) ?? 0 }
      }

      static func random(using random: inout SplitMix) -> Change {
        let key = key(using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<7:
          let length = [0, 1, 100, 1_990, 2_000, 2_010, 20_000].randomElement(using: &random) ?? 0
          return .put(key, value(Int(random.next() >> 2), length: length))
        case 7..<9: return .delete(key)
        default: return .deleteRange(KeyRange(from: key, to: self.key(using: &random)))
        }
      }

      func apply(to model: inout StoreModel) {
        switch self {
        case .put(let key, let value): model.put(value, for: key)
        case .delete(let key): model.delete(key)
        case .deleteRange(let range): model.deleteRange(range)
        }
      }

      func apply(to transaction: any StoreTransaction) async throws {
        switch self {
        case .put(let key, let value): try await transaction.put(value, for: key)
        case .delete(let key): try await transaction.delete(key)
        case .deleteRange(let range): try await transaction.deleteRange(range)
        }
      }
    }
  }
}

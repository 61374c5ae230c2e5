import VestaStoreInterop
import VestaTesting

extension StoreContracts {
  static let limits: [Contract<StoreSubject>] = [
    promise("keys of 64 KiB are kept and ordered by their last byte") { store in
      let stem = [UInt8](repeating: 0x61, count: StoreLimits.maximumKeyLength - 1)
      try await store.write { transaction in
        for last in [UInt8(2), 0, 1] { try await transaction.put([last], for: stem + [last]) }
        try await transaction.put([9], for: stem)
      }
      let found = try await store.everything()
      try expect(found.map(\.value), equals: [[9], [0], [1], [2]], "values in the order of the keys")
      try expect(found.last?.key.count, equals: StoreLimits.maximumKeyLength, "length of the last key")
      try expect(try await store.value(for: stem + [1]), equals: [1], "value of one of the keys")
    },
    promise("values of 16 MiB are kept whole") { store in
      let value = patterned(StoreLimits.maximumValueLength)
      try await store.put(value, for: bytes("large"))
      let found = try expectValue(try await store.value(for: bytes("large")), "value")
      try expect(found.count, equals: value.count, "length")
      for index in stride(from: 0, to: value.count, by: 4093) {
        guard found[index] == value[index] else { throw ContractViolation("byte \(index) has changed") }
      }
      try expect(found.suffix(100), equals: value.suffix(100), "the last hundred bytes")
    },
    promise("an over-long key is refused, and the transaction goes on as if nothing had been asked") { store in
      let long = [UInt8](repeating: 1, count: StoreLimits.maximumKeyLength + 1)
      try await store.write { transaction in
        try await transaction.put([1], for: bytes("a"))
        let error = try await expectThrows(StoreError.self, "a put under an over-long key") {
          try await transaction.put([2], for: long)
        }
        try expect(error.code, equals: .keyTooLong, "code")
        try await transaction.put([3], for: bytes("b"))
      }
      try expect(try await keys(in: store, .all), equals: ["a", "b"], "keys")
    },
    promise("an over-long value is refused, and the transaction goes on as if nothing had been asked") { store in
      let long = [UInt8](repeating: 1, count: StoreLimits.maximumValueLength + 1)
      try await store.put([0], for: bytes("a"))
      try await store.write { transaction in
        let error = try await expectThrows(StoreError.self, "a put of an over-long value") {
          try await transaction.put(long, for: bytes("a"))
        }
        try expect(error.code, equals: .valueTooLong, "code")
        try expect(try await transaction.get(bytes("a")), equals: [0], "value after the refusal")
        try await transaction.put([3], for: bytes("b"))
      }
      try expect(try await store.value(for: bytes("a")), equals: [0], "value")
      try expect(try await keys(in: store, .all), equals: ["a", "b"], "keys")
    },
    promise("a key longer than any that can be put is found nowhere, and bounds a range all the same") { store in
      let long = [UInt8](repeating: 0x62, count: StoreLimits.maximumKeyLength + 10)
      try await store.fill(entries("a", "b", "c"))
      try expect(try await store.value(for: long), equals: nil, "value")
      try expect(try await keys(in: store, KeyRange(from: bytes("b"), to: long)), equals: ["b"], "keys below it")
      try expect(try await keys(in: store, KeyRange(from: long, to: nil)), equals: ["c"], "keys above it")
    },
  ]

  /// Bytes of which no two pages are alike.
  private static func patterned(_ count: Int) -> [UInt8] {
    var random = SplitMix(seed: 16)
    let block = (0..<4096).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    var value: [UInt8] = []
    value.reserveCapacity(count)
    while value.count < count {
      value += block
      value[value.count - 4096] = UInt8(truncatingIfNeeded: value.count >> 12)
      value[value.count - 4095] = UInt8(truncatingIfNeeded: value.count >> 20)
    }
    return value
  }
}

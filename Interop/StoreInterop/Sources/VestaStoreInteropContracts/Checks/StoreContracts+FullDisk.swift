import VestaStoreInterop
public import VestaTesting

/// A full disk is survivable: operations that make room work there, and everything else when there is room.
extension StoreContracts {
  /// For subjects whose disk can be made full; one after the other where they share the disk.
  public static let fullDisk: [Contract<StoreSubject>] = [
    promise("on a full disk puts are refused with disk-full and leave nothing", when: { $0.setFull != nil }) {
      subject in
      let (store, setFull) = (subject.store, try expectValue(subject.setFull, "a disk that can be full"))
      try await store.fill(large(0..<20))
      try await setFull(true)
      let kept = try await store.everything()
      // A disk is full when what is put again and again finds no room.
      var refusals = 0
      for number in 100..<2_000 where refusals < 3 {
        do {
          try await store.fill(large(number..<number + 1))
        } catch StoreError.Code.diskFull {
          refusals += 1
          try expect(try await store.value(for: key(number)), equals: nil, "a value that was refused")
        }
      }
      try expect(refusals, equals: 3, "puts refused on a full disk")
      try expect(Array(try await store.everything().prefix(20)), equals: kept, "what was there before")
      try await setFull(false)
      try await store.fill(large(3_000..<3_001))
    },
    promise("on a full disk every entry can be deleted", when: { $0.setFull != nil }) { subject in
      let (store, setFull) = (subject.store, try expectValue(subject.setFull, "a disk that can be full"))
      try await store.fill(large(0..<300))
      try await setFull(true)
      for number in 0..<100 { try await store.delete(key(number)) }
      _ = try await concurrently(4) { task in
        for number in stride(from: 100 + task, to: 200, by: 4) { try await store.delete(key(number)) }
      }
      for first in stride(from: 200, to: 300, by: 20) {
        try await store.write { try await $0.deleteRange(KeyRange(from: key(first), to: key(first + 20))) }
      }
      try expect(try await store.everything(), equals: [], "entries")
      try await setFull(false)
      try await store.fill(large(0..<300))
      try expect(try await store.everything().count, equals: 300, "entries after room was made")
    },
    promise("on a full disk a transaction that makes room may note what it deletes", when: { $0.setFull != nil }) {
      subject in
      let (store, setFull) = (subject.store, try expectValue(subject.setFull, "a disk that can be full"))
      try await store.fill(large(0..<200))
      try await setFull(true)
      for number in 0..<200 {
        try await store.write { transaction in
          transaction.freesRoom()
          try await transaction.delete(key(number))
          try await transaction.put(key(number), for: key(1_000 + number))
        }
      }
      try expect(try await store.everything().map(\.key), equals: (1_000..<1_200).map(key), "notes")
      try await setFull(false)
    },
  ]

  /// Entries that take some room each.
  private static func large(_ numbers: Range<Int>) -> [StoreEntry] {
    var random = SplitMix(seed: UInt64(numbers.lowerBound))
    return numbers.map { number in
      StoreEntry(key: key(number), value: (0..<1_500).map { _ in UInt8.random(in: 0...255, using: &random) })
    }
  }
}

import VestaCredentialInterop
public import VestaTesting

/// The promises of `CredentialStore` as checks.
///
/// ```swift
/// for outcome in await CredentialStoreContracts.all.run(against: { try makeSubject() }) { print(outcome) }
/// ```
public enum CredentialStoreContracts {
  /// All promises.
  public static let all: [Contract<CredentialStoreSubject>] = entries + failures + crashes

  /// Keys that a store could mix up: by case, by escaping, by a length that file systems do not take.
  private static let keys = [
    "a", "A", "", " ", "a/b", "a\\b", "../a", "a\u{0}", "\u{E4}", "%61", "a.session", "a.new", "a%2fb",
    String(repeating: "long ", count: 12), "\u{1F600}",
  ]

  private static let entries: [Contract<CredentialStoreSubject>] = [
    Contract("a key without bytes is nil and no error") { subject in
      for key in keys { try expect(try subject.store.load(key) == nil, "there are bytes under a new key") }
    },
    Contract("bytes come back as they were saved, the last ones under each key") { subject in
      for (index, bytes) in samples.enumerated() {
        try subject.store.save(bytes, for: "key")
        try expect(try subject.store.load("key") == bytes, "sample \(index) came back changed")
      }
    },
    Contract("two keys never share an entry") { subject in
      for (index, key) in keys.enumerated() { try subject.store.save([UInt8(index)], for: key) }
      for (index, key) in keys.enumerated() {
        try expect(try subject.store.load(key) == [UInt8(index)], "key \(index) has the bytes of another")
      }
      try subject.store.remove("a")
      for (index, key) in keys.enumerated().dropFirst() {
        try expect(try subject.store.load(key) == [UInt8(index)], "key \(index) went with another")
      }
    },
    Contract("removed bytes are absent, and removing nothing is no error") { subject in
      try subject.store.remove("key")
      try subject.store.save([1], for: "key")
      try subject.store.remove("key")
      try subject.store.remove("key")
      try expect(try subject.store.load("key") == nil, "the bytes are still there")
      try subject.store.save([2], for: "key")
      try expect(try subject.store.load("key") == [2], "nothing can be saved after removing")
    },
    Contract("bytes that are set aside are out of the way, and said to be somewhere") { subject in
      try subject.store.save([1], for: "key")
      try subject.store.save([2], for: "other")
      try expect(try !subject.store.setAside("key").isEmpty, "nobody can find what was set aside")
      try expect(try subject.store.load("key") == nil, "the bytes are still there")
      try expect(try subject.store.load("other") == [2], "another key's bytes are gone")
      try subject.store.save([3], for: "key")
      try expect(try subject.store.load("key") == [3], "nothing can be saved after setting aside")
    },
    Contract("the next run of the program finds what the last one left") { subject in
      guard let reopened = subject.reopened else { return }
      for (index, bytes) in samples.enumerated() { try subject.store.save(bytes, for: "\(index)") }
      try subject.store.remove("1")
      let next = try reopened()
      for (index, bytes) in samples.enumerated() {
        try expect(try next.load("\(index)") == (index == 1 ? nil : bytes), "sample \(index) is another one")
      }
    },
    Contract("a reader beside writers gets one of the sessions, whole") { subject in
      let store = subject.store
      try store.save(whole(0), for: "key")
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 1...4 {
          group.addTask {
            for round in 0..<20 { try store.save(whole(writer * 20 + round), for: "key") }
          }
        }
        for _ in 0..<2 {
          group.addTask {
            for _ in 0..<40 {
              let bytes = try expectValue(try store.load("key"), "the session")
              try expect(Set(bytes).count == 1, "a session is mixed from two")
            }
          }
        }
        try await group.waitForAll()
      }
    },
  ]

  /// Empty, with every byte, longer than a page, and shorter again.
  private static let samples: [[UInt8]] = [
    [0], [UInt8](0...255), [], (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }, Array("x".utf8),
  ]

  /// A session of one byte only, by which it is known; the lengths differ.
  private static func whole(_ number: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(number % 251), count: 200 + number * 37 % 1_500)
  }

  private static let failures: [Contract<CredentialStoreSubject>] = [
    Contract("what cannot be read is an error and not absent, and is there again afterwards") { subject in
      guard let setReadsFail = subject.setReadsFail else { return }
      try subject.store.save([1, 2], for: "key")
      try setReadsFail(true)
      try expectCode(.unreadable) { _ = try subject.store.load("key") }
      try expectCode(.unreadable) { _ = try subject.store.load("key") }
      try setReadsFail(false)
      try expect(try subject.store.load("key") == [1, 2], "the session is lost")
    },
    Contract("a write that fails leaves the bytes of before") { subject in
      guard let setWritesFail = subject.setWritesFail else { return }
      try subject.store.save([1, 2], for: "key")
      try setWritesFail(true)
      try expectCode(.unwritable) { try subject.store.save([3], for: "key") }
      try expectCode(.unwritable) { try subject.store.remove("key") }
      try setWritesFail(false)
      try expect(try subject.store.load("key") == [1, 2], "the session is another one, or gone")
      try subject.store.save([3], for: "key")
      try expect(try subject.store.load("key") == [3], "nothing can be saved after a failure")
    },
    Contract("damaged bytes are an error once, and put aside") { subject in
      guard let damage = subject.damage else { return }
      try subject.store.save(whole(7), for: "key")
      try subject.store.save([2], for: "other")
      try damage("key")
      try expectCode(.corrupted) { _ = try subject.store.load("key") }
      try expect(try subject.store.load("key") == nil, "the damaged session is still there")
      try expect(try subject.store.load("other") == [2], "another key's bytes are gone")
      try subject.store.save([3], for: "key")
      try expect(try subject.store.load("key") == [3], "nothing can be saved after damage")
    },
  ]

  private static let crashes: [Contract<CredentialStoreSubject>] = [
    Contract("after a crash the session of before is there, or the new one, whole") { subject in
      guard let crashes = subject.crashes else { return }
      for old in [whole(1), []] {
        let new = whole(2)
        try subject.store.save(old, for: "key")
        let found = try crashes(new, "key")
        try expect(!found.isEmpty, "no crash was tried")
        for (index, store) in found.enumerated() {
          let bytes = try store.load("key")
          try expect(
            bytes == old || bytes == new, "after crash \(index) the session is neither the old nor the new one")
          try store.save([9], for: "key")
          try expect(try store.load("key") == [9], "after crash \(index) nothing can be saved")
        }
      }
    }
  ]

  private static func expectCode(_ code: CredentialStoreError.Code, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as CredentialStoreError {
      return try expect(error.code == code, "the code is \(error.code) and not \(code)")
    }
    throw ContractViolation("no error where \(code) was due")
  }
}

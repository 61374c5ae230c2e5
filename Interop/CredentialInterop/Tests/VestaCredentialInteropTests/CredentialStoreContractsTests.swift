import Testing
import VestaCredentialInterop
import VestaCredentialInteropContracts
import VestaCredentialInteropFakes
import VestaTesting

@Suite struct CredentialStoreContractsTests {
  private static func subject(_ fake: FakeCredentialStore, _ store: any CredentialStore) -> CredentialStoreSubject {
    CredentialStoreSubject(
      store, reopened: { store }, damage: { fake.damage($0) }, setReadsFail: { fake.setFailsToRead($0) },
      setWritesFail: { fake.setFailsToWrite($0) },
      crashes: { bytes, key in
        let old = try store.load(key)
        return try [nil, bytes].map { new in
          let found = FakeCredentialStore()
          if let kept = new ?? old { try found.save(kept, for: key) }
          return found
        }
      })
  }

  @Test func `the fake keeps every promise`() async {
    let outcomes = await CredentialStoreContracts.all.run {
      let fake = FakeCredentialStore()
      return Self.subject(fake, fake)
    }
    #expect(outcomes.filter { !$0.isKept }.map(\.description) == [])
    #expect(Set(outcomes.map(\.name)).count == CredentialStoreContracts.all.count)
  }

  @Test(arguments: WrongStore.Flaw.allCases)
  func `a wrong store breaks the promise that it breaks`(flaw: WrongStore.Flaw) async {
    let outcomes = await CredentialStoreContracts.all.run {
      let fake = FakeCredentialStore()
      let store = WrongStore(fake, flaw)
      var subject = Self.subject(fake, store)
      if flaw == .tearsOnCrash {
        subject = CredentialStoreSubject(
          store,
          crashes: { bytes, key in
            let found = FakeCredentialStore()
            try found.save(Array(bytes.dropLast()), for: key)
            return [found]
          })
      }
      return subject
    }
    let broken = outcomes.filter { !$0.isKept }.map(\.name)
    #expect(broken.contains { $0.hasPrefix(flaw.rawValue) }, "\(broken)")
  }
}

/// A store that breaks one promise, named by the beginning of its sentence.
struct WrongStore: CredentialStore {
  enum Flaw: String, CaseIterable, Sendable {
    case inventsBytes = "a key without bytes"
    case cutsLongSessions = "bytes come back"
    case ignoresCase = "two keys never"
    case keepsRemoved = "removed bytes"
    case leavesAsideInPlace = "bytes that are set aside"
    case hidesUnreadable = "what cannot be read"
    case writesBeforeFailing = "a write that fails"
    case servesDamaged = "damaged bytes"
    case tearsOnCrash = "after a crash"
  }

  let base: FakeCredentialStore
  let flaw: Flaw

  init(_ base: FakeCredentialStore, _ flaw: Flaw) { (self.base, self.flaw) = (base, flaw) }

  private func name(_ key: String) -> String { flaw == .ignoresCase ? key.lowercased() : key }

  func load(_ key: String) throws(CredentialStoreError) -> [UInt8]? {
    do {
      let bytes = try base.load(name(key))
      return flaw == .inventsBytes ? bytes ?? [] : bytes
    } catch {
      if flaw == .hidesUnreadable, error.code == .unreadable { return nil }
      if flaw == .servesDamaged, error.code == .corrupted { return [0] }
      throw error
    }
  }

  func save(_ bytes: [UInt8], for key: String) throws(CredentialStoreError) {
    do {
      try base.save(flaw == .cutsLongSessions ? Array(bytes.prefix(4096)) : bytes, for: name(key))
    } catch {
      if flaw == .writesBeforeFailing {
        base.setFailsToWrite(false)
        try base.save(bytes, for: name(key))
      }
      throw error
    }
  }

  func remove(_ key: String) throws(CredentialStoreError) {
    if flaw != .keepsRemoved { try base.remove(name(key)) }
  }

  func setAside(_ key: String) throws(CredentialStoreError) -> String {
    flaw == .leavesAsideInPlace ? "here" : try base.setAside(name(key))
  }
}

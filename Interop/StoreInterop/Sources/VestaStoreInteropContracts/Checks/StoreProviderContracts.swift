public import VestaStoreInterop
public import VestaTesting

/// A provider to be held to its contract, with a directory without other users.
public struct StoreProviderSubject: Sendable {
  /// The provider; no store of it is open.
  public let provider: any StoreProvider

  /// A directory without stores; it need not be there yet.
  public let directory: String

  /// Whether data is kept when a store is closed.
  public let keepsData: Bool

  /// A subject with a separate directory.
  ///
  /// - Parameters:
  ///   - provider: The provider.
  ///   - directory: A directory without stores; the caller removes it after the check.
  ///   - keepsData: Whether data is kept when a store is closed.
  public init(provider: any StoreProvider, directory: String, keepsData: Bool) {
    self.provider = provider
    self.directory = directory
    self.keepsData = keepsData
  }

  /// Opens a store with default options.
  func open(_ name: String, in other: String? = nil) async throws -> any OrderedStore {
    try await provider.openStore(named: name, in: other ?? directory, options: StoreOptions())
  }
}

/// The promises of every `StoreProvider`, as named checks.
public enum StoreProviderContracts {
  /// Every promise there is.
  public static let all: [Contract<StoreProviderSubject>] = [
    Contract("a new store is empty and works") { subject in
      let store = try await subject.open("new")
      try expect(try await store.everything(), equals: [], "entries")
      try await store.put([1], for: bytes("a"))
      try expect(try await store.value(for: bytes("a")), equals: [1], "value")
      try await store.close()
    },
    Contract("names that could leave the directory or hide in it are refused") { subject in
      let names = ["", ".", "..", ".hidden", "a/b", "../a", "/a", "a\\b", "a b", "a\0b", "ä", "a\n", "a:b", "a*"]
      for name in names + [String(repeating: "a", count: 101)] {
        let error = try await expectThrows(StoreError.self, "opening \(name.debugDescription)") {
          try await subject.open(name)
        }
        try expect(error.code, equals: .invalidName, "code for \(name.debugDescription)")
      }
    },
    Contract("every name that is allowed works") { subject in
      for name in ["a", "A", "0", "_", "-", "a.b", "a..b", "a-b_c.D9", String(repeating: "a", count: 100)] {
        let store = try await subject.open(name)
        try await store.put(bytes(name), for: bytes("name"))
        try expect(try await store.value(for: bytes("name")), equals: bytes(name), "value in \(name)")
        try await store.close()
      }
    },
    Contract("a store that is open cannot be opened again, and does not mind the attempt") { subject in
      let store = try await subject.open("one")
      try await store.put([1], for: bytes("a"))
      let error = try await expectThrows(StoreError.self, "opening it again") { try await subject.open("one") }
      try expect(error.code, equals: .alreadyOpen, "code")
      try expect(try await store.value(for: bytes("a")), equals: [1], "value in the open store")
      try await store.put([2], for: bytes("a"))
      try await store.close()
    },
    Contract("of many that open one store at once, one gets it") { subject in
      let opened = try await concurrently(8) { _ -> (any OrderedStore)? in
        do {
          return try await subject.open("one")
        } catch StoreError.Code.alreadyOpen {
          return nil
        }
      }
      let stores = opened.compactMap { $0 }
      for store in stores { try await store.close() }
      try expect(stores.count, equals: 1, "stores opened")
    },
    Contract("a store can be opened again after it has been closed") { subject in
      for round in 0..<3 {
        let store = try await subject.open("again")
        let expected = subject.keepsData && round > 0 ? number(round - 1) : nil
        try expect(try await store.value(for: bytes("a")), equals: expected, "value in round \(round)")
        try await store.put(number(round), for: bytes("a"))
        try await store.close()
      }
    },
    Contract("closing twice does not close what has been opened since") { subject in
      let first = try await subject.open("one")
      try await first.close()
      let second = try await subject.open("one")
      try await first.close()
      try await second.put([1], for: bytes("a"))
      try expect(try await second.value(for: bytes("a")), equals: [1], "value")
      let error = try await expectThrows(StoreError.self, "opening it again") { try await subject.open("one") }
      try expect(error.code, equals: .alreadyOpen, "code")
      try await second.close()
    },
    Contract("stores of different names, or in different directories, share nothing") { subject in
      let stores = [
        try await subject.open("one"), try await subject.open("two"),
        try await subject.open("one", in: subject.directory + "/below"),
      ]
      for (index, store) in stores.enumerated() { try await store.put(number(index), for: bytes("a")) }
      for (index, store) in stores.enumerated() {
        try expect(try await store.value(for: bytes("a")), equals: number(index), "value in store \(index)")
      }
      try await stores[0].close()
      try expect(try await stores[1].value(for: bytes("a")), equals: number(1), "value after another was closed")
      try await stores[1].close()
      try await stores[2].close()
    },
    Contract("a relaxed store keeps the same promises while it is open") { subject in
      let options = StoreOptions(durability: .relaxed)
      let store = try await subject.provider.openStore(named: "relaxed", in: subject.directory, options: options)
      _ = try await concurrently(8) { _ in
        for _ in 0..<4 { try await StoreContracts.increment(bytes("counter"), in: store) }
      }
      try expect(number(in: try await store.value(for: bytes("counter"))), equals: 32, "counter")
      try await store.close()
    },
  ]
}

import Testing
import VestaConcurrency
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaPostgres

extension OneAtATime {
  /// Two stores on one schema: they share nothing in memory, as two processes would.
  @Suite struct TwoProcessTests {
    private func twoStores() async throws -> [PostgresStore] {
      let space = Server.newSpace()
      return [try await Server.open(space), try await Server.open(space)]
    }

    @Test func `increments of both are all counted, and their versions are their order`() async throws {
      let stores = try await twoStores()
      let results = try await withThrowingTaskGroup(of: [(StoreVersion, Int)].self) { group in
        for task in 0..<8 {
          group.addTask {
            var mine: [(StoreVersion, Int)] = []
            for round in 0..<6 {
              let commit = try await stores[task % 2].write { transaction in
                let value = number(in: try await transaction.get(key(0))) + 1
                // Half of them want to know their version, as engines do.
                if round % 2 == 0 { _ = try await transaction.commitVersion() }
                try await transaction.put(number(value), for: key(0))
                return value
              }
              mine.append((commit.version, commit.value))
            }
            return mine
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      #expect(results.sorted { $0.0 < $1.0 }.map(\.1) == Array(1...48))
      for store in stores {
        #expect(number(in: try await store.get(key(0))) == 48)
        try await store.close()
      }
    }

    @Test func `what one has written the other reads at once`() async throws {
      let stores = try await twoStores()
      for round in 1...20 {
        let version = try await stores[round % 2].put(number(round), for: key(1))
        let (value, seen) = try await stores[(round + 1) % 2].read { (try await $0.get(key(1)), $0.version) }
        #expect(number(in: value) == round && seen == version)
      }
      for store in stores { try await store.close() }
    }

    @Test func `each is notified of the commits of both, once and in order`() async throws {
      let stores = try await twoStores()
      let streams = stores.map(\.commits)
      // Both listen before the first commit.
      for store in stores { try await store.put([], for: key(9)) }
      let versions = try await withThrowingTaskGroup(of: [StoreVersion].self) { group in
        for task in 0..<6 {
          group.addTask {
            var mine: [StoreVersion] = []
            for round in 0..<10 { mine.append(try await stores[task % 2].put(number(round), for: key(10 + task))) }
            return mine
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }.sorted()
      }
      let last = try #require(versions.last)
      for stream in streams {
        var told: [StoreVersion] = []
        for await version in stream {
          told.append(version)
          if version == last { break }
        }
        #expect(Array(told.suffix(versions.count)) == versions)
        #expect(told.count <= versions.count + 2)
      }
      for store in stores { try await store.close() }
    }

    @Test func `a commit of another process is noticed though the listening connection was cut`() async throws {
      let stores = try await twoStores()
      let stream = stores[0].commits
      try await stores[1].put([], for: key(0))
      var iterator = stream.makeAsyncIterator()
      _ = await iterator.next()
      try await Server.cutConnections()
      var written: [StoreVersion] = []
      for round in 0..<5 { written.append(try await stores[1].put(number(round), for: key(round))) }
      var told: [StoreVersion] = []
      while let version = await iterator.next(isolation: #isolation) {
        told.append(version)
        if version == written.last { break }
      }
      #expect(told == written)
      for store in stores { try await store.close() }
    }

    @Test func `no write skew between processes`() async throws {
      let stores = try await twoStores()
      for _ in 0..<10 {
        try await stores[0].write { transaction in
          for index in 0..<2 { try await transaction.put(number(1), for: key(index)) }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
          for mine in 0..<2 {
            group.addTask {
              try await stores[mine].write { transaction in
                let values = try await transaction.get([key(0), key(1)])
                guard values.reduce(0, { $0 + number(in: $1) }) == 2 else { return }
                try await transaction.put(number(0), for: key(mine))
              }
            }
          }
          try await group.waitForAll()
        }
        let sum = try await stores[0].get([key(0), key(1)]).reduce(0) { $0 + number(in: $1) }
        #expect(sum == 1)
      }
      for store in stores { try await store.close() }
    }

    @Test func `a floor that one raises binds the other`() async throws {
      let stores = try await twoStores()
      for round in 0..<10 {
        let floor = try await stores[0].raiseFloor(to: nil)
        let version = try await stores[1].put(number(round), for: key(0))
        #expect(version > floor)
        let told = try await stores[1].write { transaction in
          try await transaction.put(number(round), for: key(1))
          return try await transaction.commitVersion()
        }
        #expect(told.value == told.version && told.version > version)
      }
      for store in stores { try await store.close() }
    }

    @Test func `a process whose clock is ahead costs the other nothing lasting`() async throws {
      let space = Server.newSpace()
      let (slow, fast) = (ManualStoreClock(), ManualStoreClock())
      fast.advance(by: 40_000_000)
      let (one, two) = (
        try await Server.open(space, clock: slow.clock), try await Server.open(space, clock: fast.clock)
      )
      var last = try await two.put([0], for: key(0))
      for round in 0..<100 {
        slow.advance(by: 1_000_000)
        let version = try await one.put(number(round), for: key(0))
        #expect(version > last)
        last = version
      }
      // It advanced at half speed until its clock was there.
      #expect(abs(last.microseconds - slow.now.wall) < 1_000_000)
      try await one.close()
      try await two.close()
    }
  }
}

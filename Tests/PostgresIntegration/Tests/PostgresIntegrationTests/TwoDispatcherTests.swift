import Foundation
import Testing
import VestaStoreInteropCrashTesting
import VestaTesting

extension OnOneServer {
  /// Two processes that deliver the events of one queue: one of them has the lease, and the other continues when it
  /// ends, is killed or is stopped.
  ///
  /// Each delivery is in the ledger, a file that both append to, before the process says so. A test waits for lines of
  /// a process that is sure to say them, whichever of the two has the lease at that time.
  @Suite
  struct TwoDispatcherTests {
    private struct Entry {
      let path: String, number: Int, id: String, process: Int32
      var change: String { "\(path) \(number)" }
    }

    private let directory: TemporaryDirectory
    private let ledger: String
    private let space = UUID().uuidString

    init() throws {
      directory = try TemporaryDirectory()
      ledger = directory.path(of: "ledger")
      try Data().write(to: URL(filePath: ledger))
    }

    /// A process whose lease lasts `lease` milliseconds.
    private func peer(lease: Int) async throws -> WorkerProcess {
      let peer = try WorkerProcess("PostgresEventPeer", space, ledger, "\(lease)")
      try await peer.wait(for: "ready")
      return peer
    }

    private func entries() throws -> [Entry] {
      String(decoding: try directory.bytes(of: "ledger"), as: UTF8.self).split(separator: "\n").compactMap { line in
        let words = line.split(separator: " ")
        guard words.count == 4, let number = Int(words[1]), let process = Int32(words[3]) else { return nil }
        return Entry(path: String(words[0]), number: number, id: String(words[2]), process: process)
      }
    }

    /// The changes that a process said were committed.
    private func changes(_ lines: [String]) -> Set<String> {
      #expect(!lines.contains { $0.hasPrefix("failed") }, "\(lines)")
      return Set(lines.filter { $0.hasPrefix("wrote ") }.map { String($0.dropFirst(6)) })
    }

    /// Waits until each of the changes was delivered, where no other process still delivers.
    private func wait(for changes: Set<String>, deliveredBy last: WorkerProcess) async throws {
      var said = 0
      while try !changes.isSubset(of: entries().map(\.change)) {
        said += 1
        _ = try await last.lines(said, withPrefix: "event ")
      }
    }

    /// Looks at the ids, and at the order: the first delivery of each change follows the first delivery of the previous
    /// change.
    private func check(_ changes: Set<String>) throws {
      let entries = try entries()
      #expect(changes.isSubset(of: entries.map(\.change)))
      var ids: [String: String] = [:]
      for entry in entries {
        #expect(ids[entry.change, default: entry.id] == entry.id, "\(entry.change) has two ids")
        ids[entry.change] = entry.id
      }
      #expect(Set(ids.values).count == ids.count, "two changes have one id")
      for (path, own) in Dictionary(grouping: entries, by: \.path) {
        var begun: [Int] = []
        for entry in own where !begun.contains(entry.number) { begun.append(entry.number) }
        #expect(begun == Array(1...begun.count), "\(path) came in the order \(begun)")
      }
    }

    @Test(.timeLimit(.minutes(5)), arguments: [1, 4, 17])
    func `when the process that delivers is killed, the other delivers what is left, in the order of each document`(
      deliveries: Int
    ) async throws {
      let first = try await peer(lease: 400)
      for document in 0..<3 { first.say("write n/first-\(document) 8") }
      _ = try await first.lines(deliveries, withPrefix: "event ")
      let second = try await peer(lease: 400)
      for document in 0..<3 { second.say("write n/second-\(document) 8") }
      _ = try await second.lines(deliveries, withPrefix: "wrote ")
      let before = changes(await first.killNow())
      let all = before.union(changes(try await second.lines(24, withPrefix: "wrote ")))
      try await wait(for: all, deliveredBy: second)
      try check(all)
      second.endInput()
      #expect(changes(await second.finish()).count == 24)
    }

    @Test(.timeLimit(.minutes(5)))
    func `a process that was stopped for longer than its lease settles nothing from then on, and nothing is lost`()
      async throws
    {
      let stopped = try await peer(lease: 400)
      stopped.say("write n/a 12")
      _ = try await stopped.lines(3, withPrefix: "event ")
      // Its own changes are committed: the outcome of one during which it is stopped would be unknown.
      _ = try await stopped.lines(12, withPrefix: "wrote ")
      let other = try await peer(lease: 400)
      kill(stopped.processIdentifier, SIGSTOP)
      other.say("write n/b 20")
      // The other one takes over when the lease has ended.
      _ = try await other.lines(20, withPrefix: "event n/b ")
      kill(stopped.processIdentifier, SIGCONT)
      stopped.say("write n/c 20")
      _ = try await stopped.lines(32, withPrefix: "wrote ")
      stopped.endInput()
      let all = changes(await stopped.finish()).union(changes(try await other.lines(20, withPrefix: "wrote ")))
      #expect(all.count == 52)
      try await wait(for: all, deliveredBy: other)
      try check(all)
      other.endInput()
      _ = changes(await other.finish())
    }

    @Test(.timeLimit(.minutes(5)))
    func `while one process has the lease the other delivers nothing, and continues once it is given up`() async throws
    {
      let minutes = 60_000
      let holder = try await peer(lease: 30 * minutes)
      holder.say("write n/first 1")
      _ = try await holder.lines(withPrefix: "event ")
      let other = try await peer(lease: 30 * minutes)
      for document in 0..<5 {
        holder.say("write n/holder-\(document) 10")
        other.say("write n/other-\(document) 10")
      }
      // Also what the other one has written.
      _ = try await holder.lines(101, withPrefix: "event ")
      holder.endInput()
      let all = changes(await holder.finish()).union(changes(try await other.lines(50, withPrefix: "wrote ")))
      other.say("write n/last 5")
      _ = try await other.lines(5, withPrefix: "event n/last ")
      other.endInput()
      try check(all.union(changes(await other.finish())))
      // Each once while the lease is held; an event that the holder had no time to settle is delivered again.
      let entries = try entries()
      #expect(Set(entries.prefix(101).map(\.change)).count == 101)
      #expect(Set(entries.prefix(101).map(\.process)) == [holder.processIdentifier])
      #expect(Set(entries.dropFirst(101).map(\.process)) == [other.processIdentifier])
    }
  }
}

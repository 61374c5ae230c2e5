import Foundation
import Testing
import VestaStoreInteropCrashTesting
import VestaTesting

extension OnOneServer {
  /// Two processes that deliver the events of one queue: one has the lease, and the other goes on when it is killed or
  /// stopped.
  @Suite
  struct TwoDispatcherTests {
    private struct Entry {
      let path: String, number: Int, id: String, process: Int32
    }

    private let directory: TemporaryDirectory
    private let ledger: String
    private let space = UUID().uuidString

    init() throws {
      directory = try TemporaryDirectory()
      ledger = directory.path(of: "ledger")
      try Data().write(to: URL(filePath: ledger))
    }

    private func peer() async throws -> WorkerProcess {
      let peer = try WorkerProcess("PostgresEventPeer", space, ledger)
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

    private func wait(until isRight: ([Entry]) -> Bool) async throws {
      while try !isRight(entries()) { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// Waits until each acknowledged change was delivered, and looks at the order and the ids.
    private func check(_ acknowledged: [String]) async throws {
      try await wait { entries in Set(acknowledged).isSubset(of: entries.map { "\($0.path) \($0.number)" }) }
      let entries = try entries()
      var ids: [String: String] = [:]
      for entry in entries {
        let change = "\(entry.path) \(entry.number)"
        #expect(ids[change, default: entry.id] == entry.id, "\(change) has two ids")
        ids[change] = entry.id
      }
      #expect(Set(ids.values).count == ids.count, "two changes have one id")
      for (path, own) in Dictionary(grouping: entries, by: \.path) {
        var begun: [Int] = []
        for entry in own where !begun.contains(entry.number) { begun.append(entry.number) }
        #expect(begun == begun.sorted(), "\(path) came in the order \(begun)")
      }
    }

    private func acknowledged(_ lines: [String]) -> [String] {
      #expect(!lines.contains { $0.hasPrefix("failed") }, "\(lines)")
      return lines.filter { $0.hasPrefix("wrote ") }.map { String($0.dropFirst(6)) }
    }

    @Test(.timeLimit(.minutes(5)))
    func `when the process that delivers is killed, the other delivers what is left, in the order of each document`()
      async throws
    {
      for _ in 0..<4 {
        let peers = [try await peer(), try await peer()]
        let round = try entries().count
        for (index, peer) in peers.enumerated() {
          for document in 0..<3 { peer.say("write n/\(round)-\(index)-\(document) 8") }
        }
        try await wait { $0.count > round + 6 }
        let holder = try entries().last?.process
        let index = peers.firstIndex { $0.processIdentifier == holder } ?? 0
        let dead = acknowledged(await peers[index].killNow())
        let living = peers[1 - index]
        _ = try await living.lines(3, withPrefix: "finished")
        try await check(dead)
        living.endInput()
        try await check(acknowledged(await living.finish()))
      }
    }

    @Test(.timeLimit(.minutes(5)))
    func `a process that was stopped for longer than its lease settles nothing any more, and nothing is lost`()
      async throws
    {
      let peers = [try await peer(), try await peer()]
      for (index, peer) in peers.enumerated() { peer.say("write n/a\(index) 10") }
      try await wait { $0.count > 4 }
      let holder = try entries().last?.process
      let index = peers.firstIndex { $0.processIdentifier == holder } ?? 0
      kill(peers[index].processIdentifier, SIGSTOP)
      let count = try entries().count
      peers[1 - index].say("write n/b 20")
      // The other one takes over when the lease has ended.
      try await wait { $0.dropFirst(count).contains { $0.process == peers[1 - index].processIdentifier } }
      kill(peers[index].processIdentifier, SIGCONT)
      peers[index].say("write n/c 20")
      var lines: [String] = []
      _ = try await peers[index].lines(2, withPrefix: "finished")
      _ = try await peers[1 - index].lines(2, withPrefix: "finished")
      try await wait { entries in entries.contains { $0.path == "n/c" && $0.number == 20 } }
      for peer in peers {
        peer.endInput()
        lines += await peer.finish()
      }
      let all = acknowledged(lines)
      #expect(all.count == 60)
      try await check(all)
    }
  }
}

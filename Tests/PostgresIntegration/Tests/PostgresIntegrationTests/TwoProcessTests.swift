import Foundation
import Testing
import VestaBytes
import VestaFirestoreBackendContracts
import VestaStoreInteropCrashTesting

extension OnOneServer {
  /// Two processes of one app on one database, each with its engines, which share nothing but the server.
  @Suite
  struct TwoProcessTests {
    /// A process, and the calls that it was asked for.
    private final class PeerProcess {
      private let worker: WorkerProcess
      private var count = 0

      init(_ space: String) async throws {
        worker = try WorkerProcess("PostgresPeer", space)
        try await worker.wait(for: "ready")
      }

      /// Asks for something, and does not wait for it.
      ///
      /// - Returns: The beginning of the lines about it.
      func begin(_ call: String) -> String {
        count += 1
        worker.say("\(count) \(call)")
        return "\(count) "
      }

      /// Asks for something, and waits for its end.
      func ask(_ call: String) async throws -> String { try await end(begin(call)) }

      func end(_ prefix: String) async throws -> String {
        String(try await worker.lines(withPrefix: prefix)[0].dropFirst(prefix.count))
      }

      func lines(_ count: Int, _ prefix: String) async throws -> [String] {
        try await worker.lines(count, withPrefix: prefix).map { String($0.dropFirst(prefix.count)) }
      }

      /// Waits until it stands still in the midst of a write.
      func stop() async throws { try await worker.wait(for: "stopped") }

      func kill() async { await worker.killNow() }

      func close() async {
        worker.endInput()
        _ = await worker.finish()
      }
    }

    private func twoProcesses() async throws -> (PeerProcess, PeerProcess) {
      let space = UUID().uuidString
      return (try await PeerProcess(space), try await PeerProcess(space))
    }

    @Test func `listeners in one process receive the other's writes, in order, and its tokens are good in both`()
      async throws
    {
      let (writer, reader) = try await twoProcesses()
      _ = try await writer.ask("set rooms/a 0")
      let listening = reader.begin("listen rooms")
      _ = try await reader.lines(1, listening + "current")
      for value in 1...20 { #expect(try await writer.ask("set rooms/a \(value)").hasPrefix("done")) }
      // Snapshots may be merged; none arrives before an earlier one, and the last one is the last.
      var seen: [Int] = []
      var count = 1
      while seen.last != 20 {
        seen = try await reader.lines(count, listening + "document a ").compactMap { Int($0) }
        count += 1
      }
      #expect(seen == seen.sorted() && Set(seen).count == seen.count)
      let commit = try await writer.ask("set rooms/a 21").split(separator: " ").last.flatMap { Int64($0) } ?? 0
      // A token at or after a commit covers all up to it, in whichever process.
      var token = ""
      var (time, tokens): (Int64, Int) = (0, 1)
      while time < commit {
        let words = try await reader.lines(tokens, listening + "token ").last?.split(separator: " ") ?? []
        (time, token) = (Int64(words[0]) ?? 0, String(words[1]))
        tokens += 1
      }
      _ = try await reader.ask("set rooms/b 22")
      for process in [writer, reader] {
        let resumed = process.begin("listen rooms \(token)")
        #expect(try await process.lines(1, resumed + "document ") == ["b 22"])
        _ = try await process.lines(1, resumed + "current")
      }
      await writer.close()
      await reader.close()
    }

    @Test func `what one process reads is what both have written, and no increment is lost`() async throws {
      let (first, second) = try await twoProcesses()
      _ = try await first.ask("set counters/c 0")
      let calls = (0..<3).map { _ in (first.begin("increment counters/c 10"), second.begin("increment counters/c 10")) }
      for (one, other) in calls {
        #expect(try await first.end(one) == "done")
        #expect(try await second.end(other) == "done")
      }
      for process in [first, second] { #expect(try await process.ask("get counters/c") == "found 60") }
      // A document that one has just read, and the other has written since.
      for value in 100..<120 {
        _ = try await first.ask("set counters/c \(value)")
        #expect(try await second.ask("get counters/c") == "found \(value)")
      }
      await first.close()
      await second.close()
    }

    @Test func `an address is one account's, and guesses of its password are counted together`() async throws {
      let (first, second) = try await twoProcesses()
      let calls = (0..<4).map { _ in
        (first.begin("signUp ada@example.com secret-one"), second.begin("signUp ada@example.com secret-one"))
      }
      var made = 0
      for (one, other) in calls {
        for answer in [try await first.end(one), try await second.end(other)] {
          if answer.hasPrefix("done") { made += 1 } else { #expect(answer.contains("EMAIL_EXISTS"), "\(answer)") }
        }
      }
      #expect(made == 1)
      // Six guesses are allowed, wherever they are made; a right one forgets them.
      for process in [first, second, first, second, first] {
        #expect(try await process.ask("signIn ada@example.com wrong-one").contains("INVALID"))
      }
      #expect(try await second.ask("signIn ada@example.com secret-one").hasPrefix("done"))
      for process in [first, first, first, second, second, second] {
        #expect(try await process.ask("signIn ada@example.com wrong-one").contains("INVALID"))
      }
      for process in [first, second] {
        for password in ["wrong-one", "secret-one"] {
          let answer = try await process.ask("signIn ada@example.com \(password)")
          #expect(answer.contains("TOO_MANY_ATTEMPTS"), "\(answer)")
        }
      }
      // Guesses at absent accounts are counted alike, so that no caller learns which exist.
      for process in [first, second, first, second, first, second] {
        #expect(try await process.ask("signIn nobody@example.com wrong-one").contains("INVALID"))
      }
      #expect(try await first.ask("signIn nobody@example.com wrong-one").contains("TOO_MANY_ATTEMPTS"))
      await first.close()
      await second.close()
    }

    @Test func `a key that one process rotates verifies in both, and what was signed before stays good`() async throws {
      let (first, second) = try await twoProcesses()
      let localID = try await first.ask("signUp ada@example.com secret-one").split(separator: " ").last ?? ""
      func token(_ process: PeerProcess) async throws -> Substring {
        try await process.ask("signIn ada@example.com secret-one").split(separator: " ").last ?? ""
      }
      var tokens = [try await token(first), try await token(second)]
      #expect(try await first.ask("rotate") == "done")
      tokens += [try await token(first), try await token(second)]
      let keys = Set(tokens.map { $0.split(separator: ".").first ?? "" })
      #expect(keys.count == 2)
      for token in tokens {
        for process in [first, second] { #expect(try await process.ask("lookup \(token)") == "done \(localID)") }
      }
      await first.close()
      await second.close()
    }

    @Test func `transactions of two processes have the results of one after another`() async throws {
      let (first, second) = try await twoProcesses()
      let calls = (first.begin("transact 301"), second.begin("transact 302"))
      var history: [TransactionHistory.Transaction] = []
      for answer in [try await first.end(calls.0), try await second.end(calls.1)] {
        let bytes = try Base64.standard.decode(String(answer.split(separator: " ").last ?? ""))
        history += try JSONDecoder().decode([TransactionHistory.Transaction].self, from: Data(bytes))
      }
      // Each process had some that were not aborted.
      #expect(history.count > 40)
      let all = Base64.standard.encode(Array(try JSONEncoder().encode(history)))
      for process in [first, second] { #expect(try await process.ask("check \(all)") == "done") }
      await first.close()
      await second.close()
    }

    /// The index of 4000 documents takes more writes than these.
    @Test(arguments: [1, 4])
    func `an index that one process makes is used by both, also when its maker is killed in the midst of it`(
      writes: Int
    ) async throws {
      let (first, second) = try await twoProcesses()
      _ = try await first.ask("fill rooms 4000")
      #expect(try await first.ask("stop \(writes)") == "done")
      #expect(try await first.ask("first rooms").hasSuffix("by 0"))
      // Its next write would be the one after these, and is never made.
      try await first.stop()
      await first.kill()
      #expect(try await second.ask("first rooms") == "found 3999 by 0")
      // Writes continue, and are in the index when it is there.
      #expect(try await second.ask("set rooms/new 7").hasPrefix("done"))
      var answer = ""
      // The lease of the killed one ends after a while; the next process that asks continues.
      repeat {
        answer = try await second.ask("first rooms")
        #expect(answer.hasPrefix("found 3999 by"))
      } while !answer.hasSuffix("by 1")
      #expect(try await second.ask("get rooms/new") == "found 7")
      await second.close()
    }
  }
}

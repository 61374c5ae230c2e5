import Foundation
import Testing
import VestaBytes
import VestaTesting

/// The codec compared with Google's own definitions, in Python.
@Suite struct FirestoreOracleTests {
  @Test(.timeLimit(.minutes(10)), arguments: [1, 2, 3])
  func `every message of Google's definitions is the same after each of its two forms`(seed: Int) async throws {
    try await withTemporaryDirectory { directory in
      let corpus = directory.appending(path: "corpus").path
      let results = directory.appending(path: "results").path
      let written = try await run("write", "\(seed)", "\(WireMessage.all.count * 40)", corpus)
      try #require(written.status == 0, "\(written.output)")
      let lines = try String(contentsOfFile: corpus, encoding: .utf8).split(separator: "\n")
      // On a thread of the test: thousands of messages, one after the other, would keep one of the few threads that all
      // tasks share, and the servers of other tests from theirs.
      let answers = try await TestThreads.run { Result { try lines.map(Self.answer) } }.get()
      try answers.joined(separator: "\n").write(toFile: results, atomically: true, encoding: .utf8)
      #expect(lines.count == WireMessage.all.count * 40)
      let checked = try await run("check", corpus, results)
      #expect(checked.status == 0, "\(checked.output)")
    }
  }

  /// The line of a message: what became of its bytes and of its JSON, or the error.
  private static func answer(_ line: Substring) throws -> String {
    let parts = line.split(separator: "\t", maxSplits: 2, omittingEmptySubsequences: false)
    let message = try #require(WireMessage.all.first { $0.name == parts[0] }, "\(parts[0])")
    do {
      let bytes = try Hex.decode(String(parts[1]))
      let json = String(decoding: try message.bytesToJSON(bytes), as: UTF8.self)
      let back = Hex.encode(try message.jsonToBytes(Array(parts[2].utf8)))
      return "\(message.name)\t\(Hex.encode(try message.bytesToBytes(bytes)))\t\(json)\t\(back)"
    } catch {
      return "\(message.name)\t\(error)"
    }
  }

  private func run(_ arguments: String...) async throws -> (status: Int32, output: String) {
    let script = try #require(Bundle.module.path(forResource: "firestore-oracle", ofType: "py"))
    return try await TestThreads.run {
      Result {
        let python = try #require(Self.python)
        let process = Process()
        process.executableURL = URL(filePath: python)
        process.arguments = [script] + arguments
        let pipe = Pipe()
        (process.standardOutput, process.standardError) = (pipe, pipe)
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output.suffix(4_000), as: UTF8.self))
      }
    }.get()
  }

  /// The interpreter that sees the peers, which `Scripts/python-peers` installs.
  private static let python: String? = {
    let root = #filePath.split(separator: "/").dropLast(5).joined(separator: "/")
    let process = Process()
    process.executableURL = URL(filePath: "/\(root)/Scripts/python-peers")
    let pipe = Pipe()
    process.standardOutput = pipe
    do { try process.run() } catch { return nil }
    let path = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return process.terminationStatus == 0 ? path.trimmingCharacters(in: .whitespacesAndNewlines) : nil
  }()
}

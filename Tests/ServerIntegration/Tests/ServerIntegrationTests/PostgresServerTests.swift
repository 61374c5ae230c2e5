import Foundation
import Testing
import VestaConcurrency
import VestaTesting

/// The program `vesta` with its data in PostgreSQL.
@Suite(.serialized) struct PostgresServerTests {
  @Test(.timeLimit(.minutes(10))) func `clients in Python find what they know, with the data in PostgreSQL`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let postgres = try await PostgresProcess()
      let server = try await ServerProcess(in: directory, "--data=files", arguments: ["--store", postgres.url])
      let result = try await server.python("firestore_client", [])
      #expect(result.status == 0, "\(result.lines.filter { !$0.hasPrefix("passed") }.joined(separator: "\n"))")
      #expect(result.lines.count { $0.hasPrefix("passed") } >= 8)
      let (process, lines) = try server.startPython("firestore_crash", ["write", "crash"])
      await lines.wait { $0.count >= 100 || $0.contains(ServerProcess.ended) }
      #expect(await server.end(SIGKILL) == SIGKILL)
      await lines.wait { $0.contains(ServerProcess.ended) }
      await TestThreads.run { process.waitUntilExit() }
      let file = directory.appending(path: "acknowledged")
      let acknowledged = lines.entries.filter { $0 != ServerProcess.ended }
      try acknowledged.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
      // With another directory: documents are in PostgreSQL alone.
      let again = try await ServerProcess(in: directory, "--data=others", arguments: ["--store", postgres.url])
      let checked = try await again.python("firestore_crash", ["check", "crash", file.path])
      #expect(checked.status == 0, "\(checked.lines.joined(separator: "\n"))")
      #expect(await again.end() == 0)
      await postgres.end()
    }
  }
}

/// A separate PostgreSQL, which `Scripts/with-postgres` starts and removes.
final class PostgresProcess: Sendable {
  private let process: Process
  private let input = Pipe()

  /// The address for `--store`.
  let url: String

  init() async throws {
    let root = #filePath.split(separator: "/").dropLast(5).joined(separator: "/")
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/\(root)/Scripts/with-postgres")
    // It runs until its input ends, and does so too when the test is killed.
    process.arguments = ["sh", "-c", "echo \"$VESTA_POSTGRES_URL\"; cat >/dev/null"]
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    self.process = process
    let line = await TestThreads.run { String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) }
    url = line.trimmingCharacters(in: .whitespacesAndNewlines)
    guard url.hasPrefix("postgres") else { throw ServerProcess.Failure(output: "PostgreSQL did not start: \(line)") }
  }

  /// Stops and removes it.
  func end() async {
    try? input.fileHandleForWriting.close()
    await TestThreads.run { [process] in process.waitUntilExit() }
  }
}

import Foundation
import Testing
import VestaTesting

/// Signals that end a server which exports at its end.
@Suite(.serialized) struct SignalServerTests {
  @Test(.timeLimit(.minutes(5)), arguments: [[SIGINT, SIGINT], [SIGHUP], [SIGQUIT], [SIGTERM, SIGINT]])
  func `a closed terminal, and a signal that is delivered twice, export`(signals: [Int32]) async throws {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, "--memory", "--project", "demo", "--export-on-exit", "export")
      for signal in signals.dropLast() { server.send(signal) }
      #expect(await server.end(try #require(signals.last)) == 0)
      let export = directory.appending(path: "export/firebase-export-metadata.json").path
      #expect(FileManager.default.fileExists(atPath: export))
    }
  }
}

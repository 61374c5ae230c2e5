import Foundation
import Testing
import VestaTesting

/// Functions of another program, and clients by other authors, with the program `vesta` in between.
@Suite(.serialized) struct FunctionsServerTests {
  @Test(.timeLimit(.minutes(5))) func `functions of another program are reached through the server`() async throws {
    try await withTemporaryDirectory { directory in
      // The program of the test listens at a port that was free a moment ago.
      let port = try #require(FreePort.find())
      let worker = "http://127.0.0.1:\(port)"
      let server = try await ServerProcess(
        in: directory, "--memory", "--project", "demo", "--function", "*=\(worker)", "--function",
        "page=\(worker)/own", "--function", "away=http://127.0.0.1:1")
      let result = try await server.python("functions_http", [], ["WORKER_PORT": "\(port)"])
      #expect(result.status == 0, "\(result.lines.joined(separator: "\n"))")
      #expect(result.lines.count { $0.hasPrefix("passed") } == 7)
      #expect(await server.end() == 0)
    }
  }
}

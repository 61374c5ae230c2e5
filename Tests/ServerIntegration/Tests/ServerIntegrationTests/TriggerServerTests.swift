import Foundation
import Testing
import VestaTesting

/// Events of functions that run in another program, which is the functions emulator as far as the server sees.
@Suite(.serialized) struct TriggerServerTests {
  @Test(.timeLimit(.minutes(5)), arguments: ["--memory", "--data=data"])
  func `functions of another program have the changes that they are registered for`(store: String) async throws {
    try await withTemporaryDirectory { directory in
      let port = try #require(FreePort.find())
      let server = try await ServerProcess(
        in: directory, store, "--project", "demo", "--functions-emulator", "127.0.0.1:\(port)")
      let result = try await server.python("triggers", ["cases"], ["WORKER_PORT": "\(port)"])
      #expect(result.status == 0, "\(result.lines.joined(separator: "\n"))")
      #expect(result.lines.count { $0.hasPrefix("passed") } == 8)
      #expect(await server.end() == 0)
    }
  }

  @Test(.timeLimit(.minutes(5)))
  func `changes that were acknowledged reach functions after the server was killed, without a second registration`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let port = try #require(FreePort.find())
      let arguments = ["--project", "demo", "--functions-emulator", "127.0.0.1:\(port)"]
      let file = directory.appending(path: "names").path
      let server = try await ServerProcess(in: directory, "--data=data", arguments: arguments)
      let before = try await server.python("triggers", ["before", file], ["WORKER_PORT": "\(port)"])
      #expect(before.status == 0, "\(before.lines.joined(separator: "\n"))")
      #expect(await server.end(SIGKILL) == SIGKILL)
      let again = try await ServerProcess(in: directory, "--data=data", arguments: arguments)
      let after = try await again.python("triggers", ["after", file], ["WORKER_PORT": "\(port)"])
      #expect(after.status == 0, "\(after.lines.joined(separator: "\n"))")
      #expect(await again.end() == 0)
    }
  }
}

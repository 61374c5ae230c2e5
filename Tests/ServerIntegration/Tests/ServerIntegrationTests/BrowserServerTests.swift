import Foundation
import Testing
import VestaTesting

/// A browser that speaks with the program `vesta`.
@Suite(.serialized) struct BrowserServerTests {
  private static let path = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  @Test(.timeLimit(.minutes(6)), .enabled(if: path != nil, "Chromium is not installed"))
  func `a page of another origin listens and writes by WebChannel, streamed and by long polling`() async throws {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, "--memory")
      let result = try await server.python("browser", [], ["BROWSER": try #require(Self.path)])
      #expect(result.status == 0, "\(result.lines.joined(separator: "\n"))")
      #expect(result.lines.count { $0.hasSuffix(" ok") } == 5)
      #expect(await server.end() == 0)
    }
  }

  @Test(.timeLimit(.minutes(5)))
  func `requests of pages are answered as the JavaScript SDK expects it, errors and preflights included`() async throws
  {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, "--memory", "--project", "demo")
      let result = try await server.python("web_shapes", [])
      #expect(result.status == 0, "\(result.lines.filter { !$0.hasPrefix("passed") }.joined(separator: "\n"))")
      #expect(result.lines.count { $0.hasPrefix("passed") } == 7)
      #expect(await server.end() == 0)
    }
  }

  @Test(.timeLimit(.minutes(6)), .enabled(if: path != nil, "Chromium is not installed"))
  func `a browser adds a passkey and signs in with it, and a server for production verifies that`() async throws {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, "--memory", "--production", "--project", "real")
      let result = try await server.python("browser_passkeys", [], ["BROWSER": try #require(Self.path)])
      #expect(result.status == 0, "\(result.lines.joined(separator: "\n"))")
      #expect(result.lines.count { $0.hasSuffix(" ok") } == 4)
      #expect(await server.end() == 0)
    }
  }

  @Test(.timeLimit(.minutes(6)), .enabled(if: path != nil, "Chromium is not installed"))
  func `an account is chosen in a pop-up window and by a redirect, and the app is told`() async throws {
    try await withTemporaryDirectory { directory in
      let server = try await ServerProcess(in: directory, "--memory", "--project", "demo")
      let result = try await server.python("browser_sign_in", [], ["BROWSER": try #require(Self.path)])
      #expect(result.status == 0, "\(result.lines.joined(separator: "\n"))")
      #expect(result.lines.count { $0.hasSuffix(" ok") } == 4)
      #expect(await server.end() == 0)
    }
  }
}

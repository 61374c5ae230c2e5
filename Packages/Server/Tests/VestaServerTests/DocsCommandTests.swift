import Foundation
import Testing
import VestaConcurrency
import VestaTesting
import VestaTransport
import VestaTransportInterop

@testable import VestaServer

/// The site that `make docs` writes, served.
@Suite struct DocsCommandTests {
  private func site(_ body: (String) async throws -> Void) async throws {
    let directory = try TemporaryDirectory()
    // A file next to the folder, for requests that try to leave it.
    try Data("secret".utf8).write(to: URL(filePath: directory.path).appending(path: "secret"))
    try Data("secret".utf8).write(to: URL(filePath: directory.path + "/\u{301}secret"))
    let root = URL(filePath: directory.path).appending(path: "site")
    let documentation = root.appending(path: "documentation/a(_:)")
    try FileManager.default.createDirectory(at: documentation, withIntermediateDirectories: true)
    try Data("first".utf8).write(to: root.appending(path: "documentation/index.html"))
    try Data("second".utf8).write(to: documentation.appending(path: "index.html"))
    try Data("{}".utf8).write(to: root.appending(path: "theme-settings.json"))
    try await body(root.path)
  }

  private func answer(_ root: String, _ target: String, _ method: HTTPMethod = .get) async throws -> HTTPResponse? {
    let request = HTTPRequest(method, target, authority: "localhost")
    guard case .response(let response) = DocumentationFolder(root).reply(to: request) else { return nil }
    return response
  }

  @Test func `pages are files, and folders have their index`() async throws {
    try await site { root in
      let page = try #require(try await answer(root, "/documentation/a(_:)?language=swift"))
      #expect(String(decoding: try await page.body.collect(upTo: 100), as: UTF8.self) == "second")
      #expect(page.fields.first("content-type") == "text/html; charset=utf-8")
      #expect(try await answer(root, "/documentation/a%28_%3A%29/")?.status == .ok)
      #expect(try await answer(root, "/theme-settings.json")?.fields.first("content-type") == "application/json")
      #expect(try await answer(root, "/")?.fields.first("location") == "/documentation/")
      #expect(try await answer(root, "/documentation/none")?.status == 404)
      #expect(try await answer(root, "/documentation/", .post)?.status == 405)
    }
  }

  @Test(arguments: [
    "/../secret", "/documentation/../../secret", "/%2e%2e/secret", "/a%00b", "/%zz", "/.",
    "/documentation/%2E%2E%2Fsecret", "/..%2F%CC%81secret",
  ])
  func `nothing outside of the folder is served`(target: String) async throws {
    try await site { root in
      let response = try await answer(root, target)
      #expect(response?.status == 404)
    }
  }

  @Test func `the command says what is missing, and its address`() async throws {
    let signals = RunSignals.ended
    let none = await DocsCommand.run([], in: "/no/such", until: signals) { _ in }
    #expect(none.status == 1 && none.text.contains("make docs"))
    try await site { root in
      let wrong = await DocsCommand.run([root, "--port", "x"], in: "/", until: signals) { _ in }
      #expect(wrong.status == 1 && wrong.text.contains("--port"))
      let addresses = Locked<[String]>([])
      let served = await DocsCommand.run([root, "--port=0"], in: "/", until: signals) { address in
        addresses.withLock { $0.append(address) }
      }
      #expect(served.status == 0)
      #expect(addresses.withLock { $0.first?.hasPrefix("http://127.0.0.1:") } == true)
    }
  }
}

import Foundation
import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

/// A browser reads a page that uses each way to speak with a server, and sends back what it saw.
@Suite(.serialized, .timeLimit(.minutes(10))) struct BrowserTests {
  private static let path = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].first(where: Peer.isThere)

  @Test(.enabled(if: path != nil, "Chromium is not installed"), arguments: [false, true])
  func `Chromium fetches, streams, listens to events and opens WebSockets`(isSecure: Bool) async throws {
    let site = Site()
    var expected = [
      "fetch ok", "parts ok", "events ok", "socket ok", "preflight ok", isSecure ? "version h2" : "version http/1.1",
    ]
    guard isSecure else {
      try await TestServer.run(handler: site) { try await visit("http://\($0.listener.address)/page", site, expected) }
      return
    }
    // Browsers send the body of a request as a stream by HTTP/2 alone.
    expected.append("upload ok")
    let certificates = try TLSCertificates([TestAuthority.shared.identity(names: "DNS:localhost,IP:127.0.0.1")])
    try await SecureTestServer.run(TLSServerSettings(certificates), handler: site) { server in
      try await visit("https://127.0.0.1:\(server.port)/page?upload", site, expected)
    }
  }

  private func visit(_ page: String, _ site: Site, _ expected: [String]) async throws {
    let folder = try TemporaryDirectory()
    let browser = Process()
    browser.executableURL = URL(fileURLWithPath: try #require(Self.path))
    browser.arguments = [
      "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
      "--disable-background-networking", "--no-proxy-server", "--ignore-certificate-errors",
      "--user-data-dir=\(folder.path)", page,
    ]
    browser.standardOutput = FileHandle.nullDevice
    browser.standardError = FileHandle.nullDevice
    browser.terminationHandler = { _ in site.results.add("the browser has ended") }
    try browser.run()
    defer {
      // Not SIGTERM: a child inherits the signals that the thread has blocked.
      kill(browser.processIdentifier, SIGKILL)
      browser.waitUntilExit()
    }
    let result = await site.results.wait(for: 1)[0]
    #expect(result.split(separator: "\n").map(String.init) == expected)
  }
}

/// The page, and what it speaks with.
private struct Site: HTTPHandler {
  let results = Log<String>()
  private let parts = DemandPipe<[UInt8]>(limit: 1_000) { $0.count }

  func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery {
    head.target == "/count" ? .streamed : .collected(upTo: 1 << 20)
  }

  func reply(to request: HTTPRequest) -> HTTPReply {
    switch request.target {
    case "/echo": return .response(HTTPResponse(body: request.body))
    case "/result":
      results.add(String(decoding: request.body.bytes ?? [], as: UTF8.self))
      return .response(HTTPResponse(.noContent))
    case "/next":
      parts.offer(request.body.bytes ?? [])
      return .response(HTTPResponse(.noContent))
    case "/parts":
      let stream = ByteStream()
      stream.offer(Array("a".utf8))
      // The page asks for the rest when it has seen the beginning.
      Task {
        if let bytes = try await parts.next() { stream.offer(bytes) }
        stream.finish()
      }
      return .response(HTTPResponse(fields: [.contentType: "text/plain"], body: .stream(stream)))
    case "/events":
      let stream = ByteStream()
      for (data, id) in [("a", "1"), ("ä\nb", "2"), ("", "3")] {
        stream.offer(ServerSentEvent(data, name: "put", id: id).encoded)
      }
      return .response(
        HTTPResponse(fields: [.contentType: "text/event-stream"], body: .stream(stream)))
    case "/count":
      return .task {
        var count = 0
        for try await bytes in request.body.stream { count += bytes.count }
        return HTTPResponse(body: .text("\(count)"))
      }
    case "/socket":
      return .webSocket(
        WebSocketService(messageLimit: 100_000) { socket in
          for try await message in socket.messages { try await socket.send(message) }
        })
    case let target where target.hasPrefix("/page"):
      return .response(HTTPResponse(fields: [.contentType: "text/html; charset=utf-8"], body: .text(Self.page)))
    default: return .response(HTTPResponse(.notFound))
    }
  }

  private static let page = """
    <!doctype html><script type="module">
    const results = []
    const decoder = new TextDecoder()
    async function check(name, run) {
      try { results.push(name + ((await run()) ? " ok" : " wrong")) } catch (error) { results.push(name + " " + error) }
    }
    await check("fetch", async () => {
      const response = await fetch("/echo", { method: "POST", body: "äö".repeat(10000), headers: { "x-a": "b" } })
      return response.status == 200 && (await response.text()) == "äö".repeat(10000)
    })
    await check("parts", async () => {
      const reader = (await fetch("/parts")).body.getReader()
      const first = decoder.decode((await reader.read()).value)
      await fetch("/next", { method: "POST", body: "b" })
      const second = decoder.decode((await reader.read()).value)
      return first == "a" && second == "b" && (await reader.read()).done
    })
    await check("events", () => new Promise((resolve, reject) => {
      const source = new EventSource("/events"), seen = []
      source.onerror = () => reject("the source has failed")
      source.addEventListener("put", event => {
        seen.push(event.lastEventId + event.data)
        if (seen.length < 2) return
        source.close()
        resolve(seen.join("|") == "1a|2ä\\nb")
      })
    }))
    await check("socket", () => new Promise((resolve, reject) => {
      const socket = new WebSocket(location.origin.replace("http", "ws") + "/socket"), seen = []
      socket.binaryType = "arraybuffer"
      socket.onopen = () => { socket.send("äö"); socket.send(new Uint8Array(70000).fill(7)) }
      socket.onmessage = event => {
        seen.push(event.data)
        if (seen.length == 2) socket.close(4000, "enough")
      }
      socket.onerror = () => reject("the socket has failed")
      socket.onclose = event => resolve(
        event.code == 4000 && event.wasClean && seen[0] == "äö" && seen[1].byteLength == 70000
          && new Uint8Array(seen[1])[69999] == 7)
    }))
    await check("preflight", async () => {
      // The same server under another name is another origin, and without its permission nothing is read.
      try { await fetch(location.origin.replace("127.0.0.1", "localhost") + "/echo", { headers: { "x-a": "b" } }) }
      catch { return true }
      return false
    })
    const entry = performance.getEntriesByType("navigation")[0]
    results.push("version " + entry.nextHopProtocol)
    if (location.search == "?upload") await check("upload", async () => {
      let left = 100
      const body = new ReadableStream({
        pull(controller) { left-- > 0 ? controller.enqueue(new Uint8Array(1000)) : controller.close() }
      })
      const response = await fetch("/count", { method: "POST", body, duplex: "half" })
      return (await response.text()) == "100000"
    })
    await fetch("/result", { method: "POST", body: results.join("\\n") })
    </script>
    """
}

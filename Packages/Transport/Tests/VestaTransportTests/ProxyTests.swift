import Foundation
import Testing
import VestaConcurrency
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

struct ProxySettingsTests {
  private func settings(_ environment: [String: String]) -> ProxySettings { ProxySettings(environment: environment) }

  @Test func `the environment names proxies in lower and upper case, with credentials`() {
    let found = settings(["HTTPS_PROXY": "http://us%65r:p%40ss@proxy.test:3128/", "http_proxy": "other.test:81"])
    #expect(found.https == .init(host: "proxy.test", port: 3128, authorization: "Basic dXNlcjpwQHNz"))
    #expect(found.http == .init(host: "other.test", port: 81))
    #expect(settings(["HTTPS_PROXY": "a", "https_proxy": "b:1"]).https?.host == "b")
    #expect(settings(["HTTPS_PROXY": ""]).https == nil)
    #expect(settings(["HTTPS_PROXY": "socks5://a:1"]).https == nil)
    #expect(settings(["HTTPS_PROXY": "http://[::1]:8080"]).https == .init(host: "::1", port: 8080))
  }

  @Test func `a field of a client cannot name the proxy of a process that serves CGI`() {
    #expect(settings(["HTTP_PROXY": "evil:1", "REQUEST_METHOD": "GET"]).http == nil)
    #expect(settings(["http_proxy": "good:1", "REQUEST_METHOD": "GET"]).http?.host == "good")
  }

  @Test(arguments: [
    ("example.com", "example.com", true), ("example.com", "a.example.com", true),
    ("example.com", "notexample.com", false),
    (".example.com", "a.example.com", true), (".example.com", "example.com", true),
    ("*.example.com", "b.example.com", true),
    ("EXAMPLE.com", "Example.COM", true), ("example.com:443", "example.com", true),
    ("example.com:80", "example.com", false),
    ("*", "anything", true), ("10.0.0.0/8", "10.9.8.7", true), ("10.0.0.0/8", "11.0.0.1", false),
    ("192.168.4.0/22", "192.168.7.255", true), ("192.168.4.0/22", "192.168.8.0", false), ("10.0.0.1", "10.0.0.1", true),
    ("2001:db8::/32", "2001:db8:1::1", true), ("2001:db8::/32", "2001:db9::1", false), ("::1", "::1", true),
    ("0.0.0.0/0", "1.2.3.4", true), ("0.0.0.0/33", "1.2.3.4", false), ("10.0.0.0/8", "10.example.com", false),
    ("", "a", false), ("/8", "1.2.3.4", false), ("localhost", "localhost", true), ("1", "a.1", true),
  ])
  func `an exception is for a host, what is below it, or a range`(entry: String, host: String, isMet: Bool) {
    #expect(ProxyRules.matches(entry, host: host, port: 443) == isMet)
  }

  @Test func `this machine is reached without a proxy`() {
    let found = settings(["HTTPS_PROXY": "p:1", "HTTP_PROXY": "p:1", "NO_PROXY": "a.test, b.test"])
    for host in ["localhost", "127.0.0.1", "127.8.8.8", "::1", "a.test", "b.test"] {
      #expect(found.proxy(secure: true, host: host, port: 443) == nil, "\(host)")
    }
    #expect(found.proxy(secure: true, host: "c.test", port: 443)?.host == "p")
    #expect(found.proxy(secure: false, host: "c.test", port: 80)?.host == "p")
  }
}

/// A proxy of a test: answers as it is told, and connects tunnels to a port of this machine, whatever host they are
/// for.
private final class TestProxy: Sendable {
  private let descriptor: Int32
  let port: Int
  let heads = Log<String>()

  init(answer: String, tunnel: Int?) throws {
    guard let place = SocketAddress(host: "127.0.0.1", port: 0) else { throw TransportError(.cannotListen, "") }
    let descriptor = try PlatformSocket.listen(at: place, shares: false, backlog: 16)
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
    self.descriptor = descriptor
    port = PlatformSocket.localAddress(descriptor)?.port ?? 0
    let heads = self.heads
    _ = PlatformThread.start {
      while true {
        let accepted = accept(descriptor, nil, nil)
        guard accepted >= 0 else { return }
        _ = PlatformThread.start { Self.serve(accepted, heads, answer, tunnel) }
      }
    }
  }

  func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  private static func serve(_ client: Int32, _ heads: Log<String>, _ answer: String, _ tunnel: Int?) {
    var head = ""
    var byte: UInt8 = 0
    while !head.hasSuffix("\r\n\r\n"), recv(client, &byte, 1, 0) == 1 { head += String(UnicodeScalar(byte)) }
    heads.add(head)
    _ = send(client, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
    if let tunnel, let target = try? RawPeer(.internet(host: "127.0.0.1", port: tunnel)) {
      let back = target.duplicate()
      _ = PlatformThread.start { copy(back, client) }
      copy(client, target.duplicate())
    }
    shutdown(client, Int32(SHUT_WR))
  }

  private static func copy(_ source: Int32, _ target: Int32) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(source, &buffer, buffer.count, 0)
      guard count > 0, send(target, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
    }
    shutdown(target, Int32(SHUT_WR))
  }
}

@Suite(.serialized, .timeLimit(.minutes(10))) struct ProxyTests {
  @Test func `https uses a tunnel, with credentials for the proxy alone, and its certificate is checked`()
    async throws
  {
    try await SecureTestServer.run([TestAuthority.shared.identity(names: "DNS:far.test")]) { server in
      let proxy = try TestProxy(answer: "HTTP/1.1 200 Connected\r\nx: y\r\n\r\n", tunnel: server.port)
      let settings = ProxySettings(https: .init("http://user:secret@127.0.0.1:\(proxy.port)"))
      let client = try VestaTransportClient(security: .testing, proxies: settings)
      for target in ["/one", "/two"] {
        let response = try await client.send(server.request(target, host: "far.test"), timeout: .seconds(20))
        #expect(try await response.body.collect(upTo: 100) == Array(target.utf8))
      }
      let head = "CONNECT far.test:\(server.port) HTTP/1.1\r\nhost: far.test:\(server.port)\r\n"
      #expect(proxy.heads.entries == [head + "proxy-authorization: Basic dXNlcjpzZWNyZXQ=\r\n\r\n"])
      let error = await #expect(throws: TransportError.self) {
        try await client.send(server.request(host: "other.test"), timeout: .seconds(20))
      }
      #expect(error?.problem == .wrongName)
      let socket = try await client.openWebSocket(
        server.request("/socket", host: "far.test"), subprotocols: [], timeout: .seconds(20))
      try await socket.send(.text("through"))
      #expect(try await socket.messages.next() == .text("through"))
      socket.close()
      await client.close()
      proxy.close()
    }
  }

  @Test func `HTTP 2 in clear and with TLS uses a tunnel`() async throws {
    for isSecure in [false, true] {
      let certificates = try TLSCertificates([TestAuthority.shared.identity(names: "DNS:far.test")])
      let server = try VestaTransportServer(loops: 1)
      let listener = try await server.listen(
        at: .internet(host: "127.0.0.1", port: 0), security: isSecure ? TLSServerSettings(certificates) : nil,
        handler: TestHandler())
      let proxy = try TestProxy(answer: "HTTP/1.1 200 Connected\r\n\r\n", tunnel: listener.address.port)
      let way = ProxySettings.Proxy("127.0.0.1:\(proxy.port)")
      let client = try VestaTransportClient(security: .testing, proxies: ProxySettings(http: way, https: way))
      for target in ["/one", "/two"] {
        var request = HTTPRequest(.get, target, scheme: isSecure ? "https" : "http", authority: "far.test:77")
        request.version = .http2
        let response = try await client.send(request, timeout: .seconds(20))
        #expect(try await response.body.collect(upTo: 100) == Array(target.utf8))
      }
      #expect(proxy.heads.entries == ["CONNECT far.test:77 HTTP/1.1\r\nhost: far.test:77\r\n\r\n"])
      await client.close()
      await listener.shutDown(within: .zero)
      await server.stop()
      proxy.close()
    }
  }

  @Test func `http is handed to the proxy with its whole URL`() async throws {
    let proxy = try TestProxy(answer: "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi", tunnel: nil)
    let settings = ProxySettings(http: .init("http://user:secret@127.0.0.1:\(proxy.port)"))
    let client = try VestaTransportClient(proxies: settings)
    let response = try await client.send(HTTPRequest(.get, "/a?b", authority: "far.test:81"), timeout: .seconds(20))
    #expect(try await response.body.collect(upTo: 10) == Array("hi".utf8))
    let head = proxy.heads.entries.first ?? ""
    #expect(head.hasPrefix("GET http://far.test:81/a?b HTTP/1.1\r\nhost: far.test:81\r\n"))
    #expect(head.contains("proxy-authorization: Basic"))
    await client.close()
    proxy.close()
  }

  @Test(arguments: [
    ("HTTP/1.1 407 Needed\r\n\r\n", TransportError.Code.refused), ("nonsense\r\n", .cannotConnect),
    ("", .cannotConnect),
    ("HTTP/1.1 200 OK\r\n\r\nmore", .cannotConnect), ("HTTP/1.1 502 Bad\r\n\r\n", .refused),
  ])
  func `a proxy that opens no tunnel is an error that says so`(answer: String, code: TransportError.Code) async throws {
    let proxy = try TestProxy(answer: answer, tunnel: nil)
    let client = try VestaTransportClient(proxies: ProxySettings(https: .init("127.0.0.1:\(proxy.port)")))
    let error = await #expect(throws: TransportError.self) {
      try await client.send(HTTPRequest(.get, "/", scheme: "https", authority: "far.test"), timeout: .seconds(20))
    }
    #expect(error?.code == code && error?.mayHaveBeenProcessed == false, "\(String(describing: error))")
    #expect(error?.message.contains("proxy") ?? false)
    await client.close()
    proxy.close()
  }
}

import Foundation
import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

@Suite(.serialized, .timeLimit(.minutes(10))) struct TLSInteroperationTests {
  private func rootFile(_ folder: TemporaryDirectory) throws -> String {
    try folder.write(TestAuthority.shared.root, to: "root.pem")
    return folder.path(of: "root.pem")
  }

  @Test(.enabled(if: Peer.isThere("/usr/bin/curl"), "curl is not installed"))
  func `curl checks the certificate, and gets and posts over both versions`() async throws {
    let folder = try TemporaryDirectory()
    let root = try rootFile(folder)
    try await SecureTestServer.run { server in
      let base = "https://localhost:\(server.port)"
      let cases: [([String], String)] = [
        (["\(base)/a", "\(base)/b"], "/a/b"), (["--tls-max", "1.2", "\(base)/old"], "/old"),
        (["--tlsv1.3", "\(base)/new"], "/new"), (["-d", "content", "\(base)/echo"], "content"),
        (["-o", "/dev/null", "-w", "%{size_download}", "\(base)/large"], "20000000"),
        (["-d", String(repeating: "x", count: 90_000), "\(base)/stream"], "90000"),
        (["-o", "/dev/null", "-w", "%{http_code} %{ssl_verify_result}", "\(base)/"], "200 0"),
      ]
      for (arguments, expected) in cases {
        let options = ["-sS", "-m", "20", "--noproxy", "*", "--cacert", root]
        let output = try await Peer.run("/usr/bin/curl", options + arguments).output
        #expect(output == expected, "\(arguments)")
      }
    }
  }

  @Test(.enabled(if: Peer.isThere("/usr/bin/openssl"), "openssl is not installed"))
  func `openssl speaks with the server, resumes, and is told of the end`() async throws {
    let folder = try TemporaryDirectory()
    let root = try rootFile(folder)
    let saved = folder.path(of: "session")
    try await SecureTestServer.run { server in
      let request = "printf 'GET /x HTTP/1.1\\r\\nhost: h\\r\\nconnection: close\\r\\n\\r\\n'"
      for (version, option, expected) in [
        ("-tls1_3", "-sess_out", "New, TLSv1.3"), ("-tls1_3", "-sess_in", "Reused, TLSv1.3"),
        ("-tls1_2", "-sess_out", "New, TLSv1.2"), ("-tls1_2", "-sess_in", "Reused, TLSv1.2"),
      ] {
        let command =
          "(\(request); sleep 0.5) | timeout 20 openssl s_client \(version) \(option) \(saved) -alpn http/1.1 "
          + "-CAfile \(root) -verify_return_error -servername localhost -connect 127.0.0.1:\(server.port) 2>&1"
        let output = try await Peer.run("/bin/sh", ["-c", command]).output
        #expect(output.contains(expected) && output.contains("/x"), "\(version) \(option): \(output.suffix(600))")
        #expect(output.contains("ALPN protocol: http/1.1") && output.contains("closed"))
      }
    }
  }

  @Test(.enabled(if: Peer.hasPythonWebSockets, "python3-websockets is not installed"))
  func `a client in Python speaks with a WebSocket over TLS`() async throws {
    let folder = try TemporaryDirectory()
    let root = try rootFile(folder)
    try await SecureTestServer.run { server in
      let script = """
        import asyncio, ssl, websockets
        async def main():
          context = ssl.create_default_context(cafile="\(root)")
          async with websockets.connect("wss://localhost:\(server.port)/socket", ssl=context, compression=None) as socket:
            for message in ["a", "äö", b"", b"x" * 70000]:
              await socket.send(message)
              assert await socket.recv() == message
          assert socket.close_code == 1000, socket.close_code
          print("done")
        asyncio.run(main())
        """
      let (status, output) = try await Peer.run("/usr/bin/python3", ["-c", script])
      #expect(status == 0 && output == "done\n")
    }
  }

  @Test(.enabled(if: Peer.isThere("/usr/bin/openssl"), "openssl is not installed"))
  func `the client gets a page from openssl, which ends the connection behind it`() async throws {
    let folder = try TemporaryDirectory()
    let (chain, key) = TestAuthority.shared.files(names: "DNS:localhost,IP:127.0.0.1")
    try folder.write(chain, to: "chain")
    try folder.write(key, to: "key")
    // Below the ports that the system gives to others.
    let port = 20_000 + Int.random(in: 0..<12_000)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments = [
      "s_server", "-accept", "127.0.0.1:\(port)", "-cert", folder.path(of: "chain"), "-key", folder.path(of: "key"),
      "-www",
    ]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    defer { kill(process.processIdentifier, SIGKILL) }
    let client = try VestaTransportClient(security: .testing)
    var body: [UInt8] = []
    while body.isEmpty {
      do {
        let request = HTTPRequest(.get, "/", scheme: "https", authority: "localhost:\(port)")
        body = try await client.send(request, timeout: .seconds(20)).body.collect(upTo: 100_000)
      } catch TransportError.Code.cannotConnect {
        await Task.yield()
      }
    }
    #expect(String(decoding: body, as: UTF8.self).contains("s_server"))
    await client.close()
  }

  @Test(.enabled(if: Peer.isThere("/usr/sbin/nginx"), "nginx is not installed"))
  func `nginx in front passes requests, streams and WebSockets on, in clear and with TLS`() async throws {
    let folder = try TemporaryDirectory()
    let root = try rootFile(folder)
    let (chain, key) = TestAuthority.shared.files(names: "DNS:localhost,IP:127.0.0.1")
    try folder.write(chain, to: "chain")
    try folder.write(key, to: "key")
    let port = 20_000 + Int.random(in: 0..<12_000)
    try await TestServer.run { clear in
      try await SecureTestServer.run { secure in
        let servers = """
          server {
            listen 127.0.0.1:\(port) ssl;
            ssl_certificate \(folder.path(of: "chain")); ssl_certificate_key \(folder.path(of: "key"));
            proxy_http_version 1.1;
            proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade;
            location /clear/ { proxy_pass http://\(clear.listener.address)/; }
            location /secure/ {
              proxy_pass https://localhost:\(secure.port)/; proxy_ssl_verify on; proxy_ssl_server_name on;
              proxy_ssl_trusted_certificate \(root);
            }
          }
          map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
          """
        try await Peer.withNginx(servers, folder) {
          let client = try VestaTransportClient(security: .testing)
          func request(_ target: String, _ method: HTTPMethod = .get, body: HTTPBody = .empty) -> HTTPRequest {
            HTTPRequest(method, target, scheme: "https", authority: "localhost:\(port)", body: body)
          }
          for way in ["/clear", "/secure"] {
            var text = ""
            while text.isEmpty {
              do {
                let response = try await client.send(request("\(way)/a"), timeout: .seconds(20))
                text = String(decoding: try await response.body.collect(upTo: 1_000), as: UTF8.self)
              } catch TransportError.Code.cannotConnect { await Task.yield() }
            }
            #expect(text == "/a")
            let large = try await client.send(request("\(way)/large"), timeout: .seconds(20))
            #expect(try await large.body.collect(upTo: 30_000_000).count == 20_000_000)
            let bytes = [UInt8](repeating: 9, count: 90_000)
            let upload = try await client.send(
              request("\(way)/stream", .post, body: .bytes(bytes)), timeout: .seconds(20))
            #expect(try await upload.body.collect(upTo: 100) == Array("90000".utf8))
            let socket = try await client.openWebSocket(
              request("\(way)/socket"), subprotocols: [], timeout: .seconds(20))
            try await socket.send(.text("through nginx"))
            #expect(try await socket.messages.next() == .text("through nginx"))
            socket.close()
          }
          await client.close()
        }
      }
    }
  }
}

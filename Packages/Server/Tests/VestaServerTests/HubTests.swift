import Foundation
import Testing
import VestaBytes
import VestaTesting
import VestaTransport
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaServer

/// The hub of servers that run, and the file by which it is found.
@Suite(.serialized) struct HubTests {
  private static let freePorts = Dictionary(uniqueKeysWithValues: ServerSettings.usualPorts.keys.map { ($0, 0) })

  private static func settings(_ name: String, data: String? = nil, production: Bool = false) -> ServerSettings {
    ServerSettings(
      project: "\(name)-\(UUID().uuidString.lowercased())", data: data, isDevelopment: !production,
      hosts: production ? ["0.0.0.0"] : ServerSettings.loopback, ports: freePorts)
  }

  private static func locator(_ project: String) -> String {
    FileManager.default.temporaryDirectory.appending(path: "hub-\(project).json").path(percentEncoded: false)
  }

  private static func mode(_ path: String) throws -> Int? {
    (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
  }

  /// The status of a request to the hub.
  private static func send(
    _ method: HTTPMethod, _ path: String, to server: VestaServer, _ fields: HTTPFields = [:], _ body: JSONObject = [:]
  ) async throws -> Int {
    let client = try VestaTransportClient(proxies: ProxySettings())
    let url = try #require(HTTPURL("http://127.0.0.1:\(server.port(of: "hub") ?? 0)\(path)"))
    let request = HTTPRequest(method, url, fields: fields, body: .bytes(try body.json()))
    let response = try await client.send(request, timeout: .seconds(30))
    _ = try await response.body.collect(upTo: 1 << 16)
    await client.close()
    return response.status.code
  }

  @Test(.timeLimit(.minutes(20)))
  func `in production the hub is for this machine alone, and exports for the user of the server alone`() async throws {
    try await withTemporaryDirectory { directory in
      let settings = Self.settings("prod", data: directory.appending(path: "data").path, production: true)
      let server = try await VestaServer.start(settings)
      #expect(server.ports.first { $0.name == "auth" }?.hosts == ["0.0.0.0"])
      let hub = try #require(server.ports.first { $0.name == "hub" })
      #expect(!hub.hosts.isEmpty && hub.hosts.allSatisfy(ServerSettings.loopback.contains))
      let path = directory.appending(path: "export").path
      for fields: HTTPFields in [[:], [.authorization: "Bearer owner"], [.authorization: ""]] {
        #expect(try await Self.send(.post, "/_admin/export", to: server, fields, ["path": .string(path)]) == 403)
        #expect(try await Self.send(.put, "/functions/disableBackgroundTriggers", to: server, fields) == 403)
      }
      #expect(!FileManager.default.fileExists(atPath: path))
      #expect(try Self.mode(Self.locator(settings.project)) == 0o600)
      let exported = await DataCommands.export([path, "--project", settings.project], in: directory.path)
      #expect(exported.status == 0, "\(exported.text)")
      #expect(try Self.mode(path) == 0o700)
      let names = try FileManager.default.subpathsOfDirectory(atPath: path)
      #expect(names.contains("auth_export/accounts.json"))
      for name in names {
        let mode = try Self.mode("\(path)/\(name)")
        #expect(mode == 0o600 || mode == 0o700, "\(name)")
      }
      await server.stop()
      #expect(!FileManager.default.fileExists(atPath: Self.locator(settings.project)))
    }
  }

  @Test(.timeLimit(.minutes(20))) func `of two servers of a project the one that runs is found`() async throws {
    try await withTemporaryDirectory { directory in
      let settings = Self.settings("two")
      func hub() async -> String? { await HubLocator.hub(of: settings.project)?.origin }
      for firstEnds in [true, false] {
        let (first, second) = (try await VestaServer.start(settings), try await VestaServer.start(settings))
        #expect(await hub()?.hasSuffix(":\(second.port(of: "hub") ?? 0)") == true)
        let (ending, staying) = firstEnds ? (first, second) : (second, first)
        await ending.stop()
        #expect(await hub()?.hasSuffix(":\(staying.port(of: "hub") ?? 0)") == true)
        await staying.stop()
        #expect(await hub() == nil)
      }
    }
  }

  @Test(.timeLimit(.minutes(20))) func `a file of a server that does not answer is replaced`() async throws {
    try await withTemporaryDirectory { directory in
      let settings = Self.settings("stale")
      // The process lives, and is no server: its number was given away again.
      let old: JSONObject = ["pid": .integer(Int64(getppid())), "origins": .array(["http://127.0.0.1:9"])]
      try Data(try old.json()).write(to: URL(filePath: Self.locator(settings.project)))
      let none = await DataCommands.export(["none", "--project", settings.project], in: directory.path)
      #expect(none.status == 1 && none.text.contains("No server"))
      let server = try await VestaServer.start(settings)
      let exported = await DataCommands.export(["export", "--project", settings.project], in: directory.path)
      #expect(exported.status == 0, "\(exported.text)")
      await server.stop()
      #expect(!FileManager.default.fileExists(atPath: Self.locator(settings.project)))
    }
  }
}

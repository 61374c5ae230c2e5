import Foundation
import Testing
import VestaBytes
import VestaConcurrency
import VestaServiceInterop
import VestaTesting
import VestaTransport
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaServer

/// Imports at the start of a server, and what meets them.
@Suite(.serialized) struct ImportStartTests {
  private static let freePorts = Dictionary(uniqueKeysWithValues: ServerSettings.usualPorts.keys.map { ($0, 0) })

  /// Writes an export of accounts as the Firebase CLI's suite does, with passwords in clear text.
  private func writeAccounts(_ count: Int, to directory: URL) throws {
    let folder = directory.appending(path: "auth_export")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let metadata = #"{"version":"13.0.2","auth":{"version":"13.0.2","path":"auth_export"}}"#
    try Data(metadata.utf8).write(to: directory.appending(path: ExportDirectory.metadata))
    let users = (0..<count).map { index in
      #"{"localId":"u\#(index)","email":"u\#(index)@x.com","passwordHash":"fakeHash:salt=s:password=secret1","salt":"s"}"#
    }
    try Data(#"{"users":[\#(users.joined(separator: ","))]}"#.utf8).write(to: folder.appending(path: "accounts.json"))
  }

  /// The status of a sign-in; `nil` where nothing listens.
  private func signIn(_ email: String, at port: Int) async throws -> Int? {
    let client = try VestaTransportClient(proxies: ProxySettings())
    let path = "/identitytoolkit.googleapis.com/v1/accounts:signInWithPassword?key=k"
    let url = try #require(HTTPURL("http://127.0.0.1:\(port)\(path)"))
    let body: JSONObject = ["email": .string(email), "password": "secret1"]
    let request = HTTPRequest(.post, url, fields: [.contentType: "application/json"], body: .bytes(try body.json()))
    let response = try? await client.send(request, timeout: .seconds(30))
    _ = try await response?.body.collect(upTo: 1 << 20)
    await client.close()
    return response?.status.code
  }

  // The time limit is the test: hashing 2,000 passwords as in production takes longer.
  @Test(.timeLimit(.minutes(20))) func `a client that finds a port open finds all of an import`() async throws {
    try await withTemporaryDirectory { directory in
      try writeAccounts(2_000, to: directory)
      let probe = try await VestaServer.start(ServerSettings(project: "probe", ports: Self.freePorts))
      let port = try #require(probe.port(of: "auth"))
      await probe.stop()
      var settings = ServerSettings(project: "import-\(UUID().uuidString.lowercased())", ports: Self.freePorts)
      settings.ports["auth"] = port
      async let starting = VestaServer.start(settings, importing: directory.path)
      var status: Int?
      while status == nil { status = try await signIn("u1999@x.com", at: port) }
      #expect(status == 200)
      let server = try await starting
      await server.stop()
    }
  }

  @Test(.timeLimit(.minutes(20))) func `a port in use is said before anything is imported`() async throws {
    try await withTemporaryDirectory { directory in
      try writeAccounts(1, to: directory)
      // An import that fails, whose error would be the first one.
      try Data("no JSON".utf8).write(to: directory.appending(path: "auth_export/accounts.json"))
      let transport = try VestaTransportServer(loops: 1)
      let other = try await transport.listen(
        at: .internet(host: "127.0.0.1", port: 0),
        handler: HTTPClosureHandler { _ in .response(HTTPResponse(.serviceUnavailable)) })
      let port = try #require(other.address.port)
      for name in [ServerSettings.hub, "auth", ServerSettings.shared] {
        var settings = ServerSettings(project: "busy", ports: Self.freePorts)
        settings.ports[name] = port
        let error = await #expect(throws: ServerError.self) {
          _ = try await VestaServer.start(settings, importing: directory.path)
        }
        #expect(error?.description.hasPrefix("The port \(port) of \(name) cannot be opened") == true, "\(name)")
      }
      await other.shutDown(within: .zero)
      var settings = ServerSettings(project: "busy", ports: Self.freePorts)
      (settings.ports["auth"], settings.ports["hub"]) = (port, port)
      let error = await #expect(throws: ServerError.self) {
        _ = try await VestaServer.start(settings, importing: directory.path)
      }
      #expect(error?.description.contains("auth and hub have the same port") == true)
      settings.ports["hub"] = 0
      settings.products = ["auth", "cards"]
      let unknown = await #expect(throws: ServerError.self) {
        _ = try await VestaServer.start(settings, importing: directory.path)
      }
      #expect(unknown?.description.contains("cards") == true)
      await transport.stop()
    }
  }

  @Test(.timeLimit(.minutes(20))) func `an export whose accounts are gone is refused and stays`() async throws {
    try await withTemporaryDirectory { directory in
      try writeAccounts(1, to: directory)
      let accounts = directory.appending(path: "auth_export/accounts.json")
      try FileManager.default.removeItem(at: accounts)
      let ports = Self.freePorts.keys.sorted().flatMap { [$0 == "all" ? "--port" : "--port-\($0)", "0"] }
      let arguments = try ServeArguments(["--import", directory.path, "--export-on-exit"] + ports, in: "/no")
      let before = try FileManager.default.subpathsOfDirectory(atPath: directory.path)
      let run = ServerRun(arguments) { Issue.record("It has started: \($0)") }
      let error = await #expect(throws: ServerError.self) {
        try await run.serve(until: .ended)
      }
      #expect(error?.description.contains("/auth_export/accounts.json") == true)
      #expect(try FileManager.default.subpathsOfDirectory(atPath: directory.path) == before)
      try Data(#"{"users":[]}"#.utf8).write(to: accounts)
      let server = try await VestaServer.start(
        ServerSettings(project: "none", ports: Self.freePorts), importing: directory.path)
      await server.stop()
    }
  }

  @Test(.timeLimit(.minutes(20))) func `an absent or empty directory is imported as nothing`() async throws {
    try await withTemporaryDirectory { directory in
      let empty = directory.appending(path: "empty")
      try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)
      try Data().write(to: empty.appending(path: ".gitkeep"))
      let ports = Self.freePorts.keys.sorted().flatMap { [$0 == "all" ? "--port" : "--port-\($0)", "0"] }
      for path in [empty.path, directory.appending(path: "absent").path] {
        let arguments = try ServeArguments(["--import", path, "--export-on-exit"] + ports, in: "/no")
        let said = Locked(0)
        try await ServerRun(arguments) { _ in said.withLock { $0 += 1 } }.serve(until: .ended)
        #expect(said.withLock { $0 } == 1)
        #expect(FileManager.default.fileExists(atPath: "\(path)/\(ExportDirectory.metadata)"))
      }
      let foreign = directory.appending(path: "foreign")
      try FileManager.default.createDirectory(at: foreign, withIntermediateDirectories: true)
      try Data("{}".utf8).write(to: foreign.appending(path: "other.json"))
      let wrong = try ServeArguments(["--import", foreign.path] + ports, in: "/no")
      let run = ServerRun(wrong) { Issue.record("It has started: \($0)") }
      await #expect(throws: ServerError.self) { try await run.serve(until: .ended) }
    }
  }

  @Test(.timeLimit(.minutes(20))) func `a file that was edited by hand is imported as it is`() async throws {
    try await withTemporaryDirectory { directory in
      let folder = directory.appending(path: "storage_export")
      for name in ["blobs", "metadata"] {
        let path = folder.appending(path: name)
        try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
      }
      func write(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: directory.appending(path: name))
      }
      try write(
        #"{"version":"1","storage":{"version":"1","path":"storage_export"}}"#, ExportDirectory.metadata)
      try write(#"{"buckets":[{"id":"seed-bucket"}]}"#, "storage_export/buckets.json")
      for (id, size, crc32c) in [("x", 5, "1"), ("y", 3, "2591144780"), ("z", 5, "2591144780")] {
        let json = #"{"name":"\#(id)","bucket":"seed-bucket","size":\#(size),"crc32c":"\#(crc32c)"}"#
        try write(json, "storage_export/metadata/\(id).json")
        try write("hello", "storage_export/blobs/\(id)")
      }
      let project = "edited-\(UUID().uuidString.lowercased())"
      let server = try await VestaServer.start(
        ServerSettings(project: project, ports: Self.freePorts), importing: directory.path)
      let client = try VestaTransportClient(proxies: ProxySettings())
      for id in ["x", "y", "z"] {
        let port = try #require(server.port(of: "storage"))
        let url = try #require(HTTPURL("http://127.0.0.1:\(port)/v0/b/seed-bucket/o/\(id)?alt=media"))
        let response = try await client.send(HTTPRequest(.get, url), timeout: .seconds(30))
        #expect(try await response.body.collect(upTo: 1 << 10) == Array("hello".utf8), "\(id)")
      }
      await client.close()
      await server.stop()
    }
  }

  /// A part whose import waits for a gate.
  private struct SlowPart: ExportPart {
    let hasBegun: Gate
    let mayEnd: Gate
    var product: String { "auth" }

    func write(project: String, to root: String, in host: any EndpointHost) async throws -> JSONObject { [:] }

    func read(project: String, from root: String, entry: JSONObject, in host: any EndpointHost) async throws {
      hasBegun.open()
      await mayEnd.wait()
    }
  }

  @Test(.timeLimit(.minutes(20))) func `nothing is exported while something is imported`() async throws {
    try await withTemporaryDirectory { directory in
      try writeAccounts(1, to: directory)
      let part = SlowPart(hasBegun: Gate(), mayEnd: Gate())
      let exports = ExportDirectory(
        parts: [part], project: "p", host: FakeEndpointHost(project: "p"), gate: ImportGate())
      async let importing: Void = exports.read(from: directory.path)
      await part.hasBegun.wait()
      let before = try FileManager.default.subpathsOfDirectory(atPath: directory.path)
      let error = await #expect(throws: ServerError.self) { try await exports.write(to: directory.path) }
      #expect(error?.description.contains("An import is running") == true)
      #expect(try FileManager.default.subpathsOfDirectory(atPath: directory.path) == before)
      part.mayEnd.open()
      try await importing
      try await exports.write(to: directory.path)
    }
  }
}

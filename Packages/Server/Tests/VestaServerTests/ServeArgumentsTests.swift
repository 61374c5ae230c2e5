import Foundation
import Testing
import VestaBytes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaServer

/// Arguments and `firebase.json`.
@Suite struct ServeArgumentsTests {
  private func settings(_ arguments: String...) throws -> ServerSettings {
    try ServeArguments(arguments, in: "/no/such/directory").settings
  }

  @Test func `without arguments everything is the suite's, on this machine alone`() throws {
    let settings = try settings()
    #expect(settings.project == "demo-no-project" && settings.isDevelopment)
    #expect(settings.hosts == ["127.0.0.1", "::1"])
    #expect(settings.data == "/no/such/directory/.vesta")
    #expect(settings.port(of: "firestore") == 8_080 && settings.port(of: "hub") == 4_400)
    #expect(settings.port(of: "remoteConfig") == nil)
  }

  @Test func `a project has the name that .firebaserc gives it`() throws {
    let directory = try TemporaryDirectory()
    let text = #"{"projects":{"default":"demo-a","prod":"demo-b"}} // names"#
    try Data(text.utf8).write(to: URL(filePath: directory.path(of: ".firebaserc")))
    func project(_ arguments: String...) throws -> String {
      try ServeArguments(arguments, in: directory.path).settings.project
    }
    #expect(try project() == "demo-a" && project("--project", "prod") == "demo-b")
    #expect(try project("--project", "demo-c") == "demo-c" && project("--project", "default") == "demo-a")
  }

  @Test func `the only project of .firebaserc needs no name, and a byte-order mark is no mistake`() throws {
    let directory = try TemporaryDirectory()
    func project(_ names: String, mark: String = "") throws -> String {
      let text = "\(mark){\"projects\":{\(names)}}"
      try Data(text.utf8).write(to: URL(filePath: directory.path(of: ".firebaserc")))
      return try ServeArguments([], in: directory.path).settings.project
    }
    #expect(try project(#""staging":"demo-b""#) == "demo-b")
    #expect(try project(#""staging":"demo-b","default":"demo-a""#) == "demo-a")
    #expect(try project(#""staging":"demo-b","prod":"demo-a""#) == ServerSettings.noProject)
    #expect(try project("") == ServerSettings.noProject)
    #expect(try project(#""staging":"demo-b""#, mark: "\u{FEFF}") == "demo-b")
    try Data("\u{FEFF}{\"emulators\":{\"auth\":{\"port\":7}}}".utf8)
      .write(to: URL(filePath: directory.path(of: "firebase.json")))
    #expect(try ServeArguments([], in: directory.path).settings.port(of: "auth") == 7)
  }

  @Test func `a .firebaserc that is no JSON is said, by every command that reads it`() async throws {
    let directory = try TemporaryDirectory()
    let file = directory.path(of: ".firebaserc")
    try Data(#"{"projects":{"default":"demo-a",}}"#.utf8).write(to: URL(filePath: file))
    let error = #expect(throws: ServerError.self) { try ServeArguments([], in: directory.path) }
    #expect(error?.description.contains("\(file) is not valid JSON") == true)
    #expect(await DoctorCommand.run([], in: directory.path).text.contains("not valid JSON"))
    for result in [
      await DataCommands.export(["x"], in: directory.path), await TokenCommand.run([], in: directory.path),
    ] {
      #expect(result.status == 1 && result.text.contains("not valid JSON"), "\(result.text)")
    }
  }

  @Test func `the files of a project are found from the folders below it`() throws {
    let directory = try TemporaryDirectory()
    let below = URL(filePath: directory.path).appending(path: "functions/src")
    try FileManager.default.createDirectory(at: below, withIntermediateDirectories: true)
    let json = #"{"firestore":{"rules":"f.rules"},"emulators":{"auth":{"port":7}}}"#
    try Data(json.utf8).write(to: URL(filePath: directory.path(of: "firebase.json")))
    try Data(#"{"projects":{"default":"demo-a"}}"#.utf8).write(to: URL(filePath: directory.path(of: ".firebaserc")))
    let expected = try ServeArguments([], in: directory.path).settings
    let settings = try ServeArguments([], in: below.path).settings
    #expect(settings == expected && settings.project == "demo-a" && settings.port(of: "auth") == 7)
    #expect(settings.rules["firestore"]?.hasSuffix("/f.rules") == true)
    #expect(settings.data == directory.path(of: ".vesta"))
    // The next one counts.
    try Data("{}".utf8).write(to: below.appending(path: "firebase.json"))
    #expect(try ServeArguments([], in: below.path).settings.rules.isEmpty)
  }

  @Test func `a functions emulator has a port`() throws {
    #expect(try settings("--functions-emulator", "127.0.0.1:5002").functions["*"] == "http://127.0.0.1:5002")
    #expect(try settings("--functions-emulator", "[::1]:5002").functionsEmulator == "[::1]:5002")
    #expect(try settings("--functions-emulator", "http://host/").functions["*"] == "http://host/")
  }

  @Test func `the hub is read by pages and by probes, and exports for neither`() async throws {
    let exports = ExportDirectory(
      parts: [], project: "p", host: FakeEndpointHost(project: "p"), gate: ImportGate())
    let inner = HubHandler(places: [], origins: ["http://x"], process: 1, exports: exports, triggers: NoTriggers())
    let hub = CrossOriginHandler(rules: HubHandler.pageRules, inner)
    func send(_ method: HTTPMethod, _ target: String, _ fields: HTTPFields = [:]) async throws -> HTTPResponse {
      switch hub.reply(to: HTTPRequest(method, target, authority: "localhost:4400", fields: fields)) {
      case .response(let response): return response
      case .task(let work): return try await work()
      case .webSocket: throw ServerError("a socket")
      }
    }
    #expect(try await send(.head, "/").status == .ok)
    let page: HTTPFields = ["origin": "http://localhost:3000"]
    let read = try await send(.get, "/emulators", page)
    #expect(read.status == .ok && read.fields["access-control-allow-origin"] != nil)
    let asked = try await send(.options, "/emulators", ["origin": "http://x", "access-control-request-method": "GET"])
    #expect(asked.status == .noContent && asked.fields["access-control-allow-methods"] != nil)
    #expect(try await send(.post, "/_admin/export", page).status.code == 403)
    let cut = try JSONObject(json: Array(#"{"path":"/tmp/a\u0000b"}"#.utf8)).json()
    let cutShort = HTTPRequest(.post, "/_admin/export", authority: "localhost:4400", body: .bytes(cut))
    guard case .response(let refused) = inner.reply(to: cutShort) else { throw ServerError("an export") }
    #expect(refused.status.code == 400)
    let switching = try await send(
      .options, "/functions/disableBackgroundTriggers", ["origin": "http://x", "access-control-request-method": "PUT"])
    #expect(switching.fields["access-control-allow-methods"] == nil)
  }

  private final class NoTriggers: TriggerSwitch {
    let hasAddress = false
    var isEnabled: Bool {
      get { false }
      set {}
    }
  }

  @Test func `arguments are read in both forms`() throws {
    let settings = try settings(
      "--project=p", "--data", "/d", "--port-firestore", "0", "--port=1", "--host", "0.0.0.0", "--production")
    #expect(settings.project == "p" && settings.data == "/d" && !settings.isDevelopment)
    #expect(settings.ports == ["firestore": 0, "all": 1] && settings.hosts == ["0.0.0.0"])
    #expect(try self.settings("--memory").data == nil)
    #expect(try self.settings("--host", "localhost").hosts == ServerSettings.loopback)
  }

  @Test func `each port has the hosts that firebase json has for it, and the option replaces them all`() async throws {
    try await withTemporaryDirectory { directory in
      let json = #"{"emulators":{"firestore":{"host":"0.0.0.0"},"auth":{"port":5},"all":{"host":"localhost"}}}"#
      try Data(json.utf8).write(to: directory.appending(path: "firebase.json"))
      let path = directory.path(percentEncoded: false)
      let settings = try ServeArguments([], in: path).settings
      #expect(settings.hosts(of: "firestore") == ["0.0.0.0"])
      for name in ["auth", "hub", "all"] { #expect(settings.hosts(of: name) == ServerSettings.loopback) }
      let chosen = try ServeArguments(["--host", "10.0.0.1"], in: path).settings
      for name in ["firestore", "auth", "hub", "all"] { #expect(chosen.hosts(of: name) == ["10.0.0.1"]) }
    }
  }

  @Test func `the contact for push services is a mail address or a page of https`() throws {
    #expect(try settings().pushContact == nil)
    for contact in ["mailto:push@example.com", "https://example.com/contact"] {
      #expect(try settings("--push-contact", contact).pushContact == contact)
    }
    for wrong in ["push@example.com", "http://example.com/", "mailto:", "mailto:a", "mailto:a@", "mailto:a@b c", "x"] {
      #expect(throws: ServerError.self) { try settings("--push-contact", wrong) }
    }
  }

  @Test func `the domain of passkeys is a domain and no more`() throws {
    #expect(try settings().passkeyDomain == "localhost")
    #expect(try settings("--passkey-domain", "App.Example.com").passkeyDomain == "app.example.com")
    for wrong in ["https://example.com", "example.com:80", "example.com/", ".example.com", "", "a..b", "a b", "ü.de"] {
      #expect(throws: ServerError.self, "\(wrong)") { try settings("--passkey-domain", wrong) }
    }
  }

  @Test(arguments: [
    ["--project"], ["--port", "x"], ["--port", "65536"], ["--port-none", "1"], ["--what"], ["--memory=1"], ["a"],
    ["--config", "/no/such/file"], ["--push-contact"], ["--functions-emulator", "nonsense"],
    ["--functions-emulator", "127.0.0.1"], ["--functions-emulator", "127.0.0.1:"],
    ["--functions-emulator", "ftp://h:1"],
  ])
  func `what is wrong in arguments is said`(arguments: [String]) {
    #expect(throws: ServerError.self) { try ServeArguments(arguments, in: "/no/such/directory") }
  }

  @Test func `rules are found next to the file that names them`() async throws {
    try await withTemporaryDirectory { directory in
      let json = #"{"firestore":{"rules":"rules/f.rules"},"storage":{"rules":"/absolute/s.rules"}}"#
      try Data(json.utf8).write(to: directory.appending(path: "firebase.json"))
      let folder = directory.standardizedFileURL.path(percentEncoded: false)
      let path = folder.hasSuffix("/") ? String(folder.dropLast()) : folder
      for arguments in [[], ["--config", "\(path)/firebase.json"]] {
        let settings = try ServeArguments(arguments, in: path).settings
        #expect(settings.rules == ["firestore": "\(path)/rules/f.rules", "storage": "/absolute/s.rules"])
      }
    }
  }

  @Test func `ports and hosts are read from firebase json`() throws {
    let json = #"{"emulators":{"firestore":{"host":"h","port":1},"hub":{"port":2},"ui":{"enabled":false},"x":1}}"#
    let configuration = try FirebaseFile(json: Array(json.utf8))
    #expect(configuration.ports == ["firestore": 1, "hub": 2] && configuration.hosts == ["firestore": "h"])
    for wrong in ["", "[]", #"{"emulators":{"hub":{"port":"x"}}}"#, #"{"emulators":{"hub":{"port":70000}}}"#] {
      #expect(throws: ServerError.self) { try FirebaseFile(json: Array(wrong.utf8)) }
    }
    let place = #expect(throws: ServerError.self) { try FirebaseFile(json: Array(#"{"a":1,}"#.utf8)) }
    #expect(place?.description.contains("byte 7") == true)
    let rules = #"{"firestore":{"rules":"f.rules"},"storage":[{"bucket":"b","rules":"s.rules"}],"database":{}}"#
    #expect(try FirebaseFile(json: Array(rules.utf8)).rules == ["firestore": "f.rules", "storage": "s.rules"])
    #expect(FirebaseFile.project(named: "default", json: Array(#"{"projects":{"default":"p"}}"#.utf8)) == "p")
  }
}

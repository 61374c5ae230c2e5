import Foundation
import NotesService
import VestaCore
import VestaSQLite
import VestaTransport
import VestaTransportInterop

/// `NotesServer serve [PORT] [FOLDER]` serves until it is ended; without arguments the server is used once over
/// sockets.
@main
enum NotesServer {
  static func main() async {
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      guard arguments.first == "serve" else { return try await rehearse() }
      let port = arguments.dropFirst().first.flatMap(Int.init) ?? 8080
      let folder = URL(filePath: arguments.dropFirst(2).first ?? "notes")
      try await run(port: port, in: folder) { listener in
        print("http://\(listener.address)")
        // Until a signal: what was answered is durable.
        let (forever, _) = AsyncStream.makeStream(of: Void.self)
        for await _ in forever {}
      }
    } catch {
      print("NotesServer: \(error)")
      exit(1)
    }
  }

  private static func run(port: Int, in folder: URL, _ body: (any HTTPListener) async throws -> Void) async throws {
    let app = try VestaApp.configure(
      options: VestaOptions(projectID: "demo-notes", backend: .embedded(directory: folder)),
      libraries: NotesService.libraries + [SQLiteLibrary.self])
    let server = try VestaTransportServer()
    let listener = try await server.listen(
      at: .internet(host: "127.0.0.1", port: port), handler: try NotesService(app))
    let result: Result<Void, any Error>
    do { result = .success(try await body(listener)) } catch { result = .failure(error) }
    await listener.shutDown(within: .seconds(5))
    await server.stop()
    await app.delete()
    try result.get()
  }

  /// A sign-up, a note, a restart, and the note again.
  private static func rehearse() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "notes-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let account = #"{"email": "ada@example.com", "password": "correct horse"}"#
    let client = try VestaTransportClient()
    func call(
      _ method: HTTPMethod, _ target: String, _ listener: any HTTPListener, _ body: String = "", _ token: String? = nil
    )
      async throws -> (status: HTTPStatus, text: String)
    {
      var request = HTTPRequest(method, target, authority: listener.address.description, body: .text(body))
      if let token { request.fields.set("authorization", "Bearer \(token)") }
      let response = try await client.send(request, timeout: .seconds(30))
      return (response.status, String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self))
    }
    try await run(port: 0, in: folder) { listener in
      let made = try await call(.post, "/users", listener, account)
      try expect(made.status == 201, "an account is made: \(made.status)")
      let added = try await call(.post, "/notes", listener, #"{"text": "buy tea"}"#, try token(in: made.text))
      try expect(added.status == 201, "a note is written: \(added.status)")
      try expect(try await call(.get, "/notes", listener).status == 401, "strangers see nothing")
    }
    try await run(port: 0, in: folder) { listener in
      let session = try await call(.post, "/sessions", listener, account)
      let notes = try await call(.get, "/notes", listener, "", try token(in: session.text))
      try expect(notes.text.contains("buy tea"), "the note is there after a restart")
    }
    await client.close()
  }

  private static func token(in text: String) throws -> String {
    try JSONDecoder().decode([String: String].self, from: Data(text.utf8))["token"] ?? ""
  }

  private struct Unexpected: Error { let what: String }

  private static func expect(_ condition: Bool, _ what: String) throws {
    guard condition else { throw Unexpected(what: what) }
    print("ok: \(what)")
  }
}

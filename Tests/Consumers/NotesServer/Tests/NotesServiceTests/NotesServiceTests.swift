import Foundation
import NotesService
import Testing
import VestaCore
import VestaMemoryStore
import VestaTransportInterop

/// The service without sockets: requests go to its handler, and nothing is kept.
@Suite struct NotesServiceTests {
  private struct Client {
    let service: NotesService

    func send(
      _ method: HTTPMethod, _ target: String, _ body: String = "", token: String? = nil
    ) async throws -> (status: HTTPStatus, text: String) {
      var request = HTTPRequest(method, target, authority: "localhost", body: .text(body))
      if let token { request.fields.set("authorization", "Bearer \(token)") }
      guard case .task(let work) = service.reply(to: request) else { throw CancellationError() }
      let response = try await work()
      return (response.status, String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self))
    }

    func signUp(_ name: String) async throws -> String {
      let answer = try await send(.post, "/users", account(name))
      #expect(answer.status == 201)
      return try #require(try JSONDecoder().decode([String: String].self, from: Data(answer.text.utf8))["token"])
    }

    func account(_ name: String, password: String = "correct horse") -> String {
      #"{"email": "\#(name)@example.com", "password": "\#(password)"}"#
    }
  }

  private func withClient(_ body: (Client) async throws -> Void) async throws {
    let name = "notes-\(UUID().uuidString)"
    let app = try VestaApp.configure(
      name: name, options: VestaOptions(projectID: name), libraries: NotesService.libraries + [MemoryStoreLibrary.self])
    let result: Result<Void, any Error>
    do { result = .success(try await body(Client(service: try NotesService(app)))) } catch { result = .failure(error) }
    await app.delete()
    try result.get()
  }

  @Test func `notes belong to their user alone`() async throws {
    try await withClient { client in
      let (ada, eve) = (try await client.signUp("ada"), try await client.signUp("eve"))
      let added = try await client.send(.post, "/notes", #"{"text": "tea"}"#, token: ada)
      let id = try #require(try JSONDecoder().decode([String: String].self, from: Data(added.text.utf8))["id"])
      #expect(try await client.send(.get, "/notes", token: ada).text.contains("tea"))
      #expect(try await client.send(.get, "/notes", token: eve).text == "[]")
      #expect(try await client.send(.delete, "/notes/\(id)", token: eve).status == 404)
      #expect(try await client.send(.delete, "/notes/\(id)", token: ada).status == 204)
      #expect(try await client.send(.get, "/notes", token: ada).text == "[]")
    }
  }

  @Test func `accounts are refused with the status of the cause`() async throws {
    try await withClient { client in
      _ = try await client.signUp("ada")
      #expect(try await client.send(.post, "/users", client.account("ada")).status == 409)
      #expect(try await client.send(.post, "/sessions", client.account("ada", password: "wrong horse")).status == 401)
      #expect(try await client.send(.post, "/sessions", client.account("ada")).status == 200)
      #expect(try await client.send(.post, "/users", client.account("eve", password: "abc")).status == 400)
      #expect(try await client.send(.post, "/users", "no JSON").status == 400)
    }
  }

  @Test(arguments: [nil, "", "forged", "a.b.c"]) func `a token that is none is refused`(token: String?) async throws {
    try await withClient { client in
      let read = try await client.send(.get, "/notes", token: token)
      let written = try await client.send(.post, "/notes", #"{"text": "tea"}"#, token: token)
      #expect(read.status == 401 && written.status == 401)
    }
  }

  @Test func `notes have limits, and other addresses nothing`() async throws {
    try await withClient { client in
      let ada = try await client.signUp("ada")
      let long = String(repeating: "a", count: 10_001)
      #expect(try await client.send(.post, "/notes", #"{"text": "\#(long)"}"#, token: ada).status == 400)
      #expect(try await client.send(.post, "/notes", #"{"text": ""}"#, token: ada).status == 400)
      #expect(try await client.send(.get, "/", token: ada).status == 404)
      #expect(try await client.send(.get, "/notes/1/2", token: ada).status == 404)
    }
  }
}

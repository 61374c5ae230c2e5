import VestaAuthBackend
public import VestaCore
import VestaFirestore
import VestaServiceInterop
public import VestaTransportInterop

/// Notes over HTTP: users are accounts of Auth, each note is a document below its user.
///
/// | request | with | answer |
/// | --- | --- | --- |
/// | `POST /users` | `{"email": …, "password": …}` | 201 and a token; 409 where the address is taken |
/// | `POST /sessions` | the same | 200 and a token; 401 |
/// | `GET /notes` | the token | 200 and the notes, oldest first |
/// | `POST /notes` | the token, `{"text": …}` | 201 and the note |
/// | `DELETE /notes/ID` | the token | 204; 404 |
public struct NotesService: HTTPHandler {
  private let accounts: any AuthBackend
  private let verifier: any CallerVerifier
  private let db: Firestore
  private let project: String?

  /// The service of an app, which is configured with `NotesService.libraries` and a store.
  public init(_ app: VestaApp) throws {
    accounts = try app.container.require((any AuthBackend).self)
    verifier = try app.container.require((any CallerVerifier).self)
    db = Firestore.firestore(app: app)
    project = app.options.projectID
  }

  /// Answers in a task: the event loop never waits.
  public func reply(to request: HTTPRequest) -> HTTPReply {
    .task {
      do throws(Refusal) {
        return try await answer(request)
      } catch {
        return .json(["error": error.message], error.status)
      }
    }
  }

  private func answer(_ request: HTTPRequest) async throws(Refusal) -> HTTPResponse {
    let path = request.path.split(separator: "/").map(String.init)
    switch (request.method, path.first, path.count) {
    case (.post, "users", 1): return .json(["token": try await signUp(try request.decoded())], 201)
    case (.post, "sessions", 1): return .json(["token": try await signIn(try request.decoded())])
    case (.get, "notes", 1): return .json(try await list(of: try await user(of: request)))
    case (.post, "notes", 1):
      let user = try await user(of: request)
      return .json(try await add(try request.decoded(), for: user), 201)
    case (.delete, "notes", 2):
      try await delete(path[1], of: try await user(of: request))
      return HTTPResponse(204)
    default: throw Refusal(404, "There is no such address.")
    }
  }

  // MARK: Users

  private func signUp(_ account: Account) async throws(Refusal) -> String {
    do {
      let request = SignUpRequest(email: account.email, password: account.password)
      return try await accounts.signUp(request, context: CallContext(caller: .nobody)).tokens.idToken
    } catch {
      throw Refusal(error)
    }
  }

  private func signIn(_ account: Account) async throws(Refusal) -> String {
    do {
      let request = PasswordSignInRequest(email: account.email, password: account.password)
      let response = try await accounts.signInWithPassword(request, context: CallContext(caller: .nobody))
      guard let tokens = response.outcome.tokens else { throw AuthServiceError(.invalidLoginCredentials) }
      return tokens.idToken
    } catch {
      throw Refusal(error as? AuthServiceError ?? AuthServiceError(.invalidLoginCredentials))
    }
  }

  /// The id of the user whose token a request has.
  private func user(of request: HTTPRequest) async throws(Refusal) -> String {
    guard let field = request.fields.first("authorization"), field.hasPrefix("Bearer ") else {
      throw Refusal(401, "Send the token of a session: Authorization: Bearer TOKEN.")
    }
    let token = String(field.dropFirst("Bearer ".count))
    do {
      if case .user(let user) = try await verifier.verify(.idToken(token), project: project).caller { return user.uid }
    } catch  where error.code != .unauthenticated {
      throw Refusal(503, "Tokens cannot be verified at present. Try again.")
    } catch {}
    throw Refusal(401, "This token is not valid, or has expired. Sign in again.")
  }

  // MARK: Notes

  private func notes(of user: String) -> CollectionReference { db.collection("users/\(user)/notes") }

  private func list(of user: String) async throws(Refusal) -> [Note] {
    do {
      let documents = try await notes(of: user).order(by: "written").limit(to: 100).getDocuments().documents
      return try documents.map { Note(id: $0.documentID, text: try $0.data(as: NoteDocument.self).text) }
    } catch {
      throw Refusal(unexpected: error)
    }
  }

  private func add(_ note: NewNote, for user: String) async throws(Refusal) -> Note {
    guard !note.text.isEmpty, note.text.utf8.count <= 10_000 else {
      throw Refusal(400, "A note has between 1 and 10,000 bytes.")
    }
    do {
      let document = try await notes(of: user).addDocument(encoding: NoteDocument(text: note.text))
      return Note(id: document.documentID, text: note.text)
    } catch {
      throw Refusal(unexpected: error)
    }
  }

  private func delete(_ id: String, of user: String) async throws(Refusal) {
    do {
      let note = notes(of: user).document(id)
      guard try await note.getDocument(source: .server).exists else { throw Refusal(404, "There is no such note.") }
      try await note.delete()
    } catch {
      throw error as? Refusal ?? Refusal(unexpected: error)
    }
  }
}

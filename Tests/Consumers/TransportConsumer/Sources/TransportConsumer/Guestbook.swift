import VestaTransport
import VestaTransportInterop

/// A guest book: POST writes, GET reads, and a WebSocket gets a greeting.
struct Guestbook: HTTPHandler {
  let entries: EntryList

  func reply(to request: HTTPRequest) -> HTTPReply {
    switch (request.method, request.target) {
    case (.post, "/entries"):
      .task {
        await entries.add(String(decoding: request.body.bytes ?? [], as: UTF8.self))
        return HTTPResponse(201)
      }
    case (.get, "/entries"):
      .task { HTTPResponse(fields: [.contentType: "text/plain"], body: .text(await entries.text)) }
    case (.get, "/live"):
      .webSocket(WebSocketService { socket in try await socket.send(.text("welcome")) })
    default: .response(HTTPResponse(.notFound))
    }
  }
}

actor EntryList {
  private var entries: [String] = []

  var text: String { entries.joined(separator: ",") }

  func add(_ entry: String) { entries.append(entry) }
}

enum GuestbookError: Error {
  case wrong(String)
}

/// Runs a guest book and uses it over sockets.
func useGuestbook() async throws {
  let server = try VestaTransportServer()
  let client = try VestaTransportClient()
  let listener = try await server.listen(
    at: .internet(host: "127.0.0.1", port: 0), handler: Guestbook(entries: EntryList()))
  let authority = listener.address.description

  for entry in ["ada", "grace"] {
    let request = HTTPRequest(.post, "/entries", authority: authority, body: .text(entry))
    let status = try await client.send(request, timeout: .seconds(10)).status
    guard status == 201 else { throw GuestbookError.wrong("the status is \(status)") }
  }
  let response = try await client.send(HTTPRequest(.get, "/entries", authority: authority), timeout: .seconds(10))
  let text = String(decoding: try await response.body.collect(upTo: 1_000), as: UTF8.self)
  guard text == "ada,grace" else { throw GuestbookError.wrong("the entries are \(text)") }

  let socket = try await client.openWebSocket(
    HTTPRequest(.get, "/live", authority: authority), subprotocols: [], timeout: .seconds(10))
  guard try await socket.messages.next() == .text("welcome") else { throw GuestbookError.wrong("no greeting") }
  let end = await socket.closed()
  guard end.code == .normal else { throw GuestbookError.wrong("the end is \(end)") }

  await listener.shutDown(within: .seconds(5))
  await client.close()
  await server.stop()
}

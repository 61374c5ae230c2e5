import Testing
import VestaBytes
import VestaDatabaseBackend
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaDatabaseEndpoints
@testable import VestaDatabaseService

/// Connections that are cut at each byte, and pieces of each size.
@Suite struct CutTests {
  private func request(
    _ method: HTTPMethod, _ target: String, _ body: String = "", _ fields: HTTPFields = [:]
  ) -> HTTPRequest {
    HTTPRequest(
      method, target, authority: "localhost", fields: fields, body: body.isEmpty ? .empty : .bytes(Array(body.utf8)))
  }

  @Test func `a write that is cut off is carried out whole or not at all`() async throws {
    let server = try await Endpoints()
    var (done, lost) = (0, 0)
    for offset in 0..<200 {
      let network = ScriptedNetwork(to: server.handler, seed: UInt64(offset)) { _ in
        offset % 2 == 0
          ? .init(fromClient: .init(largestPiece: 3, cutAfter: offset / 2))
          : .init(fromServer: .init(largestPiece: 3, cutAfter: offset / 2))
      }
      let body = #"{"a/\#(offset)":\#(offset),"b/\#(offset)":\#(offset)}"#
      let response = try? await network.send(request(.patch, "/.json?ns=demo", body), timeout: nil)
      let isAnswered = (try? await response?.body.collect(upTo: 1_000)) != nil && response?.status == .ok
      await server.engine.settle()
      let (a, b) = (
        try await server.send(.get, "/a/\(offset).json?ns=demo").text,
        try await server.send(.get, "/b/\(offset).json?ns=demo").text
      )
      #expect(a == b, "offset \(offset)")
      if isAnswered { #expect(a == "\(offset)", "offset \(offset)") }
      if a == "null" { lost += 1 } else { done += 1 }
      await network.close()
    }
    #expect(done > 0 && lost > 0)
  }

  @Test func `a stream that is cut off anywhere leaves no listen behind`() async throws {
    let server = try await Endpoints()
    _ = try await server.send(.put, "/a.json?ns=demo", #"{"b":"some text"}"#)
    for offset in 0..<250 {
      let network = ScriptedNetwork(to: server.handler, seed: UInt64(offset)) { _ in
        .init(fromServer: .init(largestPiece: 7, cutAfter: offset))
      }
      let fields: HTTPFields = ["accept": "text/event-stream"]
      if let response = try? await network.send(request(.get, "/a.json?ns=demo", "", fields), timeout: nil) {
        _ = try? await response.body.stream.next()
      }
      await network.close()
    }
    try await eventually { server.engine.watchCount(in: "demo") == 0 }
  }

  @Test(arguments: [1, 2, 3, 7]) func `events are the same in pieces of any size`(_ size: Int) async throws {
    let server = try await Endpoints()
    let network = ScriptedNetwork(to: server.handler, seed: UInt64(size)) { _ in
      .init(fromClient: .init(largestPiece: size), fromServer: .init(largestPiece: size))
    }
    let fields: HTTPFields = ["accept": "text/event-stream"]
    let response = try await network.send(request(.get, "/a.json?ns=demo", "", fields), timeout: nil)
    let events = EventReading(response)
    #expect(try await events.next() == #"put {"path":"/","data":null}"#)
    for number in 0..<5 {
      _ = try await server.send(.put, "/a/%C3%BC%F0%9F%98%80.json?ns=demo", "\"line\(number)\\n😀\"")
      let event = try JSONObject(json: Array((try await events.next() ?? "").utf8.dropFirst(4)))
      #expect(event["path"] == "/ü😀" && event["data"] == .string("line\(number)\n😀"))
    }
    await network.close()
  }
}

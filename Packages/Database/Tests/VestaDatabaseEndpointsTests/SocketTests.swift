import Testing
import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaDatabaseWire
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaDatabaseEndpoints
@testable import VestaDatabaseService

/// Connections by the protocol of the SDKs.
@Suite struct SocketTests {
  @Test func `a connection says who serves it, and answers each ping`() async throws {
    let server = try await Endpoints()
    let client = try await server.connect()
    let hello = try await client.next()
    #expect(hello["t"] == "h")
    #expect(hello["d"]?.object?["h"] == "localhost" && hello["d"]?.object?["v"] == "5")
    #expect(hello["d"]?.object?["s"]?.string?.isEmpty == false)
    for _ in 0..<3 {
      try await client.send(#"{"t":"c","d":{"t":"p","d":{}}}"#)
      #expect(try await client.frame() == #"{"t":"c","d":{"t":"o","d":{}}}"#)
    }
    // A keep-alive message is not answered.
    try await client.send("0")
    try await client.ask(1, "s", #"{"c":{"sdk.js.1":1}}"#)
    #expect(try await client.status(of: 1) == "ok")
  }

  @Test func `data precedes the reply to its write, and has the tag of its query`() async throws {
    let server = try await Endpoints()
    let client = try await server.connect()
    _ = try await client.next()
    try await client.ask(1, "q", #"{"p":"/rooms","h":""}"#)
    try await client.ask(2, "q", #"{"p":"/rooms","q":{"i":".key","l":1,"vf":"l"},"t":5,"h":""}"#)
    var replies = Set<Int64>()
    while replies.count < 2 {
      let message = try await client.next()
      if let id = message["r"]?.integer { replies.insert(id) }
    }
    try await client.ask(3, "p", #"{"p":"/rooms/hall","d":7}"#)
    var pushes: [JSONObject] = []
    while true {
      let message = try await client.next()
      if message["r"] == 3 { break }
      pushes.append(message)
    }
    #expect(pushes.count == 2 && pushes.allSatisfy { $0["a"] == "d" })
    #expect(Set(pushes.map { $0["b"]?.object?["t"]?.integer }) == [nil, 5])
    try await client.ask(4, "g", #"{"p":"/rooms","q":{}}"#)
    let got = try await client.next()["b"]?.object
    #expect(got?["s"] == "ok" && got?["d"]?.object?["hall"] == 7)
    try await client.ask(5, "p", #"{"p":"/rooms","d":1,"h":"wrong"}"#)
    #expect(try await client.status(of: 5) == "datastale")
    try await client.ask(6, "m", #"{"p":"/rooms","d":{"hall":8,"attic/size":1}}"#)
    while try await client.next()["r"] != 6 {}
    #expect(try await server.send(.get, "/rooms.json?ns=demo").text == #"{"attic":{"size":1},"hall":8}"#)
  }

  @Test func `requests after a sign-in are made in its name, also where they do not wait for it`() async throws {
    let guardian = ManualDatabaseGuard { $0.uid == "ada" }
    let server = try await Endpoints(guardian)
    let client = try await server.connect()
    _ = try await client.next()
    try await client.ask(1, "p", #"{"p":"/a","d":1}"#)
    #expect(try await client.status(of: 1) == "permission_denied")
    try await client.ask(2, "auth", #"{"cred":"ada"}"#)
    try await client.ask(3, "p", #"{"p":"/a","d":1}"#)
    let signedIn = try await client.next()
    #expect(signedIn["r"] == 2 && signedIn["b"]?.object?["s"] == "ok")
    #expect(signedIn["b"]?.object?["d"]?.object?["auth"]?.object?["uid"] == "ada")
    #expect(try await client.status(of: 3) == "ok")
    try await client.ask(4, "q", #"{"p":"/a","h":""}"#)
    while try await client.next()["r"] != 4 {}
    let query: JSONValue = ["sp": 1, "sin": true, "i": ".key"]
    try await client.ask(40, "q", #"{"p":"/b","h":"","t":1,"q":{"sp":1,"sin":true,"i":".key"}}"#)
    while try await client.next()["r"] != 40 {}
    guardian.change { _ in false }
    let revoked = [try await client.next(), try await client.next()]
    #expect(revoked.allSatisfy { $0["a"] == "c" })
    let bodies = revoked.compactMap { $0["b"]?.object }
    // Clients find a listen without a query by a revocation without one.
    #expect(bodies.contains { $0["p"] == "a" && $0["q"] == nil })
    #expect(bodies.contains { $0["p"] == "b" && $0["q"] == .array([query]) })
    try await client.ask(5, "gauth", #"{"cred":"owner"}"#)
    #expect(try await client.status(of: 5) == "ok")
    try await client.ask(6, "gauth", #"{"cred":"owner","authvar":{"uid":"bob"}}"#)
    #expect(try await client.status(of: 6) == "ok")
    try await client.ask(7, "p", #"{"p":"/a","d":1}"#)
    #expect(try await client.status(of: 7) == "permission_denied")
  }

  @Test(arguments: ["close", "cut", "cancel"])
  func `operations for the end are carried out once, whichever way it ends`(_ way: String) async throws {
    let server = try await Endpoints()
    let client = try await server.connect()
    _ = try await client.next()
    try await client.ask(1, "o", #"{"p":"/gone","d":{".sv":{"increment":1}}}"#)
    #expect(try await client.status(of: 1) == "ok")
    switch way {
    case "close": client.socket.close()
    case "cut": server.network.cut()
    default: client.socket.messages.cancel()
    }
    if way == "cancel" { client.socket.close() }
    try await eventually { try await server.send(.get, "/gone.json?ns=demo").text == "1" }
    await server.engine.settle()
    #expect(try await server.send(.get, "/gone.json?ns=demo").text == "1")
  }

  @Test func `a long message travels in pieces, both ways`() async throws {
    var tuning = DatabaseEndpointsTuning()
    tuning.wire.pieceUnits = 50
    let server = try await Endpoints(tuning: tuning)
    let client = try await server.connect()
    _ = try await client.whole()
    let value = String(repeating: "ü😀", count: 200)
    let put = #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":"\#(value)"}}}"#
    let scalars = Array(put.unicodeScalars)
    let pieces = stride(from: 0, to: scalars.count, by: 7).map { start in
      String(String.UnicodeScalarView(scalars[start..<min(start + 7, scalars.count)]))
    }
    try await client.send("\(pieces.count)")
    for piece in pieces { try await client.send(piece) }
    #expect(try await client.status(of: 1) == "ok")
    try await client.ask(2, "g", #"{"p":"/a","q":{}}"#)
    // A ping is not sent between the pieces of another message.
    try await client.send(#"{"t":"c","d":{"t":"p","d":{}}}"#)
    var messages: [String] = []
    while messages.count < 2 {
      let frame = try await client.frame() ?? ""
      messages.append(Int(frame) == nil ? frame : try await client.whole(frame))
    }
    #expect(messages.contains { $0.contains(value) } && messages.contains(#"{"t":"c","d":{"t":"o","d":{}}}"#))
  }

  @Test func `one wrong request is answered, and a text that is none ends the connection`() async throws {
    let server = try await Endpoints()
    let client = try await server.connect()
    _ = try await client.next()
    try await client.ask(1, "zzz", "{}")
    #expect(try await client.status(of: 1) == "invalid")
    try await client.ask(2, "p", #"{"p":"/a$","d":1}"#)
    #expect(try await client.status(of: 2) == "invalid")
    try await client.ask(
      3, "p", #"{"p":"/a","d":\#(String(repeating: "[", count: 100))1\#(String(repeating: "]", count: 100))}"#)
    #expect(try await client.status(of: 3) == "invalid")
    try await client.send("}{")
    #expect(try await client.frame() == nil)
    for text in ["[]", "{}", #"{"t":"x","d":{}}"#, #"{"t":"d","d":{}}"#, String(repeating: "{", count: 10_000)] {
      let next = try await server.connect()
      _ = try await next.next()
      try await next.send(text)
      #expect(try await next.frame() == nil)
    }
    await #expect(throws: TransportError.self) { _ = try await server.connect("v=4&ns=demo") }
    await #expect(throws: TransportError.self) { _ = try await server.connect("v=5&ns=a/b") }
  }

  @Test func `a client that asks without reading is held up, and loses nothing`() async throws {
    var tuning = DatabaseEndpointsTuning()
    tuning.requestLimit = 4
    let server = try await Endpoints(tuning: tuning)
    let client = try await server.connect()
    let sending = Task {
      for id in 1...500 { try await client.ask(id, "p", #"{"p":"/n/\#(id)","d":\#(id)}"#) }
    }
    _ = try await client.next()
    for id in 1...500 { #expect(try await client.status(of: id) == "ok") }
    try await sending.value
    let keys = try await server.send(.get, "/n.json?ns=demo&shallow=true")
    #expect(try JSONObject(json: keys.body).count == 500)
  }

  @Test func `a listener that never reads loses its connection, and others continue`() async throws {
    var tuning = DatabaseEndpointsTuning()
    tuning.backlog = 1 << 20
    let server = try await Endpoints(tuning: tuning)
    let idle = try await server.connect()
    try await idle.ask(1, "q", #"{"p":"/a","h":""}"#)
    let busy = try await server.connect()
    _ = try await busy.next()
    try await busy.ask(1, "q", #"{"p":"/a","h":""}"#)
    #expect(try await busy.status(of: 1) == "ok")
    let text = "\"" + String(repeating: "x", count: 50_000) + "\""
    for id in 2...60 {
      try await busy.ask(id, "p", #"{"p":"/a","d":\#(text)}"#)
      while try await busy.frame()?.contains(#""r":\#(id),"#) != true {}
    }
    try await eventually { server.engine.watchCount(in: "demo") == 1 }
  }
}

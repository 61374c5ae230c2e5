import Testing
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaDatabaseEndpoints
@testable import VestaDatabaseService

/// Listens as streams of events.
@Suite struct EventTests {
  @Test func `a stream begins with what is there, and follows it`() async throws {
    let server = try await Endpoints()
    let events = try await server.listen("/rooms.json?ns=demo")
    #expect(events.response.status.code == 200)
    #expect(events.response.fields[.contentType] == "text/event-stream; charset=utf-8")
    #expect(try await events.next() == #"put {"path":"/","data":null}"#)
    _ = try await server.send(.put, "/rooms/hall.json?ns=demo", #"{"size":1}"#)
    #expect(try await events.next() == #"put {"path":"/hall","data":{"size":1}}"#)
    _ = try await server.send(.patch, "/rooms/hall.json?ns=demo", #"{"size":2,"name":"Hall"}"#)
    #expect(try await events.next() == #"patch {"path":"/hall","data":{"name":"Hall","size":2}}"#)
    _ = try await server.send(.delete, "/.json?ns=demo")
    #expect(try await events.next() == #"put {"path":"/","data":null}"#)
    let query = try await server.listen("/rooms.json?ns=demo&orderBy=%22$key%22&limitToFirst=1")
    #expect(try await query.next() == #"put {"path":"/","data":null}"#)
    _ = try await server.send(.put, "/rooms/b.json?ns=demo", "1")
    #expect(try await query.next()?.contains(#""data":1"#) == true)
  }

  @Test func `a silent stream says that it is open`() async throws {
    let server = try await Endpoints()
    let events = try await server.listen("/a.json?ns=demo")
    #expect(try await events.next() == #"put {"path":"/","data":null}"#)
    for _ in 0..<3 {
      await server.clock.waitForTimers()
      server.clock.advance(by: .seconds(31))
      #expect(try await events.next() == "keep-alive null")
    }
  }

  @Test func `one who may not listen gets the status of the refusal`() async throws {
    let guardian = ManualDatabaseGuard { $0.uid == "ada" }
    let verifier = FakeCallerVerifier()
    let server = try await Endpoints(guardian, verifier: verifier)
    #expect(try await server.listen("/a.json?ns=demo").response.status.code == 401)
    #expect(try await server.listen("/a.json?ns=demo&auth=bad").response.status.code == 401)
    verifier.fail(ServiceStatus(.unavailable, "closed"))
    #expect(try await server.listen("/a.json?ns=demo&auth=bad").response.status.code == 503)
    let index = try await Endpoints().listen("/a.json?ns=demo&orderBy=%22x%22").response
    #expect(index.status.code == 400)
  }

  @Test func `rules that deny a listen end its stream`() async throws {
    let guardian = ManualDatabaseGuard { _ in true }
    let server = try await Endpoints(guardian)
    let events = try await server.listen("/a.json?ns=demo")
    #expect(try await events.next() == #"put {"path":"/","data":null}"#)
    guardian.change { _ in false }
    #expect(try await events.next() == "cancel null")
    #expect(try await events.next() == nil)
  }

  @Test func `a token that expires ends its stream`() async throws {
    let clock = ManualClock()
    let expiry = clock.now + 50_000_000
    let server = try await Endpoints(
      verifier: ReadingCallerVerifier { (token) async throws(ServiceStatus) in
        .user(VerifiedUser(uid: token, expiry: expiry))
      }, clock: clock)
    let events = try await server.listen("/a.json?ns=demo&auth=ada")
    #expect(try await events.next() == #"put {"path":"/","data":null}"#)
    await clock.waitForTimers(2)
    clock.advance(to: expiry + 1)
    var last = try await events.next()
    while last == "keep-alive null" { last = try await events.next() }
    #expect(last == #"auth_revoked "Auth token is expired.""#)
    #expect(try await events.next() == nil)
  }

  @Test func `a stream that is left leaves no listen behind`() async throws {
    let server = try await Endpoints()
    for _ in 0..<20 {
      let events = try await server.listen("/a.json?ns=demo")
      #expect(try await events.next() != nil)
      events.response.body.stream.cancel()
    }
    await server.engine.settle()
    try await eventually { server.engine.watchCount(in: "demo") == 0 }
  }

  @Test func `a server that shuts down ends its streams`() async throws {
    let server = try await Endpoints()
    let events = try await server.listen("/a.json?ns=demo")
    #expect(try await events.next() != nil)
    server.host.shutDown()
    #expect(try await events.next() == nil)
    await server.engine.settle()
    try await eventually { server.engine.watchCount(in: "demo") == 0 }
    let late = try await server.listen("/a.json?ns=demo")
    while try await late.next() != nil {}
  }

  @Test func `a client that never reads costs no more than its limit`() async throws {
    var tuning = DatabaseEndpointsTuning()
    tuning.backlog = 1 << 20
    let server = try await Endpoints(tuning: tuning)
    let events = try await server.listen("/a.json?ns=demo")
    let text = "\"" + String(repeating: "x", count: 100_000) + "\""
    for _ in 0..<40 { _ = try await server.send(.put, "/a.json?ns=demo", text) }
    await server.engine.settle()
    try await eventually { server.engine.watchCount(in: "demo") == 0 }
    await #expect(throws: (any Error).self) { while try await events.next() != nil {} }
  }
}

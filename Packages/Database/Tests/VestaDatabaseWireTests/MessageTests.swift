import Testing
import VestaBytes
import VestaDatabaseBackend
import VestaTesting

@testable import VestaDatabaseWire

@Suite struct MessageTests {
  private func written(_ request: DatabaseRequest, _ id: Int = 1) throws -> String {
    text(try DatabaseClientWire.bytes(of: .request(id, request)))
  }

  private func read(_ json: String) throws -> DatabaseClientMessage { try DatabaseClientWire.message(json: utf8(json)) }

  @Test func `requests have the bytes of the protocol`() throws {
    #expect(
      try written(.listen(DatabaseListen(path: "rooms"))) == #"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/rooms","h":""}}}"#
    )
    let spec = DatabaseQuerySpec(
      index: .child("age"), start: .init(DatabaseNode(.int(3)), key: "bob", isInclusive: false),
      limit: .init(2, .last))
    #expect(
      try written(.listen(DatabaseListen(path: "a/b", spec: spec, tag: 4, hash: "x")), 7)
        == ##"{"t":"d","d":{"r":7,"a":"q","b":{"p":"/a/b","q":{"sp":3,"sn":"bob","sin":false,"l":2,"vf":"r","i":"age"},"t":4,"h":"x"}}}"##
    )
    #expect(try written(.get("a", .all)) == #"{"t":"d","d":{"r":1,"a":"g","b":{"p":"/a","q":{}}}}"#)
    #expect(
      try written(.put("a", DatabaseNode(.int(1), priority: .string("p")), hash: "h"))
        == #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":{".value":1,".priority":"p"},"h":"h"}}}"#)
    #expect(
      try written(.merge("a", [DatabasePathValue("b/c", .empty), DatabasePathValue("d", DatabaseNode(.timestamp))]))
        == #"{"t":"d","d":{"r":1,"a":"m","b":{"p":"/a","d":{"b/c":null,"d":{".sv":"timestamp"}}}}}"#)
    #expect(try written(.onDisconnectCancel(.root)) == #"{"t":"d","d":{"r":1,"a":"oc","b":{"p":"/","d":null}}}"#)
    #expect(try written(.unappCheck) == #"{"t":"d","d":{"r":1,"a":"unappeck","b":{}}}"#)
    #expect(try written(.authenticate(token: "t")) == #"{"t":"d","d":{"r":1,"a":"auth","b":{"cred":"t"}}}"#)
    #expect(try DatabaseClientWire.bytes(of: .ping) == utf8(#"{"t":"c","d":{"t":"p","d":{}}}"#))
  }

  @Test func `frames of the service have the bytes of the protocol`() throws {
    func written(_ message: DatabaseServerMessage) throws -> String? {
      try DatabaseServerWire.bytes(of: message, host: "h:9000").map { text($0) }
    }
    #expect(
      try written(.hello(DatabaseHello(timestamp: 5, session: "s")))
        == #"{"t":"c","d":{"t":"h","d":{"ts":5,"v":"5","h":"h:9000","s":"s"}}}"#)
    #expect(
      try written(.data("a/b", DatabaseNode(.bool(true)), tag: 2))
        == #"{"t":"d","d":{"a":"d","b":{"p":"a/b","d":true,"t":2}}}"#)
    #expect(
      try written(.rangeMerge("a", [DatabaseRangeMerge(after: "b", through: nil, .empty)], tag: nil))
        == #"{"t":"d","d":{"a":"rm","b":{"p":"a","d":[{"s":"b","m":null}]}}}"#)
    #expect(
      try written(.listenRevoked("a", DatabaseQuerySpec(index: .key)))
        == #"{"t":"d","d":{"a":"c","b":{"p":"a","q":[{"i":".key"}]}}}"#)
    #expect(
      try written(.authRevoked(status: "expired_token", reason: "old"))
        == #"{"t":"d","d":{"a":"ac","b":{"s":"expired_token","d":"old"}}}"#)
    #expect(try written(.shutdown(reason: "banned")) == #"{"t":"c","d":{"t":"s","d":"banned"}}"#)
    #expect(try written(.closed(reason: "")) == nil)
    let reply = DatabaseReply(.ok, warnings: ["no_index"])
    #expect(
      text(DatabaseServerWire.bytes(of: reply, to: .listen, id: 3))
        == #"{"t":"d","d":{"r":3,"b":{"s":"ok","d":{"w":["no_index"]}}}}"#)
    #expect(
      text(DatabaseServerWire.bytes(of: DatabaseReply(.permissionDenied, message: "no"), to: .get, id: 3))
        == #"{"t":"d","d":{"r":3,"b":{"s":"permission_denied","d":"no"}}}"#)
  }

  @Test func `the credential of an owner and its overrides are read`() throws {
    #expect(
      try read(#"{"t":"d","d":{"r":1,"a":"gauth","b":{"cred":"owner"}}}"#)
        == .request(1, .authenticate(DatabaseCredential(token: "owner", isOwner: true))))
    #expect(
      try read(#"{"t":"d","d":{"r":1,"a":"auth","b":{"cred":"t","authvar":null,"noauth":true}}}"#)
        == .request(1, .authenticate(DatabaseCredential(token: "t", override: .nobody))))
    #expect(
      try read(#"{"t":"d","d":{"r":2,"a":"m","b":{"p":"/a","d":{"b":1},"h":"x"}}}"#)
        == .request(2, .merge("a", [DatabasePathValue("b", DatabaseNode(.int(1)))], hash: "x")))
  }

  @Test func `unknown members are ignored, and unknown frames of the service are nothing`() throws {
    #expect(
      try read(#"{"t":"d","x":1,"d":{"r":1,"a":"unauth","b":{"new":[]},"y":{}}}"#) == .request(1, .unauthenticate))
    #expect(try DatabaseServerWire.frame(json: utf8(#"{"t":"c","d":{"t":"zz","d":{}}}"#)) == nil)
    #expect(try DatabaseServerWire.frame(json: utf8(#"{"t":"d","d":{"a":"zz","b":{}}}"#)) == nil)
    #expect(try DatabaseServerWire.frame(json: utf8(#"{"t":"d","d":{"error":"x"}}"#)) == nil)
  }

  @Test func `a wrong request names its number, so that it can be answered`() {
    for body in [
      #""a":"p","b":{"p":"/a","d":{".value":1,"b":2}}"#, #""a":"zz","b":{}"#, #""a":"p","b":{"p":5}"#,
      #""a":"g","b":{"p":"/a","q":{"l":0}}"#, #""a":"q","b":{"p":"/a","q":{"sp":[]}}"#, #""b":{}"#,
      #""a":"q","b":{"p":"/a","ch":{"hs":["a"],"ps":["b"]}}"#, #""a":"p","b":{"p":"/","d":{".priority":[]}}"#,
    ] {
      let error = #expect(throws: DatabaseWireError.self) { _ = try read(#"{"t":"d","d":{"r":9,\#(body)}}"#) }
      #expect(error?.requestID == 9, "\(body)")
    }
    let error = #expect(throws: DatabaseWireError.self) { _ = try read(#"{"t":"d","d":{"a":"unauth"}}"#) }
    #expect(error?.requestID == nil)
    let failure = BytesError(.malformed, "a")
    #expect(DatabaseWireError(failure) == DatabaseWireError(failure))
    #expect(DatabaseWireError(failure) != DatabaseWireError(BytesError(.malformed, "b")))
    #expect(DatabaseWireError(failure, requestID: 1) != DatabaseWireError(failure, requestID: 2))
  }

  @Test func `a revocation without a query is that of everything`() throws {
    func specs(_ body: String) throws -> [DatabaseServerMessage]? {
      try DatabaseServerWire.frame(json: utf8(#"{"t":"d","d":{"a":"c","b":{"p":"a"\#(body)}}}"#))?.messages
    }
    #expect(try specs("") == [.listenRevoked("a", .all)])
    #expect(try specs(#","q":[]"#) == [.listenRevoked("a", .all)])
    let two = try specs(#","q":[{"i":".key"},{}]"#)
    #expect(two == [.listenRevoked("a", DatabaseQuerySpec(index: .key)), .listenRevoked("a", .all)])
  }

  @Test func `the reply to a sign-in has the variables of the rules and the end of the token`() throws {
    var reply = DatabaseReply.ok
    (reply.auth, reply.expires) = (["uid": "ada", "token": .object(["admin": true])], 1_700_000_000)
    for reply in [reply, .ok] {
      let bytes = DatabaseServerWire.bytes(of: reply, to: .signIn, id: 7)
      guard case .reply(7, let body)? = try DatabaseServerWire.frame(json: bytes) else {
        Issue.record("no reply was read")
        return
      }
      #expect(try body.reply(to: .signIn) == reply)
    }
    #expect(
      text(DatabaseServerWire.bytes(of: reply, to: .signIn, id: 7))
        == #"{"t":"d","d":{"r":7,"b":{"s":"ok","d":{"auth":{"uid":"ada","token":{"admin":true}},"expires":1700000000}}}}"#
    )
  }

  @Test func `replies are read by what was asked`() throws {
    func reply(_ body: String, _ kind: DatabaseReplyKind) throws -> DatabaseReply? {
      guard case .reply(4, let body)? = try DatabaseServerWire.frame(json: utf8(#"{"t":"d","d":{"r":4,"b":\#(body)}}"#))
      else { return nil }
      return try body.reply(to: kind)
    }
    #expect(try reply(#"{"s":"ok","d":{"w":["no_index"]}}"#, .listen) == DatabaseReply(.ok, warnings: ["no_index"]))
    #expect(
      try reply(#"{"s":"ok","d":{"w":["x"]}}"#, .get)?.node == NodeWire.node(json: utf8(#"{"w":{"0":"x"}}"#)))
    #expect(try reply(#"{"s":"ok","d":""}"#, .other) == .ok)
    #expect(try reply(#"{"s":"datastale","d":"Data is stale"}"#, .get)?.status == .dataStale)
    #expect(try reply(#"{"s":"new_one"}"#, .get) == DatabaseReply(DatabaseStatus(rawValue: "new_one")))
  }

  @Test func `random messages survive a round trip`() throws {
    var random = SplitMix(seed: 1)
    for round in 0..<20_000 {
      let message = random.clientMessage()
      let json = try DatabaseClientWire.bytes(of: message)
      #expect(try DatabaseClientWire.message(json: json) == message, "round \(round): \(text(json))")
      let frame = random.serverFrame()
      let answer = try DatabaseServerWire.bytes(of: frame)
      #expect(try DatabaseServerWire.frame(json: answer) == frame, "round \(round): \(text(answer))")
      let reply = DatabaseReply(.ok, node: random.wireNode())
      let bytes = DatabaseServerWire.bytes(of: reply, to: .get, id: round)
      guard case .reply(round, let body)? = try DatabaseServerWire.frame(json: bytes) else {
        Issue.record("round \(round): \(text(bytes)) is no reply")
        continue
      }
      #expect(try body.reply(to: .get) == reply)
    }
  }

  @Test func `hostile messages are a message or an error`() throws {
    var random = SplitMix(seed: 2)
    var refused = 0
    for round in 0..<20_000 {
      do {
        if round % 2 == 0 {
          let json = random.damaged(try DatabaseClientWire.bytes(of: random.clientMessage()))
          let message = try DatabaseClientWire.message(json: json)
          // A message that was read can be written and read again.
          #expect(try DatabaseClientWire.message(json: DatabaseClientWire.bytes(of: message)) == message)
        } else {
          let json = random.damaged(try DatabaseServerWire.bytes(of: random.serverFrame()))
          guard let frame = try DatabaseServerWire.frame(json: json) else { continue }
          #expect(try DatabaseServerWire.frame(json: DatabaseServerWire.bytes(of: frame)) == frame)
        }
      } catch is DatabaseWireError {
        refused += 1
      }
    }
    #expect(refused > 2_000 && refused < 19_000, "\(refused)")
  }

  @Test func `deep nesting and long messages are refused`() {
    let deep = #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/","d":"# + String(repeating: "[", count: 100_000)
    #expect(throws: DatabaseWireError.self) { _ = try DatabaseClientWire.message(json: utf8(deep)) }
    var tuning = DatabaseWireTuning()
    tuning.maximumMessageBytes = 20
    let error = #expect(throws: DatabaseWireError.self) {
      _ = try DatabaseClientWire.message(json: utf8(#"{"t":"c","d":{"t":"p","d":{}}}"#), tuning: tuning)
    }
    #expect(error?.failure.code == .limitExceeded)
  }
}

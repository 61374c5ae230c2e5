import Testing
import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaTesting

@testable import VestaDatabaseWire

@Suite struct RESTTests {
  private func call(_ target: String, _ method: String = "GET", _ fields: [String: String] = [:]) throws
    -> DatabaseRESTCall?
  { try DatabaseRESTWire.call(method: method, target: target) { fields[$0] } }

  private func failure(_ target: String) -> String? {
    do {
      _ = try call(target)
      return nil
    } catch {
      return (error as? BytesError)?.message
    }
  }

  @Test func `targets are read with their parameters`() throws {
    let read = try call(
      #"/users/a%20b/.json?ns=n&orderBy=%22age%22&startAt=3,"bob"&endBefore=7&limitToLast=2&print=pretty&timeout=3min"#)
    var expected = DatabaseRESTCall(.get, "users/a b", namespace: "n")
    expected.spec = DatabaseQuerySpec(
      index: .child("age"), start: .init(DatabaseNode(.int(3)), key: "bob"),
      end: .init(DatabaseNode(.int(7)), isInclusive: false), limit: .init(2, .last))
    expected.print = .pretty
    expected.timeout = 180_000
    #expect(read == expected)
    #expect(try call("/.json")?.path == .root)
    #expect(try call("/a") == nil)
    #expect(try call("/a.json", "POST", ["x-http-method-override": "PATCH"])?.action == .patch)
    #expect(try call("/a.json?x-http-method-override=PUT", "GET")?.action == .get)
    let fields = [
      "authorization": "Bearer owner", "accept": "text/event-stream", "if-match": "x", "x-firebase-etag": "true",
    ]
    let conditional = try call("/a.json?auth_variable_override=null", "GET", fields)
    #expect(conditional?.credential == .bearer("owner"))
    #expect(conditional?.wantsEvents == true && conditional?.ifMatch == "x" && conditional?.wantsETag == true)
    #expect(conditional?.authOverride == .some(.null))
    #expect(try call("/a.json?shallow=true&limitToFirst=1")?.spec.limit == .init(1, .first))
    #expect(try call("/a.json?equalTo=null&orderBy=%22$value%22")?.spec.start?.value.isEmpty == true)
  }

  @Test func `wrong parameters are refused with the sentence of the service`() {
    #expect(failure("/a.json?limitToFirst=1") == "orderBy must be defined when other query parameters are defined")
    for query in [
      "orderBy=age", "orderBy=%22%22", #"orderBy="$key"&startAt=3"#, #"orderBy="a"&startAt={}"#,
      #"orderBy="a"&limitToFirst=0"#, #"orderBy="a"&limitToFirst=1&limitToLast=1"#, #"orderBy="a"&equalTo=1&startAt=1"#,
      #"orderBy="a"&startAt=1&startAfter=1"#, #"orderBy="a"&startAt=1,2"#, "callback=alert(1)", "timeout=5h",
      "timeout=99999999999s", "print=loud", "auth_variable_override=[]", "writeSizeLimit=huge", "a=%zz",
    ] {
      #expect(failure("/a.json?\(query)") != nil, "\(query)")
    }
    #expect(failure("/a%2Fb.json") != nil)
  }

  @Test func `a script calls what has a name in ASCII, and nothing else`() throws {
    for name in ["jQuery19_0.take$", "a", "0", String(repeating: "n", count: 128)] {
      #expect(try call("/a.json?callback=\(name)")?.callback == name)
    }
    for name in ["a(1)", "a%20b", "%C3%A9", "%D0%9F", "a-b", String(repeating: "n", count: 129)] {
      #expect(failure("/a.json?callback=\(name)") != nil, "\(name)")
    }
  }

  @Test func `random calls survive a round trip`() throws {
    var random = SplitMix(seed: 4)
    for round in 0..<20_000 {
      var call = DatabaseRESTCall(random.pick(DatabaseRESTCall.Action.allCases), random.path(0...3), namespace: "n s")
      call.spec = random.spec()
      call.isExport = random.oneIn(2)
      call.print = random.pick([nil, .silent, .pretty])
      call.timeout = random.pick([nil, 20])
      call.writeSizeLimit = random.pick([nil, .unlimited])
      call.disablesTriggers = random.oneIn(2)
      call.credential = random.pick([nil, .auth("t+/="), .bearer("owner")])
      call.authOverride = random.pick([nil, .some(.null), .some(["uid": "é&"])])
      call.wantsETag = random.oneIn(2)
      call.ifMatch = random.pick([nil, "x"])
      call.ifNoneMatch = random.pick([nil, "y"])
      call.wantsEvents = call.action == .get && random.oneIn(2)
      let target = DatabaseRESTWire.target(of: call)
      let fields = DatabaseRESTWire.fields(of: call)
      let read = try DatabaseRESTWire.call(method: call.action.rawValue, target: target) { name in
        fields.first { $0.name == name }?.value
      }
      #expect(read == call, "round \(round): \(target)")
    }
  }

  @Test func `hostile targets are a call or an error`() {
    var random = SplitMix(seed: 5)
    var refused = 0
    let target = utf8(#"/a/b%20c/.json?orderBy="$key"&startAt="a"&limitToFirst=3&timeout=3s&auth_variable_override={}"#)
    for _ in 0..<20_000 {
      do {
        _ = try call(text(random.damaged(target)), random.pick(["GET", "POST", "PUT", "zz"]))
      } catch {
        refused += 1
      }
    }
    #expect(refused > 2_000 && refused < 19_800, "\(refused)")
  }

  @Test func `nodes have the forms of the API`() throws {
    let node = try NodeWire.node(
      json: utf8(#"{"a":{".value":1.0,".priority":2},"l":[true,null,"x"],"o":{"0":1,"9":2},".priority":"p"}"#))
    #expect(
      text(NodeWire.bytes(of: node))
        == #"{"a":{".value":1,".priority":2},"l":{"0":true,"2":"x"},"o":{"0":1,"9":2},".priority":"p"}"#)
    #expect(
      text(NodeWire.bytes(of: node, form: .plain)) == #"{"a":1,"l":[true,null,"x"],"o":{"0":1,"9":2}}"#)
    #expect(text(NodeWire.bytes(of: node, form: .shallow)) == #"{"a":true,"l":true,"o":true}"#)
    #expect(text(NodeWire.bytes(of: DatabaseNode(.int(4)), form: .shallow)) == "4")
    #expect(text(NodeWire.bytes(of: .empty, form: .shallow)) == "null")
    #expect(
      text(NodeWire.bytes(of: node, form: .plain, isPretty: true))
        == """
        {
          "a" : 1,
          "l" : [ true, null, "x" ],
          "o" : {
            "0" : 1,
            "9" : 2
          }
        }
        """)
    #expect(text(NodeWire.bytes(of: DatabaseNode(.double(-0.0)))) == "-0.0")
    // An object is an array where at least half of the places up to its largest index have a value.
    for (object, plain) in [
      (#"{"0":1}"#, "[1]"), (#"{"1":1}"#, "[null,1]"), (#"{"2":1}"#, #"{"2":1}"#), (#"{"0":1,"2":3}"#, "[1,null,3]"),
      (#"{"0":1,"4":3}"#, #"{"0":1,"4":3}"#), (#"{"0":1,"a":2}"#, #"{"0":1,"a":2}"#),
    ] {
      #expect(text(NodeWire.bytes(of: try NodeWire.node(json: utf8(object)), form: .plain)) == plain, "\(object)")
    }
  }

  @Test func `pretty JSON of random nodes has the same data`() throws {
    var random = SplitMix(seed: 6)
    for _ in 0..<2_000 {
      let node = random.wireNode()
      let pretty = NodeWire.bytes(of: node, isPretty: true)
      #expect(try NodeWire.node(json: pretty) == node, "\(text(pretty))")
      let plain = try JSONValue(json: NodeWire.bytes(of: node, form: .plain))
      #expect(try JSONValue(json: NodeWire.bytes(of: node, form: .plain, isPretty: true)) == plain)
    }
  }

  @Test func `answers and failures are statuses and bodies, and back`() throws {
    var call = DatabaseRESTCall(.put, "a")
    call.wantsETag = true
    let node = DatabaseNode(.int(1))
    let answer = DatabaseRESTWire.answer(node, to: call, hash: "h=")
    #expect(answer == DatabaseRESTAnswer(status: 200, body: utf8("1"), etag: "h="))
    #expect(try DatabaseRESTWire.reply(answer) == DatabaseReply(.ok, node: node))
    #expect(DatabaseRESTWire.answer(.empty, to: call, hash: "").etag == "null_etag")
    let stale = DatabaseRESTWire.answer(failure: DatabaseReply(.dataStale, node: node), to: call, hash: "h")
    #expect(stale == DatabaseRESTAnswer(status: 412, body: utf8("1"), etag: "h"))
    #expect(try DatabaseRESTWire.reply(stale) == DatabaseReply(.dataStale, node: node))
    let denied = DatabaseRESTWire.answer(failure: DatabaseReply(.permissionDenied, message: "x"), to: call)
    #expect(denied.status == 401 && text(denied.body) == #"{"error":"Permission denied"}"#)
    for status in [DatabaseStatus.permissionDenied, .invalid, .tooBig, .unavailable] {
      let failed = DatabaseRESTWire.answer(failure: DatabaseReply(status, message: "m"), to: call)
      #expect(try DatabaseRESTWire.reply(failed).status == status)
    }
    call.print = .silent
    #expect(DatabaseRESTWire.answer(node, to: call).status == 204)
    #expect(
      DatabaseRESTWire.appendedKey(DatabaseRESTWire.answer(appended: "k", to: DatabaseRESTCall(.post, "a"))) == "k")
    var script = DatabaseRESTCall(.get, "a")
    script.callback = "cb"
    let hostile = DatabaseNode(.string("</script>\u{2028}"))
    let body = text(DatabaseRESTWire.answer(hostile, to: script).body)
    #expect(body == #"/**/cb("\u003c/script>\u2028");"#)
  }

  @Test func `events have the names and the data of the API`() throws {
    let put = DatabaseStreamEvent(.data("a/b", DatabaseNode(.int(1)), tag: nil), at: "a")
    #expect(put == .put("b", DatabaseNode(.int(1))))
    #expect(put.map { text($0.data()) } == #"{"path":"/b","data":1}"#)
    #expect(DatabaseStreamEvent(.data("x", .empty, tag: nil), at: "a") == nil)
    #expect(DatabaseStreamEvent(.listenRevoked("a", .all), at: "a")?.name == "cancel")
    var random = SplitMix(seed: 7)
    for round in 0..<10_000 {
      let events: [DatabaseStreamEvent] = [
        .put(random.path(0...2), random.wireNode()), .patch(random.path(0...2), random.values()), .keepAlive, .cancel,
        .authRevoked(random.text()),
      ]
      let event = random.pick(events)
      let data = event.data(form: .export)
      #expect(!data.contains(10) && !data.contains(13))
      #expect(try DatabaseStreamEvent.event(name: event.name, data: data) == event, "round \(round)")
      _ = try? DatabaseStreamEvent.event(name: event.name, data: random.damaged(data))
    }
    #expect(try DatabaseStreamEvent.event(name: "other", data: []) == nil)
  }
}

import Testing
import VestaBytes
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaDatabaseEndpoints
@testable import VestaDatabaseService

/// The REST API as its callers see it: paths, parameters, statuses and sentences.
@Suite struct RESTTests {
  @Test func `what is put is read, patched, appended to and removed`() async throws {
    let server = try await Endpoints()
    let put = try await server.send(.put, "/rooms/hall.json?ns=demo", #"{"name":"Hall","size":40}"#)
    #expect(put.status == 200 && put.text == #"{"name":"Hall","size":40}"#)
    #expect(put.fields[.contentType] == "application/json; charset=utf-8")
    let patched = try await server.send(.patch, "/rooms.json?ns=demo", #"{"hall/size":41,"attic":{"size":2}}"#)
    #expect(patched.text == #"{"hall/size":41,"attic":{"size":2}}"#)
    #expect(try await server.send(.get, "/rooms/hall/size.json?ns=demo").text == "41")
    #expect(try await server.send(.get, "/rooms.json?ns=demo&shallow=true").text == #"{"attic":true,"hall":true}"#)
    let appended = try await server.send(.post, "/log.json?ns=demo", #""one""#)
    let key = try #require(try JSONObject(json: appended.body)["name"]?.string)
    #expect(key.utf8.count == 20)
    #expect(try await server.send(.get, "/log/\(key).json?ns=demo").text == #""one""#)
    #expect(try await server.send(.delete, "/log.json?ns=demo").text == "null")
    #expect(try await server.send(.get, "/log.json?ns=demo").text == "null")
    let silent = try await server.send(.put, "/a.json?ns=demo&print=silent", "1")
    #expect(silent.status == 204 && silent.body.isEmpty)
    let pretty = try await server.send(.get, "/rooms/attic.json?ns=demo&print=pretty")
    #expect(pretty.text == "{\n  \"size\" : 2\n}")
    let overridden = try await server.send(.post, "/a.json?ns=demo", "2", ["x-http-method-override": "PUT"])
    #expect(overridden.text == "2")
  }

  @Test(arguments: [HTTPMethod.get, .head])
  func `scripts that wait for the service find a page`(method: HTTPMethod) async throws {
    #expect(try await Endpoints().send(method, "/").status == 200)
  }

  @Test func `appended keys grow, however fast they are made`() async throws {
    let server = try await Endpoints()
    var keys: [String] = []
    for _ in 0..<50 {
      let body = try await server.send(.post, "/log.json?ns=demo", "1").body
      keys.append(try #require(try JSONObject(json: body)["name"]?.string))
    }
    #expect(keys == keys.sorted() && Set(keys).count == 50)
  }

  @Test func `values of the server are filled in, and the answer has them`() async throws {
    let server = try await Endpoints()
    server.clock.advance(by: .seconds(10))
    let now = server.clock.service.now() / 1_000
    #expect(try await server.send(.put, "/t.json?ns=demo", #"{".sv":"timestamp"}"#).text == "\(now)")
    let sent = #"{"n":{".sv":{"increment":3}},"deep/n":{".sv":{"increment":-1}}}"#
    #expect(try await server.send(.patch, "/c.json?ns=demo", sent).text == #"{"n":3,"deep/n":-1}"#)
    #expect(try await server.send(.patch, "/c.json?ns=demo", sent).text == #"{"n":6,"deep/n":-2}"#)
  }

  @Test func `a tag guards writes, and a write over other data answers what is there`() async throws {
    let server = try await Endpoints()
    let none = try await server.send(.get, "/n.json?ns=demo", "", ["x-firebase-etag": "true"])
    #expect(none.fields["etag"] == "null_etag")
    let made = try await server.send(
      .put, "/n.json?ns=demo", "1", ["if-match": "null_etag", "x-firebase-etag": "true"])
    let tag = try #require(made.fields["etag"])
    #expect(made.status == 200)
    let late = try await server.send(.put, "/n.json?ns=demo", "2", ["if-match": "null_etag"])
    #expect(late.status == 412 && late.text == "1" && late.fields["etag"] == tag)
    #expect(try await server.send(.get, "/n.json?ns=demo", "", ["if-none-match": tag]).status == 304)
    let changed = try await server.send(.get, "/n.json?ns=demo", "", ["if-none-match": "null_etag"])
    #expect(changed.text == "1" && changed.fields["etag"] == tag)
    #expect(try await server.send(.delete, "/n.json?ns=demo", "", ["if-match": tag]).status == 200)
    #expect(try await server.send(.delete, "/n.json?ns=demo", "", ["if-match": tag]).status == 412)
  }

  @Test func `queries need an order, and an index unless it is that of keys`() async throws {
    var indexes = DatabaseIndexes()
    indexes.add(path: "rooms", indexOn: "size")
    let server = try await Endpoints(indexes: indexes)
    _ = try await server.send(
      .put, "/rooms.json?ns=demo", #"{"a":{"size":3},"b":{"size":1},"c":{"size":2}}"#)
    await server.engine.settle()
    let small = try await server.send(.get, "/rooms.json?ns=demo&orderBy=%22size%22&limitToFirst=2")
    #expect(small.text == #"{"b":{"size":1},"c":{"size":2}}"#)
    let keys = try await server.send(.get, "/rooms.json?ns=demo&orderBy=%22$key%22&startAt=%22b%22")
    #expect(keys.text == #"{"b":{"size":1},"c":{"size":2}}"#)
    let none = try await server.send(.get, "/rooms.json?ns=demo&orderBy=%22name%22")
    #expect(none.status == 400)
    #expect(none.error == #"Index not defined, add ".indexOn": "name", for path "/rooms", to the rules"#)
    let order = try await server.send(.get, "/rooms.json?ns=demo&limitToFirst=1")
    #expect(order.status == 400)
    #expect(order.error == "orderBy must be defined when other query parameters are defined")
    let shallow = try await server.send(.get, "/rooms.json?ns=demo&shallow=true&limitToFirst=1")
    #expect(shallow.status == 200 && shallow.text == #"{"a":true}"#)
  }

  @Test func `what cannot be is refused with its reason`() async throws {
    let server = try await Endpoints()
    let depth = String(repeating: #"{"a":"#, count: 600) + "1" + String(repeating: "}", count: 600)
    for body in ["{", "nothing", "", #"{"a":1,"a":2}"#, depth, "[1,"] {
      let answer = try await server.send(.put, "/a.json?ns=demo", body)
      #expect(answer.status == 400 && answer.error?.hasPrefix("Invalid data; couldn't parse JSON") == true, "\(body)")
    }
    #expect(try await server.send(.patch, "/a.json?ns=demo", "7").status == 400)
    #expect(try await server.send(.patch, "/a.json?ns=demo", #"{"b":1,"b/c":2}"#).status == 400)
    #expect(try await server.send(.put, "/a.json?ns=demo", #"{"a$b":1}"#).status == 400)
    #expect(try await server.send(.put, "/a%2Fb.json?ns=demo", "1").status == 400)
    #expect(try await server.send(.get, "/a?ns=demo").status == 404)
    #expect(try await server.send(.get, "/a.json?ns=de%2Fmo").status == 400)
    #expect(try await server.send(.get, "/a.json?ns=demo&print=loud").status == 400)
    let deep = String(repeating: "/a", count: 33)
    #expect(try await server.send(.put, "\(deep).json?ns=demo", "1").status == 400)
    // Nothing of all that was written.
    #expect(try await server.send(.get, "/.json?ns=demo").text == "null")
  }

  @Test func `a body beyond the limit is refused, and a page can read it`() async throws {
    var tuning = DatabaseEndpointsTuning()
    tuning.bodyLimit = 10
    let server = try await Endpoints(tuning: tuning)
    let head = HTTPRequestHead(method: .put, target: "/a.json?ns=demo", fields: ["origin": "http://page"])
    #expect({ if case .collected(upTo: 10) = server.handler.bodyDelivery(for: head) { true } else { false } }())
    let refusal = server.handler.refusal(of: head, limit: 10)
    #expect(refusal.status.code == 413 && refusal.fields["access-control-allow-origin"] == "*")
  }

  @Test func `the credential of a call is the engine's to judge, wherever it stands`() async throws {
    let guardian = ManualDatabaseGuard { $0.uid == "ada" }
    let server = try await Endpoints(
      guardian,
      verifier: ReadingCallerVerifier { (token) async throws(ServiceStatus) in
        if token == "owner" { return .owner }
        if token == "bad" { throw .unauthenticated }
        return .user(VerifiedUser(uid: token))
      })
    let denied = try await server.send(.put, "/a.json?ns=demo", "1")
    #expect(denied.status == 401 && denied.error == "Permission denied")
    let bad = try await server.send(.put, "/a.json?ns=demo&auth=bad", "1")
    #expect(bad.status == 401 && bad.error == "Could not parse auth token.")
    #expect(try await server.send(.put, "/a.json?ns=demo&auth=ada", "1").status == 200)
    #expect(try await server.send(.get, "/a.json?ns=demo&access_token=owner").text == "1")
    #expect(try await server.send(.get, "/a.json?ns=demo", "", ["authorization": "Bearer owner"]).text == "1")
    #expect(try await server.send(.get, "/a.json?ns=demo&auth=bob").status == 401)
    // The owner acts as others, and without a user.
    let asAda = "&access_token=owner&auth_variable_override=%7B%22uid%22%3A%22ada%22%7D"
    #expect(try await server.send(.put, "/a.json?ns=demo\(asAda)", "2").text == "2")
    #expect(try await server.send(.get, "/a.json?ns=demo\(asAda)").text == "2")
    let asNobody = "&access_token=owner&auth_variable_override=null"
    #expect(try await server.send(.get, "/a.json?ns=demo\(asNobody)").status == 401)
    #expect(try await server.send(.get, "/a.json?ns=demo&auth=ada&auth_variable_override=null").status == 401)
  }

  @Test func `databases are apart, and a project has the databases of its names`() async throws {
    let server = try await Endpoints()
    _ = try await server.send(.put, "/a.json?ns=demo", "1")
    _ = try await server.send(.put, "/a.json?ns=demo-default-rtdb", "2")
    #expect(try await server.send(.get, "/a.json?ns=demo").text == "1")
    #expect(try await server.send(.get, "/a.json").text == "2")
    // The suite's host has the projects that it was given.
    #expect(try await server.send(.get, "/a.json?ns=other").status == 404)
    let production = try await Endpoints(isDevelopment: false)
    for name in ["demo", "demo-default-rtdb"] {
      #expect(try await production.send(.put, "/a.json?ns=\(name)", "3").text == "3")
    }
  }

  @Test func `in production a database is there when an owner has written to it`() async throws {
    let verifier = ReadingCallerVerifier { (token) async throws(ServiceStatus) in
      token == "owner" ? .owner : .user(VerifiedUser(uid: token))
    }
    let production = try await Endpoints(verifier: verifier, isDevelopment: false)
    for method in [HTTPMethod.get, .put] {
      let refused = try await production.send(method, "/a.json?ns=other", method == .put ? "1" : "")
      #expect(refused.status == 404 && refused.error?.contains("(other)") == true)
    }
    let client = try await production.connect("v=5&ns=other")
    #expect(try await client.next()["t"] == "s")
    #expect(try await production.send(.get, "/.lp?start=t&ser=1&cb=7&v=5&ns=other").status == 404)
    let owner: HTTPFields = [.authorization: "Bearer owner"]
    #expect(try await production.send(.get, "/a.json?ns=other", "", owner).text == "null")
    #expect(try await production.send(.put, "/a.json?ns=other", "1", owner).status == 200)
    #expect(try await production.send(.get, "/a.json?ns=other").text == "1")
    // Also when clients have removed everything.
    #expect(try await production.send(.delete, "/a.json?ns=other").status == 200)
    #expect(try await production.send(.put, "/a.json?ns=other", "2").text == "2")
    #expect(try await production.connect("v=5&ns=other").next()["t"] == "h")
    #expect(try await production.send(.put, "/a.json?ns=third", "1", [.authorization: "Bearer ada"]).status == 404)
  }

  @Test func `a page of another origin may call, and scripts and files are what was asked for`() async throws {
    let server = try await Endpoints()
    _ = try await server.send(.put, "/a.json?ns=demo", #"{"x":"</script>"}"#)
    let asked = try await server.send(
      .options, "/a.json?ns=demo", "", ["origin": "http://page", "access-control-request-method": "PUT"])
    #expect(asked.fields["access-control-allow-methods"]?.contains("PUT") == true)
    let script = try await server.send(.get, "/a.json?ns=demo&callback=take")
    #expect(script.fields[.contentType] == "application/javascript; charset=utf-8")
    #expect(script.text == #"/**/take({"x":"\u003c/script>"});"#)
    let file = try await server.send(.get, "/a.json?ns=demo&download=a%22%0Ab.json")
    #expect(file.fields["content-disposition"] == "attachment; filename=\"a__b.json\"")
  }
}

/// Priorities as paths of the REST API.
@Suite struct PriorityTests {
  @Test func `a merge answers the priorities that it has written`() async throws {
    let server = try await Endpoints(clock: ManualClock(at: 7_000_000))
    _ = try await server.send(.put, "/a.json?ns=demo", #"{"b":1,"c":2}"#)
    let below = try await server.send(.patch, "/a.json?ns=demo", #"{"b/.priority":5}"#)
    #expect(below.text == #"{"b/.priority":5}"#)
    #expect(try await server.send(.patch, "/a.json?ns=demo", #"{".priority":"x"}"#).text == #"{".priority":"x"}"#)
    let both = try await server.send(.patch, "/a.json?ns=demo", #"{".priority":3,"c":4}"#)
    #expect(both.text == #"{".priority":3,"c":4}"#)
    let time = try await server.send(.patch, "/a.json?ns=demo", #"{"c/.priority":{".sv":"timestamp"}}"#)
    #expect(time.text == #"{"c/.priority":7000}"#)
    #expect(try await server.send(.patch, "/a.json?ns=demo", #"{"b/.priority":null}"#).text == #"{"b/.priority":null}"#)
    let stored = try await server.send(.get, "/a.json?ns=demo&format=export")
    #expect(stored.text == #"{"b":1,"c":{".value":4,".priority":7000},".priority":3}"#)
  }

  @Test func `a priority is read by its path, as its node may be`() async throws {
    // Rules have no path of a priority.
    let guardian = ManualDatabaseGuard { question in
      guard case .read(let read) = question.subject else { return true }
      return read.path.back?.isPriority != true && read.path != "secret"
    }
    let server = try await Endpoints(guardian)
    #expect(try await server.send(.get, "/secret/.priority.json?ns=demo").status == 401)
    _ = try await server.send(.put, "/a.json?ns=demo", #"{"b":1,".priority":5}"#)
    #expect(try await server.send(.get, "/a/.priority.json?ns=demo").text == "5")
    #expect(try await server.send(.get, "/a/.priority.json?ns=demo&shallow=true").text == "5")
    #expect(try await server.send(.get, "/a/b/.priority.json?ns=demo").text == "null")
    #expect(try await server.send(.get, "/none/.priority.json?ns=demo").text == "null")
    #expect(try await server.send(.get, "/a/.priority/b.json?ns=demo").status == 400)
    #expect(try await server.send(.get, "/a/.value.json?ns=demo").status == 400)
    #expect(try await server.send(.get, "/a/.priority.json?ns=demo&orderBy=%22$key%22").status == 400)
  }
}

/// The calls of the administration.
@Suite struct AdministrationCallTests {
  @Test func `the outcomes of rules are reported in development`() async throws {
    let (rules, target) = (FakeRulesAdministration(), "/.inspect/coverage.json?ns=demo")
    let server = try await Endpoints(rules: rules)
    server.host.add((any RulesAdministration).self, rules)
    #expect(try await server.send(.get, target).status == 404)
    _ = try await rules.replaceRules(with: "{}", of: .database)
    #expect(try await server.send(.get, target).text == "database json 2")
    let page = try await server.send(.get, "/.inspect/coverage?ns=demo")
    #expect(page.text == "database page 2" && page.fields[.contentType] == "text/html; charset=utf-8")
    #expect(try await Endpoints(isDevelopment: false, rules: rules).send(.get, target).status == 501)
  }

  @Test func `owners set rules and see the databases, and their indexes are in force`() async throws {
    let server = try await Endpoints(rules: FakeRulesAdministration())
    let owner: HTTPFields = ["authorization": "Bearer owner"]
    let rules = #"{"rules":{"rooms":{".indexOn":"size"}}}"#
    let path = "/.settings/rules.json?ns=demo"
    #expect(try await server.send(.put, path, rules).status == 401)
    #expect(try await server.send(.get, path).status == 401)
    #expect(try await server.send(.put, path, rules, ["authorization": "Bearer ada"]).status == 401)
    #expect(try await server.send(.get, path, "", owner).text == "null")
    let set = try await server.send(.put, path, rules, owner)
    #expect(set.status == 200 && set.text == #"{"status":"ok"}"#)
    #expect(try await server.send(.get, path, "", owner).text == rules)
    let checked = try await server.send(.put, "\(path)&dryRun=true", "other", owner)
    #expect(checked.status == 200 && checked.text == #"{"status":"ok"}"#)
    #expect(try await server.send(.put, "\(path)&dryRun=true", "", owner).error == "1:2: Parse error.")
    #expect(try await server.send(.get, path, "", owner).text == rules)
    let wrong = try await server.send(.put, path, "", owner)
    #expect(wrong.status == 400 && wrong.error == "1:2: Parse error.")
    _ = try await server.send(.put, "/rooms.json?ns=demo", #"{"a":{"size":2},"b":{"size":1}}"#)
    let query = try await server.send(.get, "/rooms.json?ns=demo&orderBy=%22size%22&limitToFirst=1")
    #expect(query.text == #"{"b":{"size":1}}"#)
    let list = try await server.send(.get, "/.inspect/databases.json?ns=demo", "", owner)
    #expect(list.text == #"[{"name":"demo"}]"#)
    #expect(try await server.send(.put, "/.settings/other.json?ns=demo", "1", owner).status == 501)
  }

  @Test(arguments: [
    #"{"rules":{"rooms":{".indexOn":"size",},},}"#,
    #"{"rules":{"rooms":{".indexOn":"other"},"rooms":{".indexOn":"size"}}}"#,
    #"{"rules":{"rooms":{".indexOn":["other"],".indexOn":["size"]}}}"#,
    "{\"rules\":{// a room\n\"rooms\":{\".read\":\"true\n|| false\",\"\\ud800\":{}, \".indexOn\":\"size\"/**/}}}",
  ])
  func `indexes are in force of all rules that compile`(_ rules: String) async throws {
    let server = try await Endpoints(rules: FakeRulesAdministration())
    let owner: HTTPFields = ["authorization": "Bearer owner"]
    _ = try await server.send(.put, "/rooms.json?ns=demo", #"{"a":{"size":2},"b":{"size":1}}"#)
    #expect(try await server.send(.put, "/.settings/rules.json?ns=demo", rules, owner).status == 200)
    let query = try await server.send(.get, "/rooms.json?ns=demo&orderBy=%22size%22&limitToFirst=1")
    #expect(query.text == #"{"b":{"size":1}}"#)
    // Of a name that occurs twice the last value counts, as for the decisions.
    #expect(try await server.send(.get, "/rooms.json?ns=demo&orderBy=%22other%22").status == 400)
  }

  @Test func `rules are plain JSON where the format is strict`() async throws {
    let server = try await Endpoints(rules: FakeRulesAdministration())
    let owner: HTTPFields = ["authorization": "Bearer owner"]
    let (path, strict) = ("/.settings/rules.json?ns=demo", "/.settings/rules.json?ns=demo&format=strict")
    #expect(try await server.send(.get, strict, "", owner).text == "null")
    let rules = "{/* all */\"rules\": {\n  \".read\": \"auth\n!= null\", // by users\n \".write\": false,}}"
    _ = try await server.send(.put, path, rules, owner)
    let answer = try await server.send(.get, strict, "", owner)
    #expect(answer.text == #"{"rules":{".read":"auth\u000a!= null",".write":false}}"#)
    #expect(try await server.send(.get, path, "", owner).text == rules)
  }

  @Test func `settings have the values that the server acts by`() async throws {
    let server = try await Endpoints()
    let owner: HTTPFields = ["authorization": "Bearer owner"]
    let limit = "/.settings/defaultWriteSizeLimit.json?ns=demo"
    let strict = "/.settings/strictTriggerValidation.json?ns=demo"
    #expect(try await server.send(.get, limit).status == 401)
    #expect(try await server.send(.put, limit, #""unlimited""#).status == 401)
    #expect(try await server.send(.get, limit, "", owner).text == #""unlimited""#)
    #expect(try await server.send(.get, strict, "", owner).text == "false")
    #expect(try await server.send(.put, limit, #""unlimited""#, owner).text == #"{"status":"ok"}"#)
    #expect(try await server.send(.put, strict, "false", owner).status == 200)
    #expect(try await server.send(.put, limit, #""small""#, owner).status == 501)
    #expect(try await server.send(.put, strict, "true", owner).status == 501)
    #expect(try await server.send(.put, limit, #""huge""#, owner).status == 400)
    #expect(try await server.send(.put, strict, #""false""#, owner).status == 400)
    #expect(try await server.send(.post, limit, #""unlimited""#, owner).status == 501)
  }
}

import Testing
import VestaBytes
import VestaFunctionsBackend
import VestaServiceInterop
import VestaTesting

@testable import VestaFunctionsWire

private func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }

private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

extension SplitMix {
  fileprivate mutating func value(_ depth: Int = 3) -> JSONValue {
    switch below(depth > 0 ? 8 : 6) {
    case 0: return .null
    case 1: return .bool(oneIn(2))
    case 2: return .integer(pick([0, -1, .max, .min]))
    case 3: return .number(pick([1.5, -0.25, 1e300]))
    case 4: return .string(pick(["", "é", "\u{1F600}", "\"\\/\n", "data: x", "\u{0}"]))
    case 5:
      return ["@type": "type.googleapis.com/google.protobuf.Int64Value", "value": .string("\(Int64.max)")]
    case 6: return .array((0..<below(3)).map { _ in value(depth - 1) })
    default: return ["error": value(depth - 1), "é": value(depth - 1)]
    }
  }

  fileprivate mutating func failure() -> FunctionsServiceError {
    FunctionsServiceError(pick(ServiceCode.allCases), pick(["m", "é\n"]), details: oneIn(2) ? nil : value())
  }

  fileprivate mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0...below(3) where !bytes.isEmpty {
      let index = below(bytes.count)
      switch below(3) {
      case 0: bytes[index] = UInt8(below(256))
      case 1: bytes.remove(at: index)
      default: bytes.insert(contentsOf: pick([utf8("{"), utf8("null"), utf8("\"error\":1,"), utf8("[[[[")]), at: index)
      }
    }
    return bytes
  }
}

@Suite struct CallableWireTests {
  private let json = "application/json; charset=utf-8"

  private func failure(_ body: () throws -> Void) -> FunctionsServiceError? {
    do {
      try body()
      return nil
    } catch {
      return error as? FunctionsServiceError
    }
  }

  @Test func `bodies have the bytes of the protocol`() throws {
    #expect(text(try CallableWire.body(ofData: .null)) == #"{"data":null}"#)
    #expect(text(try CallableWire.body(ofResult: [1, "a"])) == #"{"result":[1,"a"]}"#)
    #expect(text(try CallableWire.bytes(of: .message(["a": 1]))) == "data: {\"message\":{\"a\":1}}\n\n")
    #expect(text(try CallableWire.bytes(of: .result(.null))) == "data: {\"result\":null}\n\n")
    let error = CallableWire.response(of: FunctionsServiceError(.notFound, "no", details: ["x": 1]))
    #expect(error.status == 404)
    #expect(text(error.body) == #"{"error":{"message":"no","status":"NOT_FOUND","details":{"x":1}}}"#)
    #expect(
      text(CallableWire.bytes(of: FunctionsServiceError(.internal, "INTERNAL")))
        == "data: {\"error\":{\"message\":\"INTERNAL\",\"status\":\"INTERNAL\"}}\n\n")
    let infinite = CallableWire.response(of: FunctionsServiceError(.aborted, "m", details: .number(.infinity)))
    #expect(text(infinite.body) == #"{"error":{"message":"m","status":"ABORTED"}}"#)
  }

  @Test func `a call has data and nothing else, as JSON`() throws {
    #expect(try CallableWire.data(body: utf8(#"{"data":{"a":1}}"#), contentType: json) == ["a": 1])
    #expect(try CallableWire.data(body: utf8(#"{"data":null}"#), contentType: "application/json") == .null)
    for (body, type) in [
      (#"{}"#, json), (#"{"data":1,"x":2}"#, json), ("[]", json), ("", json), (#"{"data":1}"#, "text/plain"),
      (#"{"data":1}"#, nil),
    ] {
      #expect(failure { _ = try CallableWire.data(body: utf8(body), contentType: type) }?.code == .invalidArgument)
    }
  }

  @Test func `results and failures of responses are what clients make of them`() throws {
    func result(_ status: Int, _ body: String) throws -> JSONValue {
      try CallableWire.result(status: status, body: utf8(body))
    }
    #expect(try result(200, #"{"result":1}"#) == 1)
    #expect(try result(200, #"{"data":2}"#) == 2)
    #expect(failure { _ = try result(200, "{}") }?.code == .internal)
    #expect(failure { _ = try result(200, "<html>") }?.code == .internal)
    #expect(failure { _ = try result(200, #"{"error":{"status":"ABORTED"},"result":1}"#) }?.code == .aborted)
    #expect(failure { _ = try result(503, "<html>") }?.code == .unavailable)
    #expect(failure { _ = try result(409, "{}") }?.code == .alreadyExists)
    let unknown = failure { _ = try result(400, #"{"error":{"status":"NEW","message":"m","details":1}}"#) }
    #expect(unknown == FunctionsServiceError(.internal, "INTERNAL"))
    #expect(failure { _ = try result(404, #"{"error":"x"}"#) }?.code == .notFound)
  }

  @Test func `headers survive a round trip, and a stream is asked for by that type alone`() {
    let headers = CallableHeaders(bearerToken: "t", instanceIDToken: "i", appCheckToken: "a", wantsStream: true)
    for value in [headers, CallableHeaders()] {
      let fields = Dictionary(uniqueKeysWithValues: value.fields.map { ($0.name, $0.value) })
      #expect(CallableHeaders { fields[$0] } == value)
      #expect(fields["content-type"] == "application/json")
    }
    #expect(!CallableHeaders { $0 == "accept" ? "text/event-stream, */*" : nil }.wantsStream)
    #expect(CallableHeaders { $0 == "authorization" ? "Basic x" : nil }.bearerToken == nil)
  }

  @Test func `paths name project, region and function`() {
    let path = CallablePath(project: "p", region: "us-central1", name: "a é")
    #expect(CallablePath(target: path.target) == path)
    #expect(CallablePath(target: "/p/r/a%2F%CC%81") == nil)
    #expect(CallablePath(target: "/p/r/n?x=1") == CallablePath(project: "p", region: "r", name: "n"))
    #expect(path.url == "https://us-central1-p.cloudfunctions.net/a%20%C3%A9")
    for target in ["", "/", "/p/r", "/p//n", "/p/r/n/x", "p/r/n", "/p/r/%2F", "/p/r/%zz"] {
      #expect(CallablePath(target: target) == nil)
    }
  }

  @Test func `random values, events and failures survive a round trip`() throws {
    var random = SplitMix(seed: 1)
    for round in 0..<20_000 {
      let value = random.value()
      let data = try CallableWire.data(body: CallableWire.body(ofData: value), contentType: json)
      let result = try CallableWire.result(status: 200, body: CallableWire.body(ofResult: value))
      if data != value || result != value { Issue.record("round \(round): \(value)"); return }
      let event: FunctionEvent = random.oneIn(2) ? .message(value) : .result(value)
      let bytes = try CallableWire.bytes(of: event)
      if try CallableWire.event(data: Array(bytes.dropFirst(6).dropLast(2))) != event {
        Issue.record("round \(round): \(text(bytes))"); return
      }
      let error = random.failure()
      let response = CallableWire.response(of: error)
      let read = failure { _ = try CallableWire.result(status: response.status, body: response.body) }
      if read != error { Issue.record("round \(round): \(text(response.body))"); return }
    }
  }

  @Test func `hostile bodies and events are a value or a failure`() throws {
    var random = SplitMix(seed: 2)
    var refused = 0
    for round in 0..<20_000 {
      let value = random.value()
      do throws(FunctionsServiceError) {
        switch round % 3 {
        case 0:
          let body = random.damaged((try? CallableWire.body(ofData: value)) ?? [])
          _ = try CallableWire.data(body: body, contentType: json)
        case 1:
          let body = random.damaged((try? CallableWire.body(ofResult: value)) ?? [])
          _ = try CallableWire.result(status: 200, body: body)
        default:
          let body = random.damaged(CallableWire.response(of: random.failure()).body)
          _ = try CallableWire.event(data: body)
        }
      } catch {
        refused += 1
      }
    }
    #expect(refused > 6_000, "\(refused)")
    let deep = utf8("{\"data\":" + String(repeating: "[", count: 1_000_000))
    #expect(failure { _ = try CallableWire.data(body: deep, contentType: json) } != nil)
    let small = JSONLimits(maximumSize: 8)
    #expect(failure { _ = try CallableWire.data(body: utf8(#"{"data":1}"#), contentType: json, limits: small) } != nil)
  }
}

@Suite struct FunctionRequestPathTests {
  private func path(_ target: String, _ authority: String = "localhost:5001") -> FunctionRequestPath? {
    FunctionRequestPath(target: target, authority: authority)
  }

  @Test func `a request names its function by its path, or by its host and its path`() {
    let greet = CallablePath(project: "demo", region: "us-central1", name: "greet")
    for (rest, kept) in [("", ""), ("/", "/"), ("?a=/b", "?a=/b"), ("/x%20y/z?a", "/x%20y/z?a")] {
      let here = path("/demo/us-central1/greet\(rest)")
      let there = path("/greet\(rest)", "US-central1-demo.cloudfunctions.net:443")
      #expect(here?.function == greet && here?.rest == kept, "\(rest)")
      #expect(there?.function == greet && there?.rest == kept, "\(rest)")
    }
    #expect(path("/f", "europe-west1-my-own-project.cloudfunctions.net")?.function.project == "my-own-project")
  }

  @Test func `what names no function is no path`() {
    for target in ["", "/", "/a", "/a/b", "/a/b/", "a/b/c", "//b/c", "/a//c", "/a/b?/c", "/a%2Fb/c/d", "*"] {
      #expect(path(target) == nil, "\(target)")
    }
    #expect(path("/greet", "demo.cloudfunctions.net") == nil)
    #expect(path("/", "us-central1-demo.cloudfunctions.net") == nil)
  }

  @Test func `a region has letters, a hyphen, and letters with a digit at the end`() {
    for region in ["us-central1", "europe-west12", "a-b0", "z-9a9", "us-z1"] {
      #expect(FunctionRequestPath.isRegion(region), "\(region)")
    }
    for text in [
      "", "-", "us", "us-", "-central1", "us-central", "us-1", "us-c", "US-central1", "us-Central1", "us1-central1",
      "us--central1", "-us-central1", "us-central1-", "us-central1-a", "u{-central1", "u`-central1", "us-c{1", "us-c`1",
      "us-c/1", "us-c:1", "us-c:", "us-c/", "é-central1",
    ] {
      #expect(!FunctionRequestPath.isRegion(text), "\(text)")
    }
    for host in [
      "us--demo", "us--central1-demo", "-us-central1-demo", "us-central1-", "-central1-demo", "us-central-demo",
    ] {
      #expect(path("/greet", host + ".cloudfunctions.net") == nil, "\(host)")
    }
  }

  @Test func `damaged targets and hosts are read or refused`() {
    var random = SplitMix(seed: 7)
    let parts = ["/", "a", "%", "%2", "%2F", "?", "us-central1", "-", ".cloudfunctions.net", "é", "\u{0}", ":443"]
    for _ in 0..<20_000 {
      let target = (0..<random.below(9)).map { _ in random.pick(parts) }.joined()
      let authority = (0..<random.below(5)).map { _ in random.pick(parts) }.joined()
      guard let path = path(target, authority) else { continue }
      #expect(target.hasSuffix(path.rest) && !path.function.name.isEmpty)
    }
  }
}

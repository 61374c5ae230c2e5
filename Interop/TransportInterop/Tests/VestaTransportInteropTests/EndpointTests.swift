import Testing
import VestaConcurrency
import VestaServiceInterop
import VestaTransportInterop
import VestaTransportInteropFakes

struct EndpointTests {
  private let clock = ServiceClock(now: { 1_000_000 }, schedule: { _, _ in ListenerRegistration {} })

  private func context(
    _ fields: HTTPFields, target: String = "/v1/x", peer: TransportPeer? = nil
  ) -> CallContext {
    let request = HTTPRequest(.get, target, authority: "h", fields: fields, peer: peer)
    return CallContext(request, project: "demo", clock: clock)
  }

  @Test(arguments: ["Bearer", "bearer", "Firebase"])
  func `a token becomes a credential that is not verified, never a user or an owner`(scheme: String) {
    #expect(context([.authorization: "\(scheme) owner"]).caller == .credential(.bearer("owner")))
    #expect(context([.authorization: "\(scheme)   a.b.c"]).caller == .credential(.bearer("a.b.c")))
  }

  @Test func `a call without a token, or with another scheme, has no caller`() {
    #expect(context([:]).caller == .nobody)
    for value in ["Basic YTpi", "key=abc", "AidLogin 1:2", "owner", ""] {
      #expect(context([.authorization: value]).caller == .nobody)
    }
  }

  @Test func `two tokens are one credential that is neither of them`() {
    var fields: HTTPFields = [.authorization: "Bearer owner"]
    fields.append(.authorization, "Bearer other")
    #expect(context(fields).caller == .credential(.bearer("owner, Bearer other")))
    #expect(context([.authorization: "Bearer "]).caller == .nobody)
  }

  @Test func `App Check, key, locale, request and address are taken unchanged`() {
    let peer = TransportPeer(
      address: .internet(host: "10.0.0.7", port: 5), localAddress: .internet(host: "10.0.0.1", port: 80))
    let fields: HTTPFields = [
      "X-Firebase-AppCheck": "token", "x-goog-api-key": "k", "X-Firebase-Locale": "de", "x-request-id": "r-1",
      "x-forwarded-for": "1.2.3.4",
    ]
    let context = context(fields, target: "/v1/x?a=b&key=other", peer: peer)
    #expect(context.project == "demo")
    #expect(context.appCheck == .token("token"))
    #expect(context.apiKey == "k")
    #expect(context.locale == "de")
    #expect(context.requestID == "r-1")
    #expect(context.clientAddress == "10.0.0.7")
    #expect(context.deadline == nil)
  }

  @Test func `a key is read from the query where no field has one`() {
    #expect(context([:], target: "/v1/x?a=b&key=a%20b").apiKey == "a b")
    #expect(context([:], target: "/v1/x?a=%zz&key=a").apiKey == nil)
    #expect(context([:]).apiKey == nil)
  }

  @Test func `a deadline is counted from now, and what is none is left out`() {
    #expect(context(["grpc-timeout": "2S"]).deadline == 3_000_000)
    #expect(context(["x-server-timeout": "0.5"]).deadline == 1_500_000)
    for fields: HTTPFields in [
      ["grpc-timeout": "x"], ["grpc-timeout": "99999999H"], ["x-server-timeout": "-1"], ["x-server-timeout": "nan"],
      ["x-server-timeout": "1e300"],
    ] {
      let deadline = context(fields).deadline
      #expect(deadline == nil || deadline ?? 0 > 1_000_000_000)
    }
  }

  @Test func `a trace is read, and what is malformed is left out`() {
    let trace = String(repeating: "a", count: 31) + "1"
    let span = String(repeating: "0", count: 15) + "2"
    let expected = TraceContext(traceID: trace, spanID: span, isSampled: true)
    #expect(context(["traceparent": "00-\(trace)-\(span)-01"]).trace == expected)
    #expect(context(["traceparent": "01-\(trace)-\(span)-01-more"]).trace == expected)
    let zero = String(repeating: "0", count: 32)
    for text in [
      "", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-01-more", "ff-\(trace)-\(span)-01",
      "00-\(trace.uppercased())-\(span)-01", "00-\(zero)-\(span)-01", "00-\(trace)-\(span)-0x",
      // The neighbours of the digits and of the letters.
      "00-\(trace.dropLast()):-\(span)-01", "00-\(trace.dropLast())/-\(span)-01", "00-\(trace.dropLast())g-\(span)-01",
    ] {
      #expect(context(["traceparent": text]).trace == nil)
    }
  }

  @Test func `identifiers of requests that could break a log are left out`() {
    for id in ["a b", "é", String(repeating: "a", count: 129), ""] {
      #expect(context(["x-request-id": id]).requestID == nil)
    }
    let longest = String(repeating: "a", count: 128)
    #expect(context(["x-request-id": longest]).requestID == longest)
  }

  @Test func `a call of gRPC keeps the deadline that its handler counts`() {
    let call = GRPCContext(path: "/p.S/M", metadata: [.authorization: "Bearer owner"], deadline: 7)
    let context = CallContext(call, project: "demo")
    #expect(context.deadline == 7)
    #expect(context.caller == .credential(.bearer("owner")))
  }

  @Test func `work for the end is done once, also when it is added late`() {
    let host = FakeEndpointHost()
    let count = Locked(0)
    host.onShutDown { count.withLock { $0 += 1 } }
    host.shutDown()
    host.shutDown()
    #expect(count.withLock { $0 } == 1)
    host.onShutDown { count.withLock { $0 += 1 } }
    #expect(count.withLock { $0 } == 2)
  }
}

import Testing
import VestaAuthBackend
import VestaAuthBackendContracts
import VestaAuthBackendFakes
import VestaAuthEndpoints
import VestaBytes
import VestaConcurrency
import VestaCryptoInterop
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// Blocking functions by HTTP, and the fake.
@Suite struct BlockingFunctionImplementations {
  /// A function in another program.
  private final class Function: HTTPHandler {
    let reply = Locked<BlockingFunctionSubject.Reply>(.isAbsent)
    let received = Locked<[String]>([])

    func reply(to request: HTTPRequest) -> HTTPReply {
      .task { [self] in
        let body = try JSONObject(json: try await request.body.collect(upTo: 1 << 20))
        let claims = try JWT(unverified: body["data"]?.object?["jwt"]?.string ?? "").claims
        let parts = ["event_type", "sub", "sign_in_method"].map { claims[$0]?.string ?? "" }
        received.withLock { $0.append(parts.joined(separator: " ")) }
        switch reply.withLock({ $0 }) {
        case .changes(let answer):
          return HTTPResponse(fields: [:], body: .bytes(try Self.object(answer).json()))
        case .refuses(let text):
          return HTTPResponse(HTTPStatus(403), fields: [:], body: .bytes(Array(text.utf8)))
        case .isAbsent: throw TransportError(.connectionLost, "no function")
        }
      }
    }

    private static func object(_ answer: BlockingAnswer) -> JSONObject {
      guard answer != BlockingAnswer() else { return [:] }
      var record = JSONObject()
      record["displayName"] = answer.displayName.map { .string($0) }
      record["photoUrl"] = answer.photoURL.map { .string($0) }
      record["disabled"] = answer.disabled.map { .bool($0) }
      record["emailVerified"] = answer.emailVerified.map { .bool($0) }
      record["customClaims"] = answer.customClaims.map { .object($0) }
      record["sessionClaims"] = answer.sessionClaims.map { .object($0) }
      record["updateMask"] = .string(record.members.map(\.name).joined(separator: ","))
      return ["userRecord": .object(record)]
    }
  }

  @Test(arguments: BlockingFunctionContracts.all)
  func `functions by HTTP keep every promise`(_ contract: Contract<BlockingFunctionSubject>) async throws {
    let network = FakeNetwork()
    let function = Function()
    _ = try await network.listen(at: .internet(host: "localhost", port: 80), handler: function)
    let functions = HTTPBlockingFunctions(clock: .system) { network }
    let subject = BlockingFunctionSubject(functions, url: "http://localhost:80/f") { reply in
      function.reply.withLock { $0 = reply }
    } received: {
      function.received.withLock { $0 }
    }
    try await contract.verify(subject)
  }

  @Test(arguments: BlockingFunctionContracts.all)
  func `the fake keeps every promise`(_ contract: Contract<BlockingFunctionSubject>) async throws {
    let functions = ScriptedBlockingFunctions()
    let subject = BlockingFunctionSubject(functions, url: "http://localhost/f") { reply in
      functions.replies { _ throws(AuthServiceError) in
        switch reply {
        case .changes(let answer): return answer
        case .refuses(let text): throw AuthServiceError(.blockingFunctionError, text)
        case .isAbsent: throw AuthServiceError(.blockingFunctionError, "no answer")
        }
      }
    } received: {
      functions.asked.map { "\($0.event.rawValue) \($0.user.localID) \($0.signInMethod)" }
    }
    try await contract.verify(subject)
  }
}

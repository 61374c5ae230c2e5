public import VestaTesting
import VestaTransportInterop

/// The promises of a server and a client as checks.
///
/// ```swift
/// for outcome in await TransportContracts.all.run(against: { makeSubject() }) { print(outcome) }
/// ```
public enum TransportContracts {
  /// All promises.
  public static let all = exchanges + streams + webSockets + ends

  private static let exchanges: [Contract<TransportSubject>] = [
    Contract("a request arrives with its method, target, fields and body") { subject in
      try await subject.serving { request in
        let lines = [
          request.method.name, request.target, request.authority, request.fields["x-many"] ?? "none",
          request.fields.values("X-Many").joined(separator: "|"),
          String(decoding: request.body.bytes ?? [], as: UTF8.self),
        ]
        return .response(HTTPResponse(body: .text(lines.joined(separator: "\n"))))
      } _: { authority in
        var request = HTTPRequest(.put, "/a%20b?c=d&e", authority: authority, body: .text("content"))
        request.fields.append("x-many", "1")
        request.fields.append("X-many", "2, 3")
        let text = try await text(of: subject.client.send(request, timeout: nil))
        try expect(
          text, equals: ["PUT", "/a%20b?c=d&e", authority, "1, 2, 3", "1|2, 3", "content"].joined(separator: "\n"),
          "what the handler saw")
      }
    },
    Contract("a response arrives with its status, fields in order, and body") { subject in
      try await subject.serving { _ in
        var fields: HTTPFields = ["x-first": "1", "set-cookie": "a=1"]
        fields.append("set-cookie", "b=2; Path=/, c")
        return .response(HTTPResponse(201, fields: fields, body: .bytes([0, 255, 13, 10])))
      } _: { authority in
        let response = try await subject.client.send(HTTPRequest(.get, "/", authority: authority), timeout: nil)
        try expect(response.status, equals: 201, "the status")
        try expect(response.fields["X-First"], equals: "1", "a field")
        try expect(response.fields.values("set-cookie"), equals: ["a=1", "b=2; Path=/, c"], "fields of one name")
        try expect(try await response.body.collect(upTo: 100), equals: [0, 255, 13, 10], "the body")
      }
    },
    Contract("a value cannot end its line: fields stay apart") { subject in
      try await subject.serving { request in
        .response(HTTPResponse(fields: ["x-echo": "\(request.fields["x-evil"] ?? "")\r\nx-injected: 1"]))
      } _: { authority in
        var request = HTTPRequest(.get, "/", authority: authority)
        request.fields.append("x-evil", "a\r\nx-other: b")
        let response = try await subject.client.send(request, timeout: nil)
        try expect(response.fields["x-injected"] == nil, "a value became a field")
        try expect(response.fields["x-echo"], equals: "a  x-other: b  x-injected: 1", "the value")
      }
    },
    Contract("a request for public hosts reaches no other one") { subject in
      let reached = Log<String>()
      try await subject.serving { request in
        reached.add(request.target)
        return .response(HTTPResponse())
      } _: { authority in
        // The connection that is kept is not for the next one.
        _ = try await subject.client.send(HTTPRequest(.get, "/any", authority: authority), timeout: nil)
        var request = HTTPRequest(.get, "/public", authority: authority)
        request.isForPublicHosts = true
        let error = try await expectThrows(TransportError.self, "a request to this machine") {
          try await subject.client.send(request, timeout: nil)
        }
        try expect(error.code, equals: .forbiddenAddress, "the code")
        try expect(!error.mayHaveBeenProcessed, "the request may have been processed")
        try expect(reached.entries, equals: ["/any"], "the requests")
      }
    },
    Contract("HEAD, 204 and 304 have no body, and the connection still serves") { subject in
      try await subject.serving { request in
        .response(HTTPResponse(HTTPStatus(Int(request.target.dropFirst()) ?? 200), body: .text("body")))
      } _: { authority in
        for (method, target) in [(HTTPMethod.head, "/200"), (.get, "/204"), (.get, "/304"), (.head, "/404")] {
          let response = try await subject.client.send(HTTPRequest(method, target, authority: authority), timeout: nil)
          try expect(try await text(of: response), equals: "", "the body of \(method) \(target)")
        }
        let last = try await subject.client.send(HTTPRequest(.get, "/200", authority: authority), timeout: nil)
        try expect(try await text(of: last), equals: "body", "the body of GET")
      }
    },
    Contract("many requests at once get their own responses") { subject in
      try await subject.serving { request in
        request.target.hasSuffix("0")
          ? .task {
            await Task.yield()
            return HTTPResponse(body: .text(request.target))
          } : .response(HTTPResponse(body: .text(request.target)))
      } _: { authority in
        try await withThrowingTaskGroup(of: Void.self) { group in
          for number in 0..<50 {
            group.addTask {
              let request = HTTPRequest(.get, "/\(number)", authority: authority)
              let text = try await text(of: subject.client.send(request, timeout: nil))
              try expect(text, equals: "/\(number)", "the response")
            }
          }
          try await group.waitForAll()
        }
      }
    },
    Contract("a body beyond the handler's limit is refused with 413, one at the limit is not") { subject in
      try await subject.serving(body: .collected(upTo: 1_000)) { request in
        .response(HTTPResponse(body: .text("\(request.body.bytes?.count ?? -1)")))
      } _: { authority in
        for (count, status) in [(1_000, HTTPStatus.ok), (1_001, .contentTooLarge), (0, .ok)] {
          let request = HTTPRequest(
            .post, "/", authority: authority, body: .bytes([UInt8](repeating: 7, count: count)))
          let response = try await subject.client.send(request, timeout: nil)
          try expect(response.status, equals: status, "the status for \(count) bytes")
          if status == .ok { try expect(try await text(of: response), equals: "\(count)", "the length") }
        }
      }
    },
    Contract("a task that throws is a response with 500, and the next request is served") { subject in
      struct Failure: Error {}
      try await subject.serving { request in
        .task { if request.target == "/bad" { throw Failure() } else { HTTPResponse(body: .text("good")) } }
      } _: { authority in
        let bad = try await subject.client.send(HTTPRequest(.get, "/bad", authority: authority), timeout: nil)
        try expect(bad.status, equals: .internalServerError, "the status")
        let good = try await subject.client.send(HTTPRequest(.get, "/good", authority: authority), timeout: nil)
        try expect(try await text(of: good), equals: "good", "the body")
      }
    },
    Contract("a large body is the same at the other end, both ways") { subject in
      var random = SplitMix(seed: 1)
      let body = random.bytes(3_000_000)
      try await subject.serving(body: .collected(upTo: 4_000_000)) { request in
        .response(HTTPResponse(body: .bytes(request.body.bytes ?? [])))
      } _: { authority in
        let request = HTTPRequest(.post, "/", authority: authority, body: .bytes(body))
        let response = try await subject.client.send(request, timeout: nil)
        let returned = try await response.body.collect(upTo: 4_000_000)
        try expect(returned == body, "the body is another one, of \(returned.count) bytes")
      }
    },
  ]

  static func text(of response: HTTPResponse) async throws -> String {
    String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self)
  }
}

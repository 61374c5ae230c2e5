/// Rules for what pages of other origins may do with a server, as browsers ask for them (CORS).
///
/// ```swift
/// let handler = CrossOriginHandler(rules: CrossOriginRules(origins: .these(["https://app.example"])), endpoints)
/// ```
public struct CrossOriginRules: Sendable, Hashable {
  /// The origins whose pages may read responses.
  public enum Origins: Sendable, Hashable {
    /// All of them, as for endpoints that are protected by a token in a field and by nothing that browsers add.
    case all
    /// These, such as `https://app.example`; in lower case, without a slash at the end.
    case these(Set<String>)
  }

  /// The origins.
  public var origins: Origins

  /// The methods that pages may use.
  public var methods: [HTTPMethod]

  /// The fields that pages may send; `nil` for all that they ask for.
  public var allowedFields: [HTTPFieldName]?

  /// The fields of responses that pages may read, beyond the few that they always may.
  public var exposedFields: [HTTPFieldName]

  /// Whether browsers send cookies and certificates of clients with requests.
  public var allowsCredentials: Bool

  /// Whether pages from the internet may reach this server in a private network or on their own machine.
  public var allowsPrivateNetwork: Bool

  /// How long browsers remember what they have asked for, in seconds.
  public var maximumAge: Int

  /// Rules.
  public init(
    origins: Origins = .all, methods: [HTTPMethod] = [.get, .head, .post, .put, .patch, .delete],
    allowedFields: [HTTPFieldName]? = nil, exposedFields: [HTTPFieldName] = [], allowsCredentials: Bool = false,
    allowsPrivateNetwork: Bool = false, maximumAge: Int = 3_600
  ) {
    self.origins = origins
    self.methods = methods
    self.allowedFields = allowedFields
    self.exposedFields = exposedFields
    self.allowsCredentials = allowsCredentials
    self.allowsPrivateNetwork = allowsPrivateNetwork
    self.maximumAge = maximumAge
  }

  /// The answer to a browser that asks before a request; `nil` for a request that is no such question.
  public func preflight(for request: HTTPRequest) -> HTTPResponse? {
    guard request.method == .options, let origin = request.fields.first(.origin),
      let method = request.fields.first("access-control-request-method")
    else { return nil }
    var fields = HTTPFields()
    fields.append("vary", "origin, access-control-request-method, access-control-request-headers")
    guard allows(origin), methods.contains(where: { $0.name == method }) else {
      return HTTPResponse(.noContent, fields: fields)
    }
    allow(origin, in: &fields)
    fields.append("access-control-allow-methods", methods.map(\.name).joined(separator: ", "))
    let asked = request.fields["access-control-request-headers"] ?? ""
    let names = allowedFields.map { $0.map(\.lowercased).joined(separator: ", ") } ?? asked
    if !names.isEmpty { fields.append("access-control-allow-headers", names) }
    fields.append("access-control-max-age", "\(max(0, maximumAge))")
    if allowsPrivateNetwork, request.fields.first("access-control-request-private-network") == "true" {
      fields.append("access-control-allow-private-network", "true")
    }
    return HTTPResponse(.noContent, fields: fields)
  }

  /// A response with what lets a page read it; the same response for an origin that may not.
  public func allowing(_ request: HTTPRequest, _ response: HTTPResponse) -> HTTPResponse {
    var response = response
    // A response that a cache keeps for one origin is not for another one; without an origin as well.
    if dependsOnOrigin { response.fields.append("vary", "origin") }
    guard let origin = request.fields.first(.origin), allows(origin) else { return response }
    allow(origin, in: &response.fields)
    if !exposedFields.isEmpty {
      response.fields.set("access-control-expose-headers", exposedFields.map(\.lowercased).joined(separator: ", "))
    }
    return response
  }

  /// Whether a page of an origin may use the server.
  ///
  /// Browsers open WebSockets without asking beforehand: a server that relies on cookies refuses them by this.
  public func allows(_ origin: String) -> Bool {
    switch origins {
    case .all: true
    case .these(let origins): origins.contains(origin.lowercased())
    }
  }

  private var dependsOnOrigin: Bool { origins != .all || allowsCredentials }

  private func allow(_ origin: String, in fields: inout HTTPFields) {
    fields.set("access-control-allow-origin", dependsOnOrigin ? origin : "*")
    if allowsCredentials { fields.set("access-control-allow-credentials", "true") }
  }
}

/// A handler that lets pages of other origins use the one inside, by rules.
///
/// It answers the questions of browsers itself, and adds what they look for to all responses, responses of tasks that
/// throw included. WebSockets of origins that are not allowed are refused with 403.
public struct CrossOriginHandler: HTTPHandler {
  private let rules: CrossOriginRules
  private let inner: any HTTPHandler

  /// A handler.
  public init(rules: CrossOriginRules, _ inner: any HTTPHandler) {
    self.rules = rules
    self.inner = inner
  }

  /// As the handler inside.
  public func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery { inner.bodyDelivery(for: head) }

  /// As the handler inside says it, readable for pages: a browser hides every other response.
  public func refusal(of head: HTTPRequestHead, limit: Int) -> HTTPResponse {
    let request = HTTPRequest(head.method, head.target, authority: "", fields: head.fields)
    return rules.allowing(request, inner.refusal(of: head, limit: limit))
  }

  /// Answers a question of a browser, or lets the handler inside reply.
  public func reply(to request: HTTPRequest) -> HTTPReply {
    if let answer = rules.preflight(for: request) { return .response(answer) }
    switch inner.reply(to: request) {
    case .response(let response): return .response(rules.allowing(request, response))
    case .task(let work):
      return .task { [rules] in
        let response: HTTPResponse
        do { response = try await work() } catch { response = HTTPResponse(.internalServerError) }
        return rules.allowing(request, response)
      }
    case .webSocket(let service):
      if let origin = request.fields.first(.origin), !rules.allows(origin) {
        return .response(HTTPResponse(HTTPStatus(403)))
      }
      return .webSocket(service)
    }
  }
}

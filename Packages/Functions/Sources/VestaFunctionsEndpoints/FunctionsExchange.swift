import VestaBytes
import VestaFunctionsBackend
import VestaFunctionsWire
import VestaHTTPFunctionsBackend
import VestaServiceInterop
import VestaTransportInterop

/// One request for a function, and its response.
struct FunctionsExchange: Sendable {
  /// Who answers the request.
  private enum Destination {
    case callable
    case request(any HTTPFunctionsBackend)
    case elsewhere(HTTPURL, target: String)
  }

  private let handler: FunctionsHandler
  private let request: HTTPRequest
  private let path: FunctionRequestPath

  init(_ handler: FunctionsHandler, _ request: HTTPRequest, _ path: FunctionRequestPath) {
    (self.handler, self.request, self.path) = (handler, request, path)
  }

  func response() async -> HTTPResponse {
    do {
      switch destination {
      case .callable: return await callable()
      case .request(let functions):
        var inner = request
        inner.target = path.rest.hasPrefix("/") ? path.rest : "/\(path.rest)"
        return try await functions.respond(to: inner, by: target, context: context)
      case .elsewhere(let url, let target): return try await FunctionProxy(handler).forward(request, to: url, target)
      }
    } catch {
      return Self.rules.allowing(request, Self.failure(error))
    }
  }

  /// The response to a request that names no function.
  static func unknown(_ request: HTTPRequest) -> HTTPResponse {
    if request.path == "/", request.method == .get || request.method == .head {
      return HTTPResponse(fields: [.contentType: "text/plain; charset=utf-8"], body: .text("Ok\n"))
    }
    let message = "A function has a path of the form /project/region/name."
    return rules.allowing(request, failure(ServiceStatus(.notFound, message)))
  }

  /// Browsers call callable functions from every page.
  private static let rules = CrossOriginRules()

  // MARK: Finding

  private var project: String { path.function.project }

  private var target: FunctionTarget { .name(path.function.name, region: path.function.region) }

  private var context: CallContext { CallContext(request, project: project, clock: handler.host.clock) }

  /// An unknown function is a callable one: its backend knows the answer.
  private var destination: Destination {
    let functions = try? handler.host.backend((any HTTPFunctionsBackend).self, project: project)
    switch functions?.kind(of: target) {
    case .callable: return .callable
    case .request: return functions.map(Destination.request) ?? .callable
    case nil:
      let places = try? handler.host.backend(FunctionPlaces.self, project: project)
      return places?.place(of: path).map { .elsewhere($0.url, target: $0.target) } ?? .callable
    }
  }

  // MARK: Callable functions

  private func callable() async -> HTTPResponse {
    if let answer = Self.rules.preflight(for: request) { return answer }
    let headers = CallableHeaders { request.fields.first(HTTPFieldName(stringLiteral: $0)) }
    let answer: HTTPResponse
    do {
      let call = try await call(headers)
      let backend = try handler.host.backend((any FunctionsBackend).self, project: project)
      if headers.wantsStream {
        answer = FunctionEvents.response(backend.stream(call, context: context), limit: handler.tuning.streamLimit)
      } else {
        answer = .json(try CallableWire.body(ofResult: try await backend.call(call, context: context)))
      }
    } catch  where headers.wantsStream {
      // Clients read the failure of a stream from its events alone.
      answer = FunctionEvents.response(Self.error(for: error))
    } catch {
      answer = Self.failure(error)
    }
    return Self.rules.allowing(request, answer)
  }

  private func call(_ headers: CallableHeaders) async throws -> FunctionCall {
    guard request.method == .post, path.rest.isEmpty || path.rest == "/" || path.rest.hasPrefix("?") else {
      throw FunctionsServiceError(.invalidArgument, "Bad Request")
    }
    let body = try await request.body.collect(upTo: handler.tuning.bodyLimit)
    let data = try CallableWire.data(body: body, contentType: request.fields.first(.contentType))
    return FunctionCall(target, data: data, instanceIDToken: headers.instanceIDToken)
  }

  // MARK: Failures

  static func failure(_ error: any Error) -> HTTPResponse {
    let error = Self.error(for: error)
    let (status, body) = CallableWire.response(of: error)
    return .failure(error.status, httpStatus: HTTPStatus(status), body: body)
  }

  /// The failure that a caller reads; of an unknown error only that there was one.
  static func error(for error: any Error) -> FunctionsServiceError {
    switch error {
    case let error as FunctionsServiceError: error
    case let status as ServiceStatus: FunctionsServiceError(status)
    case let error as TransportError where error.code == .tooLarge:
      FunctionsServiceError(.invalidArgument, error.message)
    case is CancellationError: FunctionsServiceError(.cancelled, "CANCELLED")
    default: FunctionsServiceError(.internal, "INTERNAL")
    }
  }
}

/// The events of a call, as the response that clients read.
enum FunctionEvents {
  /// A response that stays open until the function has ended; a client that leaves cancels the function.
  ///
  /// - Parameters:
  ///   - events: The events.
  ///   - limit: The bytes that wait to be read at which the function pauses.
  static func response(_ events: AsyncThrowingStream<FunctionEvent, any Error>, limit: Int) -> HTTPResponse {
    let body = ByteStream(limit: limit)
    let task = Task {
      do {
        for try await event in events { try await body.write(try CallableWire.bytes(of: event)) }
      } catch {
        body.offer(CallableWire.bytes(of: FunctionsExchange.error(for: error)))
      }
      body.finish()
    }
    body.pipe.setDemand(nil, onCancel: { task.cancel() })
    return HTTPResponse(fields: fields, body: .stream(body))
  }

  /// The response of a call that has failed before it began.
  static func response(_ error: FunctionsServiceError) -> HTTPResponse {
    HTTPResponse(fields: fields, body: .bytes(CallableWire.bytes(of: error)))
  }

  private static let fields: HTTPFields = [
    .contentType: ServerSentEvent.contentType, .cacheControl: "no-cache",
  ]
}

public import VestaBytes
public import VestaFunctionsBackend
import VestaFunctionsWire
public import VestaServiceInterop
public import VestaTransportInterop

/// Functions on another machine: a server, an emulator, or Firebase.
///
/// - Each call is one request, as Firebase's SDKs send it. A call is never repeated here: a function may have run.
/// - A stream is one response that stays open; leaving it closes the connection, and the function is cancelled.
/// - A function that is named by a URL is called there.
///
/// ```swift
/// let service = try RESTService(client, at: "https://vesta.example")
/// let remote = FunctionsRemote(project: "demo", on: service)
/// let sum = try await remote.call(FunctionCall(.name("add", region: "us-central1"), data: [1, 2]), context: context)
/// ```
public final class FunctionsRemote: FunctionsBackend {
  typealias Channel = RESTChannel<FunctionsServiceError>

  private let project: String
  private let service: RESTService
  private let options: FunctionsRemoteOptions

  /// Functions on another machine; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - project: The id of the project.
  ///   - service: The server.
  ///   - options: The settings.
  public init(project: String, on service: RESTService, options: FunctionsRemoteOptions = FunctionsRemoteOptions()) {
    self.project = project
    self.service = service
    self.options = options
  }

  /// Calls a function.
  public func call(_ call: FunctionCall, context: CallContext) async throws -> JSONValue {
    let (channel, request) = try prepared(call, isStream: false)
    return try await channel.call(request, context: context) { answer in
      try CallableWire.result(status: answer.status.code, body: answer.body)
    }
  }

  /// Calls a function that streams.
  public func stream(_ call: FunctionCall, context: CallContext) -> AsyncThrowingStream<FunctionEvent, any Error> {
    let reader = RemoteEvents(clock: service.clock, deadline: context.deadline, limit: options.maximumEvent) {
      [self] in
      let (channel, request) = try prepared(call, isStream: true)
      return (try await channel.stream(request, context: context), { channel.failure($0, of: request) })
    }
    return AsyncThrowingStream { try await reader.next() }
  }

  // MARK: Requests

  private func prepared(
    _ call: FunctionCall, isStream: Bool
  ) throws(FunctionsServiceError) -> (Channel, RESTCall) {
    var service = service
    let target: String
    switch place(of: call.target) {
    case .here(let path): target = path
    case .there(let url):
      service.origin = url
      target = url.target
    case nil: throw FunctionsServiceError(.invalidArgument, "\(call.target) is no address of a function.")
    }
    let channel = Channel(service, failure: Self.failure)
    return (channel, try request(for: call, target, isStream: isStream))
  }

  private func request(
    for call: FunctionCall, _ target: String, isStream: Bool
  ) throws(FunctionsServiceError) -> RESTCall {
    let headers = CallableHeaders(instanceIDToken: call.instanceIDToken, wantsStream: isStream)
    var fields: HTTPFields = [:]
    for field in headers.fields { fields.append(HTTPFieldName(stringLiteral: field.name), field.value) }
    do {
      var request = RESTCall(
        .post, target, fields: fields, body: try CallableWire.body(ofData: call.data), isRepeatable: false)
      request.hasToken = call.instanceIDToken != nil
      // The hosts of functions refuse with pages, as for a function that does not exist.
      request.acceptsPagesOfRefusals = true
      return request
    } catch {
      throw FunctionsServiceError(.invalidArgument, "\(error)")
    }
  }

  private enum Place {
    case here(String)
    case there(HTTPURL)
  }

  private func place(of target: FunctionTarget) -> Place? {
    switch target {
    case .url(let url): return HTTPURL(url).map(Place.there)
    case .name(let name, let region):
      let path = CallablePath(project: project, region: region, name: name)
      return options.usesHostsOfRegions ? HTTPURL(path.url).map(Place.there) : .here(path.target)
    }
  }

  /// The failure of an answer that is no success.
  private static func failure(_ answer: RESTAnswer) -> FunctionsServiceError {
    do {
      _ = try CallableWire.result(status: answer.status.code, body: answer.body)
      return FunctionsServiceError(answer.failure)
    } catch {
      guard answer.fields.contains("retry-after") else { return error }
      return FunctionsServiceError(
        error.code, error.message, details: error.details, errorDetails: answer.failure.details)
    }
  }
}

/// The settings of a ``FunctionsRemote``; an app brings its own by a component that provides them.
public struct FunctionsRemoteOptions: Sendable {
  /// Whether each region has a separate host, as at Firebase: `https://us-central1-demo.cloudfunctions.net`.
  public var usesHostsOfRegions = false

  /// The largest event of a stream, in bytes.
  public var maximumEvent = 16 << 20

  /// Settings.
  public init() {}
}

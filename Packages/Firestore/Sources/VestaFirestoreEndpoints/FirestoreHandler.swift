import VestaBytes
import VestaServiceInterop
import VestaTransportInterop

/// Sends each request to gRPC, REST or the calls of the Emulator Suite.
struct FirestoreHandler: HTTPHandler {
  private let grpc: GRPCHandler
  private let rest: FirestoreRESTHandler
  private let emulator: EmulatorHandler
  private let channels: WebChannelHandler
  private let tuning: FirestoreEndpointTuning

  init(_ host: any EndpointHost, _ tuning: FirestoreEndpointTuning) {
    let (calls, administration) = (CallTable(host, tuning), AdminCallTable(host, tuning))
    grpc = GRPCHandler(
      FirestoreService(calls, administration),
      options: GRPCOptions(messageBytes: tuning.requestBytes, compression: host.compression), clock: host.clock)
    rest = FirestoreRESTHandler(host, calls, administration)
    emulator = EmulatorHandler(host, tuning)
    channels = WebChannelHandler(host, tuning)
    self.tuning = tuning
  }

  func endStreams() {
    grpc.endStreams()
    channels.endStreams()
  }

  func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery {
    if GRPCHandler.isGRPC(head) { return grpc.bodyDelivery(for: head) }
    return channels.bodyDelivery(for: head) ?? .collected(upTo: tuning.requestBytes)
  }

  func refusal(of head: HTTPRequestHead, limit: Int) -> HTTPResponse {
    if GRPCHandler.isGRPC(head) { return grpc.refusal(of: head, limit: limit) }
    return RESTResponse.failure(
      ServiceStatus(.invalidArgument, "Request payload size exceeds the limit: \(limit) bytes."), status: 413)
  }

  func reply(to request: HTTPRequest) -> HTTPReply {
    if GRPCHandler.isGRPC(HTTPRequestHead(method: request.method, target: request.target, fields: request.fields)) {
      return grpc.reply(to: request)
    }
    if request.method == .get || request.method == .head, request.path == "/" {
      return .response(HTTPResponse(fields: [.contentType: "text/plain; charset=utf-8"], body: .text("Ok\n")))
    }
    if let call = WebChannelHandler.call(at: request.path) { return channels.reply(to: request, call) }
    if let call = FirestoreEmulatorCall(method: request.method, target: request.target) {
      return emulator.reply(to: call, request)
    }
    return rest.reply(to: request)
  }
}

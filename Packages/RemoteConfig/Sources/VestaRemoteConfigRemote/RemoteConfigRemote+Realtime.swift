import VestaBytes
public import VestaConcurrency
import VestaInstallationsBackend
public import VestaRemoteConfigBackend
import VestaRemoteConfigWire
public import VestaServiceInterop
import VestaTransportInterop

// The connection for newer templates: a response that stays open, each message of which is a small object.
extension RemoteConfigRemote {
  /// Opens the connection of an instance; it ends with the response, or after `options.tuning.streamLimit`.
  public func listenForInvalidations(
    _ request: InvalidationsRequest, context: CallContext,
    onEnd: @escaping @Sendable (RemoteConfigServiceError?) -> Void,
    _ receive: @escaping @Sendable (ConfigInvalidation) -> Void
  ) -> ListenerRegistration {
    let receiver = InvalidationReceiver(lastKnownVersion: request.lastKnownVersion, onEnd: onEnd, receive: receive)
    let task = Task {
      do {
        try await self.relay(try await self.open(request, context), to: receiver)
        receiver.end(nil)
      } catch {
        receiver.end(realtime.failure(error))
      }
    }
    return ListenerRegistration {
      receiver.silence()
      task.cancel()
    }
  }

  private func open(_ request: InvalidationsRequest, _ context: CallContext) async throws -> ByteStream {
    let project = options.realtimeProject ?? project
    let installation = try await installation()
    let token = installation?.token
    let call = ConfigStreamCall(
      request, project: project, appID: options.appID, installationID: installation?.id ?? options.installationID?(),
      sdkVersion: options.sdkVersion)
    let route = RemoteConfigRoute(project: project, namespace: request.namespace, .invalidations)
    var fields: HTTPFields = [.accept: "application/json", "x-google-gfe-can-retry": "true"]
    if let token { fields.append(Self.installation, token) }
    var request = RESTCall(
      HTTPMethod(route.method), route.target, fields: fields, body: try InvalidationWire.body(of: call))
    request.hasToken = token != nil
    return try await reporting(token) { () async throws(RemoteConfigServiceError) in
      try await realtime.stream(request, context: context)
    }
  }

  /// Reads messages until the end of the response.
  private func relay(_ stream: ByteStream, to receiver: InvalidationReceiver) async throws {
    defer { stream.cancel() }
    let timer = clock.schedule(after: options.tuning.streamLimit) { stream.cancel() }
    defer { timer.cancel() }
    var machine = InvalidationMachine(maximumObject: options.tuning.maximumMessage)
    do {
      while let piece = try await stream.next() {
        for message in try machine.received(piece) { receiver.offer(message) }
      }
    } catch is CancellationError where !Task.isCancelled {
      throw ServiceStatus(.deadlineExceeded, "The connection has lasted for longer than the service may keep it open.")
    }
  }
}

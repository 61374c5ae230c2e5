import VestaBytes
public import VestaConcurrency
public import VestaMessagingBackend
import VestaMessagingWire
public import VestaServiceInterop
import VestaTransportInterop

// The connection for deliveries: a response that stays open, with an event for each delivery and one for the end.
extension MessagingRemote {
  /// Connects a registration.
  ///
  /// The closures are called on a lane of threads that no task runs on. A connection on which nothing has arrived for
  /// `MessagingRemoteTuning.silence`, not even the server's sign of life, ends with `UNAVAILABLE`.
  public func connect(
    token: String, context: CallContext, onEnd: @escaping @Sendable (MessagingServiceError?) -> Void,
    _ receive: @escaping @Sendable (PushDelivery) -> Void
  ) -> ListenerRegistration {
    let lane = BlockingLane()
    let receiver = QueuedReceiver<DeliveryEvent>(lane: lane) { event in
      switch event {
      case .delivery(let delivery): receive(delivery)
      case .end(let error): onEnd(error)
      }
    }
    let task = Task {
      let end: MessagingServiceError?
      do {
        end = try await self.relay(self.open(token, context), to: receiver, on: lane)
      } catch {
        end = rest.failure(error)
      }
      receiver.post(.end(end))
      receiver.end()
    }
    return ListenerRegistration {
      receiver.silence()
      task.cancel()
    }
  }

  private func open(_ token: String, _ context: CallContext) async throws -> ByteStream {
    guard options.delivers else { throw Self.noDeliveries }
    var call = call(.connect, DeliveryWire.body(of: DeliveryWire.Request(token: token)))
    call.fields.append(.accept, ServerSentEvent.contentType)
    return try await rest.stream(call, context: context)
  }

  /// Reads events until the one that ends the connection.
  ///
  /// - Returns: The error that the event has.
  private func relay(
    _ stream: ByteStream, to receiver: QueuedReceiver<DeliveryEvent>, on lane: BlockingLane
  ) async throws -> MessagingServiceError? {
    defer { stream.cancel() }
    var reader = ServerSentEventReader(limit: options.tuning.maximumEvent)
    let tuning = options.tuning
    var silence = clock.schedule(after: tuning.silence) { stream.cancel() }
    defer { silence.cancel() }
    do {
      while let piece = try await stream.next() {
        silence.cancel()
        for event in try reader.read(piece) {
          switch try DeliveryEvent(event) {
          case .delivery(let delivery): receiver.post(.delivery(delivery))
          case .end(let error): return error
          case nil: continue
          }
        }
        // A service sends no more than its window without acknowledgements; another one is not to fill the memory.
        guard lane.waitingCount <= tuning.maximumUnread else {
          throw ServiceStatus(.resourceExhausted, "More than \(tuning.maximumUnread) messages wait for their receiver.")
        }
        silence = clock.schedule(after: tuning.silence) { stream.cancel() }
      }
    } catch is CancellationError where !Task.isCancelled {
      throw ServiceStatus(.unavailable, "Nothing has arrived on the connection for \(tuning.silence).")
    }
    throw ServiceStatus(.unavailable, "The connection was lost.")
  }
}

/// An event of a connection; pure.
enum DeliveryEvent: Sendable, Equatable {
  case delivery(PushDelivery)
  case end(MessagingServiceError?)

  /// - Returns: `nil` for an event of a later version.
  /// - Throws: `MessagingServiceError` for a delivery that cannot be read.
  init?(_ event: ServerSentEvent) throws(MessagingServiceError) {
    let data = Array(event.data.utf8)
    switch event.name {
    case "delivery": self = .delivery(try DeliveryWire.delivery(data))
    case "end":
      let isError = (try? JSONObject(json: data, limits: DeliveryWire.limits))?["error"] != nil
      // An error without a status would be a success, and its code is that of its name anyway.
      self = .end(isError ? MessagingErrorWire.error(status: 500, body: data) : nil)
    default: return nil
    }
  }
}

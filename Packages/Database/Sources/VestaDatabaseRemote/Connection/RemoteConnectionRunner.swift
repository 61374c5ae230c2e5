import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseWire
import VestaServiceInterop
import VestaTransportInterop

/// Carries out a ``RemoteConnectionMachine``: the WebSocket, the timer, and the client that receives.
///
/// Everything happens on a serial queue, so that messages and requests keep their order. The client is called from the
/// queue, never on the stack of its call.
actor RemoteConnectionRunner {
  private nonisolated let queue = WorkQueue(label: "vesta.database.remote")
  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  private let service: RESTService
  private let target: String
  private let context: CallContext
  private let timeout: Duration
  private let remember: @Sendable (String?) -> Void
  private let receive: @Sendable (DatabaseServerMessage) -> Void
  private var machine: RemoteConnectionMachine
  private var socket: WebSocket?
  private var opening: Task<Void, Never>?
  private var timer: ListenerRegistration?
  /// The number of the WebSocket; reports of an earlier one are ignored.
  private var attempt = 0

  init(
    _ service: RESTService, target: String, context: CallContext, timeout: Duration, machine: RemoteConnectionMachine,
    remember: @escaping @Sendable (String?) -> Void, receive: @escaping @Sendable (DatabaseServerMessage) -> Void
  ) {
    (self.service, self.target, self.context) = (service, target, context)
    (self.timeout, self.machine, self.remember, self.receive) = (timeout, machine, remember, receive)
  }

  nonisolated func start() { enqueue { runner in runner.perform(runner.machine.start()) } }

  nonisolated func send(_ request: DatabaseRequest, id: Int) {
    enqueue { runner in runner.perform(runner.machine.send(request, id: id, at: runner.now)) }
  }

  nonisolated func close() { enqueue { runner in runner.perform(runner.machine.close()) } }

  private nonisolated func enqueue(_ body: @escaping @Sendable (isolated RemoteConnectionRunner) -> Void) {
    queue.async { self.assumeIsolated { runner in body(runner) } }
  }

  private var now: Int64 { service.clock.now() }

  private func perform(_ actions: [RemoteConnectionMachine.Action]) {
    for action in actions {
      switch action {
      case .open(let host): open(host)
      case .write(let frames):
        for frame in frames { socket?.offer(.text(String(decoding: frame, as: UTF8.self))) }
      case .deliver(let message): receive(message)
      case .remember(let host): remember(host)
      case .wait(let time): wait(until: time)
      case .disconnect: disconnect()
      }
    }
  }

  // MARK: The WebSocket

  private func open(_ host: String?) {
    disconnect()
    let attempt = attempt
    // A name that is none is answered by the configured host.
    var reached = service
    if let host, let moved = service.moved(to: host) { reached = moved }
    opening = Task { [reached] in await run(reached, attempt) }
  }

  private func disconnect() {
    attempt += 1
    timer?.cancel()
    timer = nil
    // An open one is closed after what was sent, and read to its end.
    if let socket { socket.close() } else { opening?.cancel() }
    (opening, socket) = (nil, nil)
  }

  private func run(_ service: RESTService, _ attempt: Int) async {
    do {
      let credential = try await DatabaseCredential(of: context, service)
      var context = context
      // The sign-in is a request, whose reply says what is wrong with a token.
      context.caller = .nobody
      let socket = try await service.openWebSocket(target, context: context, timeout: timeout)
      guard attempt == self.attempt else { return socket.close() }
      self.socket = socket
      perform(machine.opened(credential, keepsTokensSecret: service.keepsTokensSecret, at: now))
      await read(socket, attempt)
    } catch {
      guard attempt == self.attempt else { return }
      perform(machine.lost(Self.reason(error)))
    }
  }

  /// Reads to the end, also after the socket was left: unread messages would keep it open.
  private func read(_ socket: WebSocket, _ attempt: Int) async {
    do {
      for try await message in socket.messages where attempt == self.attempt {
        // A binary message is none of the protocol, and clients pass over it.
        if case .text(let text) = message { perform(machine.received(Array(text.utf8), at: now)) }
      }
    } catch {
      socket.messages.cancel()
    }
    guard attempt == self.attempt else { return }
    let end = socket.end ?? WebSocketClose(.abnormal)
    perform(machine.lost(end.code == .abnormal ? "The connection was lost." : "The service has closed it: \(end)"))
  }

  private static func reason(_ error: any Error) -> String {
    switch error {
    case let error as TransportError: error.message
    case let error as ServiceStatus: error.message
    case is CancellationError: "The connection was closed."
    default: "The connection could not be opened (\(type(of: error)))."
    }
  }

  // MARK: Time

  private func wait(until time: Int64) {
    timer?.cancel()
    timer = service.clock.schedule(after: .microseconds(max(0, time - now))) { [weak self] in
      self?.enqueue { runner in runner.perform(runner.machine.timeIs(runner.now)) }
    }
  }
}

/// The connection as the client has it; dropping it ends it.
final class RemoteConnection: DatabaseConnection {
  private let runner: RemoteConnectionRunner

  init(_ runner: RemoteConnectionRunner) { self.runner = runner }

  deinit { runner.close() }

  func send(_ request: DatabaseRequest, id: Int) { runner.send(request, id: id) }

  func close() { runner.close() }
}

extension DatabaseCredential {
  /// The credential with which a caller signs a connection in; `nil` for a caller who is not signed in.
  fileprivate init?(of context: CallContext, _ service: RESTService) async throws {
    guard let token = try await service.token(of: context.caller) else { return nil }
    switch context.caller {
    case .credential(.idToken): self.init(token: token)
    case .owner: self.init(token: token, isOwner: true)
    default:
      // A token with three parts is that of a user, whatever carries it.
      let parts = token.split(separator: ".", omittingEmptySubsequences: false)
      self.init(token: token, isOwner: parts.count != 3)
    }
  }
}

import VestaConcurrency
import VestaTesting
public import VestaTransportInterop

/// A client whose exchanges with one handler travel over a ``ScriptedPipe`` each: cut into pieces, delayed, and lost as
/// a test says.
///
/// A simple framing is in the place of HTTP, so that every byte of a request and of a response can be the last one.
/// Time is virtual and needs no driver: a message arrives at once, in the order of its delays. A connection is
/// never used for a second exchange. Bodies that are streams travel in both directions at once, with trailers, and so
/// do the messages of WebSockets; neither side is held back.
///
/// ```swift
/// let network = ScriptedNetwork(to: handler, seed: 7) { number in
///   number == 3 ? .init(fromServer: .init(cutAfter: 20)) : .init(fromServer: .init(largestPiece: 3))
/// }
/// ```
public final class ScriptedNetwork: HTTPClient {
  /// How the connection of an exchange behaves.
  public struct Script: Sendable {
    /// The direction of the request.
    public var fromClient: ScriptedPipe.Conditions
    /// The direction of the response.
    public var fromServer: ScriptedPipe.Conditions

    /// A script; nothing is wrong unless it is said.
    public init(
      fromClient: ScriptedPipe.Conditions = .init(), fromServer: ScriptedPipe.Conditions = .init()
    ) {
      self.fromClient = fromClient
      self.fromServer = fromServer
    }
  }

  private struct State: Sendable {
    var count = 0
    /// Cuts the connection of an exchange.
    var open: [Int: @Sendable () -> Void] = [:]
    var isDown = false
  }

  private let handler: any HTTPHandler
  private let seed: UInt64
  private let script: @Sendable (Int) -> Script
  private let clock = ManualClock()
  private let lane = BlockingLane()
  private let state = Locked(State())

  /// A network with one server.
  ///
  /// - Parameters:
  ///   - handler: Replies to the requests, whatever their authority is.
  ///   - seed: The seed of the pieces.
  ///   - script: Returns how an exchange behaves, by its number from 0 on.
  public init(
    to handler: any HTTPHandler, seed: UInt64 = 1, script: @escaping @Sendable (Int) -> Script = { _ in Script() }
  ) {
    self.handler = handler
    self.seed = seed
    self.script = script
  }

  /// The number of exchanges that were begun.
  public var exchangeCount: Int { state.withLock { $0.count } }

  /// Refuses new exchanges, or accepts them again.
  public func setDown(_ isDown: Bool) { state.withLock { $0.isDown = isDown } }

  /// Cuts all connections.
  public func cut() {
    for cut in state.withLock({ Array($0.open.values) }) { cut() }
  }

  /// Sends a request over a separate connection.
  public func send(_ request: HTTPRequest, timeout: Duration?) async throws -> HTTPResponse {
    let (number, pipe) = try connect()
    let exchange = ScriptedExchange(pipe, handler) { [weak self] in
      self?.drive()
    } onEnd: { [weak self] in
      self?.remove(number)
    }
    state.withLock { $0.open[number] = { exchange.cut() } }
    return try await exchange.response(to: request)
  }

  /// Opens a WebSocket over a separate connection, without a subprotocol.
  public func openWebSocket(
    _ request: HTTPRequest, subprotocols: [String], timeout: Duration?
  ) async throws -> WebSocket {
    let (number, pipe) = try connect()
    let socket = ScriptedSocket(pipe, handler) { [weak self] in
      self?.drive()
    } onEnd: { [weak self] in
      self?.remove(number)
    }
    state.withLock { $0.open[number] = { socket.cut() } }
    return try await socket.open(request)
  }

  private func connect() throws -> (number: Int, pipe: ScriptedPipe) {
    let number = try state.withLock { state in
      guard !state.isDown else {
        throw TransportError(.cannotConnect, "The network is down.", mayHaveBeenProcessed: false)
      }
      defer { state.count += 1 }
      return state.count
    }
    let pipe = ScriptedPipe(clock: clock, seed: seed &+ UInt64(number))
    let script = script(number)
    pipe.setConditions(fromClient: script.fromClient, fromServer: script.fromServer)
    return (number, pipe)
  }

  /// Cuts all connections.
  public func close() async { cut() }

  /// Lets everything that was sent arrive; one thread at a time, so that the order is that of the clock.
  private func drive() { lane.async { while self.clock.fireNext() {} } }

  private func remove(_ number: Int) {
    let removed = state.withLock { $0.open.removeValue(forKey: number) }
    withExtendedLifetime(removed) {}
  }
}

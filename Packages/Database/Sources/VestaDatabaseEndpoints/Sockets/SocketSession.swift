import VestaBytes
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseWire
import VestaTransportInterop

/// A WebSocket as a connection of a backend.
///
/// One task reads frames, another one writes them, so that the pieces of a message stay together. While too many
/// requests wait for their replies nothing is read, so that a client which does not read either is held up by TCP.
final class SocketSession: Sendable {
  private struct State {
    var machine: ServingMachine
    var waiting = Waiters()
    var isOver = false
  }

  private let socket: WebSocket
  private let link: MessageLink
  private let tuning: DatabaseEndpointsTuning
  private let state: Locked<State>

  init(
    _ socket: WebSocket, _ backend: any DatabaseBackend, _ request: DatabaseConnectRequest, _ machine: ServingMachine,
    _ tuning: DatabaseEndpointsTuning
  ) {
    (self.socket, self.tuning) = (socket, tuning)
    state = Locked(State(machine: machine))
    link = MessageLink(to: backend, request, limit: tuning.backlog) {
      socket.close(WebSocketClose(.policyViolation, "The client reads too slowly."))
    }
  }

  /// Serves the socket until either side has ended it.
  func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.read() }
      group.addTask { await self.write() }
      await group.next()
      end()
      group.cancelAll()
    }
  }

  private func end() {
    link.close()
    let waiting = state.withLock { state in
      state.isOver = true
      return state.waiting.takeAll()
    }
    waiting.resume()
  }

  private func read() async {
    var pieces = DatabasePieceMachine(tuning: tuning.wire)
    do {
      for try await frame in socket.messages {
        guard case .text(let text) = frame else {
          return socket.close(WebSocketClose(.unsupportedData, "Messages are text."))
        }
        guard let json = try pieces.received(Array(text.utf8)) else { continue }
        switch state.withLock({ $0.machine.received(json) }) {
        case .request(let request, let id)?: link.send(request, id: id)
        case .send(let text)?: link.insert(text)
        case .close(let reason)?: return socket.close(WebSocketClose(.protocolError, String(reason.prefix(100))))
        case nil: break
        }
        await state.wait(in: \.waiting) { !$0.machine.isFull || $0.isOver }
      }
    } catch {
      socket.close(WebSocketClose(.messageTooBig, "A message is too long."))
    }
  }

  private func write() async {
    do {
      while let item = try await link.items.next() {
        switch item {
        case .text(let text): try await send(text)
        case .message(let message):
          let (action, waiting) = state.withLock { state in
            let action = state.machine.received(message)
            return (action, state.machine.isFull ? Waiters() : state.waiting.takeAll())
          }
          waiting.resume()
          switch action {
          case .send(let text)?: try await send(text)
          case .close?: return socket.close()
          case .request?, nil: break
          }
        }
      }
    } catch {
      // The client has left, or the link has been ended: no one is left to read a reason.
      socket.close()
    }
  }

  private func send(_ text: [UInt8]) async throws {
    for frame in try DatabasePieces.frames(of: text, tuning: tuning.wire) {
      try await socket.send(.text(String(decoding: frame, as: UTF8.self)))
    }
  }
}

import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

/// The cases 1.1.8, 1.2.8, 9 and 10 of the Autobahn project: large messages, small fragments, small pieces, and many
/// messages.
@Suite(.serialized, .timeLimit(.minutes(10))) struct AutobahnLimitTests {
  /// A message in frames of a number of bytes, which arrive in pieces of a number of octets.
  struct Transfer: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let opcode: UInt8
    let size: Int
    var frame = Int.max
    var piece = Int.max
    var times = 1

    var message: SocketFrame { SocketFrame(opcode: opcode, payload: [UInt8](repeating: 42, count: size)) }

    var frames: [SocketFrame] {
      guard frame < size else { return [message] }
      let payload = message.payload
      return stride(from: 0, to: size, by: frame).map { start in
        let end = min(start + frame, size)
        return SocketFrame(
          opcode: start == 0 ? opcode : 0, payload: Array(payload[start..<end]), isFinal: end == size)
      }
    }
  }

  static let transfers: [Transfer] = {
    var all = [
      Transfer(testDescription: "1.1.8 pieces of 997", opcode: 1, size: 65_536, piece: 997),
      Transfer(testDescription: "1.2.8 pieces of 997", opcode: 2, size: 65_536, piece: 997),
    ]
    for (group, opcode) in [(0, 1), (1, 2)] as [(Int, UInt8)] {
      for (index, size) in [65_536, 262_144, 1 << 20, 4 << 20, 8 << 20, 16 << 20].enumerated() {
        all.append(Transfer(testDescription: "9.\(1 + group).\(index + 1) \(size) bytes", opcode: opcode, size: size))
      }
      // Of 4 MiB; of less where the number of frames would be so large that code without optimization takes too long.
      for (index, frame) in [64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1 << 20, 4 << 20].enumerated() {
        all.append(
          Transfer(
            testDescription: "9.\(3 + group).\(index + 1) frames of \(frame)", opcode: opcode,
            size: min(4 << 20, frame * 2_048), frame: frame))
      }
      for (index, piece) in [64, 128, 256, 512, 1_024, 2_048].enumerated() {
        all.append(
          Transfer(
            testDescription: "9.\(5 + group).\(index + 1) pieces of \(piece)", opcode: opcode, size: 1 << 20,
            piece: piece))
      }
      for (index, size) in [0, 16, 64, 256, 1_024, 4_096].enumerated() {
        all.append(
          Transfer(
            testDescription: "9.\(7 + group).\(index + 1) 1,000 messages of \(size)", opcode: opcode, size: size,
            times: 1_000))
      }
    }
    return all + [Transfer(testDescription: "10.1.1 frames of 1,300", opcode: 1, size: 65_536, frame: 1_300)]
  }()

  @Test(arguments: transfers) func `a server returns it`(transfer: Transfer) async throws {
    try await TestServer.run(handler: EchoingSockets()) { server in
      let address = server.listener.address
      let playing = await TestThreads.run {
        Result { Self.play(transfer, SocketPeer(client: try RawPeer(address))) }
      }
      let isReturned = try playing.get()
      #expect(isReturned, "\(transfer.testDescription)")
    }
  }

  @Test(arguments: transfers) func `a client returns it`(transfer: Transfer) async throws {
    let (isReturned, end) = try await AutobahnTests.asServer { Self.play(transfer, $0) }
    #expect(isReturned && end.code == .normal, "\(transfer.testDescription): \(end)")
  }

  private static func play(_ transfer: Transfer, _ peer: SocketPeer) -> Bool {
    defer { peer.close() }
    if peer.mask != nil { peer.mask = 0 }
    let (frames, message) = (transfer.frames, transfer.message)
    for _ in 0..<transfer.times {
      if transfer.piece < transfer.size { peer.send(frames, pieces: transfer.piece) } else { peer.send(frames, .whole) }
      guard peer.next() == message else { return false }
    }
    peer.send([.close(1000)], .whole)
    return peer.next()?.code == 1000 && peer.next() == nil
  }
}

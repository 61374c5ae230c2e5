import Testing
import VestaTesting

@testable import VestaTransportInterop

@Suite struct GRPCMessageTests {
  private enum Seen: Equatable {
    case messages([GRPCMessageMachine.Message])
    case failure(GRPCMessageMachine.Failure)
  }

  private func read(_ bytes: [UInt8], limit: Int = 100) throws -> Seen {
    try Feeding.verify(bytes) { pieces in
      var machine = GRPCMessageMachine(limit: limit)
      var messages: [GRPCMessageMachine.Message] = []
      do throws(GRPCMessageMachine.Failure) {
        for piece in pieces {
          messages += try piece.withUnsafeBufferPointer { bytes throws(GRPCMessageMachine.Failure) in
            try machine.feed(bytes)
          }
        }
      } catch {
        return .failure(error)
      }
      return .messages(messages)
    }
  }

  @Test func `messages are read as they were written`() throws {
    var out: [UInt8] = []
    GRPCMessageMachine.write([], into: &out)
    GRPCMessageMachine.write([1, 2, 3], isCompressed: true, into: &out)
    GRPCMessageMachine.write([UInt8](repeating: 9, count: 100), into: &out)
    out += [0, 0, 0]
    #expect(
      try read(out)
        == .messages([
          .init(bytes: [], isCompressed: false), .init(bytes: [1, 2, 3], isCompressed: true),
          .init(bytes: [UInt8](repeating: 9, count: 100), isCompressed: false),
        ]))
  }

  @Test func `an unknown flag and a length beyond the limit are refused before the message`() throws {
    #expect(try read([2, 0, 0, 0, 0]) == .failure(.unknownFlag(2)))
    #expect(try read([0, 0, 0, 0, 101]) == .failure(.tooLarge(101)))
    #expect(try read([1, 255, 255, 255, 255]) == .failure(.tooLarge(4_294_967_295)))
  }

  @Test func `a message that was not sent to its end is seen`() throws {
    var machine = GRPCMessageMachine(limit: 10)
    _ = try [0, 0, 0, 0, 2, 1].withUnsafeBufferPointer { try machine.feed($0) }
    #expect(machine.isInMessage)
    _ = try [1].withUnsafeBufferPointer { try machine.feed($0) }
    #expect(!machine.isInMessage)
  }
}

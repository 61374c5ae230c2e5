import Testing
import VestaStoreInteropCrashTesting
import VestaTesting

@testable import WireSoakProgram

/// Damaged messages for the codec of every wire, in a process for each: 10^6 here, and 10^8 in a soak, which is built
/// optimised.
///
/// The processes run beside one another, as each has one thread. A codec answers each message with a message or an
/// error, and the process grows by less than 32 MiB, whatever was read.
@Suite struct HostileWireTests {
  @Test(.timeLimit(.minutes(40)), arguments: WireCodec.allCases)
  func `a million damaged messages are each a message or an error`(codec: WireCodec) async throws {
    try await codec.readsDamagedMessages(1_000_000)
  }

  @Test(arguments: WireCodec.allCases)
  func `the messages that are damaged can be read`(codec: WireCodec) throws {
    for decoder in try codec.inputs().decoders {
      for message in decoder.messages {
        #expect(throws: Never.self, "\(text(message))") { try decoder.read(message) }
      }
    }
  }
}

@Suite(.serialized, .enabled(if: Soak.isAsked), .timeLimit(.minutes(600))) struct WireSoakTests {
  @Test(arguments: WireCodec.allCases)
  func `damaged messages stop no codec`(codec: WireCodec) async throws {
    try await codec.readsDamagedMessages(100_000_000)
  }
}

extension WireCodec {
  /// Runs the program, and expects that it ends, has grown little, and has refused many messages and read many.
  fileprivate func readsDamagedMessages(_ count: Int) async throws {
    let lines = await (try WorkerProcess("WireSoakProgram", rawValue, "\(count)")).finish()
    for line in lines where line.hasPrefix("Soak of") { print(line) }
    func number(_ name: String) -> Int? { lines.last { $0.hasPrefix(name) }.flatMap { Int($0.dropFirst(name.count)) } }
    // Some changes leave a message that can be read, such as another letter in a string, and most do not.
    let refused = try #require(number("refused "), "the program has crashed: \(lines.suffix(3))")
    #expect(refused > 0)
    #expect(try #require(number("grown ")) < 32, "MiB")
  }
}

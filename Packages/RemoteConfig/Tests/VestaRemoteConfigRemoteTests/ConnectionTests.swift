import Testing
import VestaBytes
import VestaConcurrency
import VestaRemoteConfigBackend
import VestaRemoteConfigBackendFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop

@testable import VestaRemoteConfigEndpoints

/// One connection for newer templates, from its opening to its end.
@Suite(.timeLimit(.minutes(10))) struct ConnectionTests {
  private let backend = ScriptedRemoteConfigBackend()
  private let clock = ManualClock()

  private func listener() async -> ScriptedRemoteConfigBackend.Listener {
    while true {
      if let listener = backend.state.withLock({ $0.listeners.values.first }) { return listener }
      await Task.yield()
    }
  }

  /// Reads until the text has a word.
  private func read(_ stream: ByteStream, _ text: inout String, until word: String) async throws {
    while !text.contains(word) {
      let bytes = try #require(try await stream.next(), "\(text)")
      text += String(decoding: bytes, as: UTF8.self)
    }
  }

  @Test func `the pieces make one array of what the client does not know, and its end takes the listener away`()
    async throws
  {
    var tuning = RemoteConfigEndpointsTuning()
    tuning.messageRepetition = .seconds(100_000)
    tuning.streamLength = .seconds(300)
    let streams = InvalidationStreams(clock: clock.service, tuning: tuning)
    let request = InvalidationsRequest(namespace: "firebase", lastKnownVersion: 11)
    async let opening = streams.open(backend, request, CallContext())
    let listener = await listener()
    listener.receive(ConfigInvalidation(latestVersion: 11))
    let stream = try await opening.body.stream
    var text = ""
    for version in [12, 13] as [Int64] {
      listener.receive(ConfigInvalidation(latestVersion: version))
      try await read(stream, &text, until: "\(version)")
      clock.advance(by: .seconds(1))
    }
    clock.advance(by: .seconds(300))
    try await read(stream, &text, until: "]")
    #expect(try await stream.next() == nil)
    let messages = try #require(try JSONValue(json: Array(text.utf8)).array)
    #expect(messages.count == 2 && !text.contains("11"), "\(text)")
    #expect(backend.state.withLock { $0.listeners.isEmpty })
  }
}

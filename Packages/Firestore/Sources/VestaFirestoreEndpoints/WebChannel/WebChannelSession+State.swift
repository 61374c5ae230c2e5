import VestaBytes
import VestaConcurrency
import VestaFirestoreWire
import VestaTransportInterop

extension WebChannelSession {
  /// The response to the request by which a browser waits.
  enum BackChannel {
    case none
    /// It lasts.
    case streaming(ByteStream)
    /// It ends with what there is next; the frames are an empty array, so that it is never without one.
    case held(ByteStream, first: [UInt8])
  }

  struct Output {
    let stream: ByteStream
    let bytes: [UInt8]
    let isLast: Bool
  }

  struct State {
    var machine: WebChannelMachine
    var back = BackChannel.none
    var timer: ListenerRegistration?
    /// Counts back channels: a timer or the end of one says nothing about the next.
    var turn = 0
    /// Whether the backend's stream is over, and its end was said.
    var isOver = false
    var outputs = Fifo<Output>()
    var isWriting = false
    /// The messages of the browser that are to be taken, in the order of their numbers.
    var messages = Fifo<String>()
    var isTaking = false

    mutating func write(_ bytes: [UInt8], isLast: Bool = false) {
      switch back {
      case .none: return
      case .streaming(let stream): outputs.append(Output(stream: stream, bytes: bytes, isLast: isLast))
      case .held(let stream, let first):
        outputs.append(Output(stream: stream, bytes: first + bytes, isLast: true))
      }
      if case .held = back { endBack() } else if isLast { endBack() }
    }

    /// The frames that a new back channel begins with; none where the browser has the last one.
    mutating func frames(after confirmed: Int) throws(BytesError) -> [UInt8] {
      guard isOver else { return try machine.openBackChannel(confirmed: confirmed) }
      _ = try machine.forward(WebChannelBody(), confirmed: confirmed)
      if machine.unconfirmedBytes == 0 { _ = try machine.send(.close) }
      return try machine.openBackChannel(confirmed: confirmed)
    }

    mutating func endBack() {
      back = .none
      machine.backChannelEnded()
    }
  }
}

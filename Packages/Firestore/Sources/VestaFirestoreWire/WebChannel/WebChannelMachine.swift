public import VestaBytes

/// The service's side of one WebChannel: which messages are new, and which arrays a client still needs.
///
/// It has no clock and no connection: the server calls it with the requests that it receives, and writes the results.
/// A session has one owner; its requests can be received on several connections at once.
///
/// Example: a client opens with the message 0 and gets the array 0 (`c`). It opens a back channel that confirms the
/// array 0, and gets a `noop` at once, the array 1. A message of the service is the array 2, and is kept until a later
/// request confirms it: a back channel that confirms only the array 1 gets the array 2 again.
public struct WebChannelMachine: Sendable {
  /// The figures at which the machine behaves differently.
  public struct Tuning: Sendable, Hashable {
    /// The most bytes of arrays that can be unconfirmed.
    public var maximumUnconfirmedBytes = 4 << 20
    /// The largest number of messages that can be waiting for an earlier one.
    public var maximumWaitingMessages = 1_000
    /// The most bytes of such messages.
    public var maximumWaitingBytes = 16 << 20

    /// The production figures.
    public init() {}
  }

  private struct Kept: Sendable {
    let number: Int
    let frame: [UInt8]
  }

  private let tuning: Tuning
  private var nextMessage = 0
  private var waiting: [Int: String] = [:]
  private var waitingBytes = 0
  private var nextArray = 0
  private var kept: [Kept] = []
  private var keptBytes = 0

  /// Whether a back channel is open.
  public private(set) var hasBackChannel = false
  /// Whether the session has ended: nothing is received or sent any longer.
  public private(set) var isClosed = false

  /// A session before its opening.
  public init(tuning: Tuning = Tuning()) { self.tuning = tuning }

  /// The number of bytes that were written and not confirmed.
  public var unconfirmedBytes: Int { keptBytes }

  /// Opens the session.
  ///
  /// - Returns: The body of the response, and the first messages.
  public mutating func open(
    session: String, keepAliveMilliseconds: Int, _ body: WebChannelBody
  ) throws(BytesError) -> (response: [UInt8], messages: [String]) {
    let messages = try received(body.messages)
    let response = try keep(.opened(session: session, keepAliveMilliseconds: keepAliveMilliseconds))
    return (response, messages)
  }

  /// Takes the messages of a request; messages that were taken before are ignored.
  ///
  /// - Parameters:
  ///   - body: The body.
  ///   - confirmed: The last array that the client has.
  /// - Returns: The body of the response, and the messages that are next in the session.
  /// - Throws: `BytesError` with `.limitExceeded` when too much is ahead of a missing message; the session has ended.
  public mutating func forward(
    _ body: WebChannelBody, confirmed: Int
  ) throws(BytesError) -> (response: [UInt8], messages: [String]) {
    confirm(confirmed)
    let messages = try received(body.messages)
    let response = WebChannelFrames.answer(
      hasBackChannel: hasBackChannel, last: max(0, nextArray - 1), outstanding: keptBytes)
    return (response, messages)
  }

  /// Opens a back channel, in place of one that is open.
  ///
  /// - Parameter confirmed: The last array that the client has.
  /// - Returns: The arrays that the client lacks, and an empty one: clients that receive nothing at once take the
  ///   connection for one that holds responses back.
  public mutating func openBackChannel(confirmed: Int) throws(BytesError) -> [UInt8] {
    confirm(confirmed)
    hasBackChannel = true
    let frames = kept.flatMap(\.frame)
    return isClosed ? frames : frames + (try keep(.noop))
  }

  /// Notes that the back channel has ended.
  public mutating func backChannelEnded() { hasBackChannel = false }

  /// Sends an array.
  ///
  /// - Returns: The frame, for the back channel if one is open; it is kept until the client confirms it.
  /// - Throws: `BytesError` with `.limitExceeded` when too much is unconfirmed; the session has ended then.
  public mutating func send(_ array: WebChannelArray) throws(BytesError) -> [UInt8] {
    guard !isClosed else { return [] }
    let frame = try keep(array)
    if array == .close || array == .stop { isClosed = true }
    return frame
  }

  /// Ends the session without a word.
  public mutating func terminate() {
    isClosed = true
    hasBackChannel = false
    (kept, keptBytes, waiting, waitingBytes) = ([], 0, [:], 0)
  }

  // MARK: Parts

  private mutating func keep(_ array: WebChannelArray) throws(BytesError) -> [UInt8] {
    let frame = try WebChannelFrames.frame(of: [.init(nextArray, array)])
    guard keptBytes + frame.count <= tuning.maximumUnconfirmedBytes else {
      terminate()
      throw BytesError(.limitExceeded, "more than \(tuning.maximumUnconfirmedBytes) bytes are not confirmed")
    }
    kept.append(Kept(number: nextArray, frame: frame))
    keptBytes += frame.count
    nextArray += 1
    return frame
  }

  private mutating func confirm(_ number: Int) {
    let count = kept.prefix { $0.number <= number }.count
    keptBytes -= kept.prefix(count).reduce(0) { $0 + $1.frame.count }
    kept.removeFirst(count)
  }

  private mutating func received(_ messages: [WebChannelBody.Message]) throws(BytesError) -> [String] {
    guard !isClosed else { return [] }
    var next: [String] = []
    for message in messages where message.number >= nextMessage && waiting[message.number] == nil {
      if message.number == nextMessage {
        nextMessage += 1
        next.append(message.json)
        continue
      }
      waitingBytes += message.json.utf8.count
      guard waiting.count < tuning.maximumWaitingMessages, waitingBytes <= tuning.maximumWaitingBytes else {
        terminate()
        throw BytesError(.limitExceeded, "too many messages are ahead of a missing one")
      }
      waiting[message.number] = message.json
    }
    while let json = waiting.removeValue(forKey: nextMessage) {
      waitingBytes -= json.utf8.count
      nextMessage += 1
      next.append(json)
    }
    return next
  }
}

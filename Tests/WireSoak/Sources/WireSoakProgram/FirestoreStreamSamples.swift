import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreWire
import VestaTesting

/// Requests, bodies and responses of WebChannel.
enum WebChannelSamples {
  static func all() throws -> [HostileInputs.Decoder] {
    [
      bodies(
        "headers=a%3Ab%0D%0A&count=2&ofs=4&req0___data__=%7B%7D&req3___data__=%7B%7D",
        "count=1&ofs=0&req0___data__=%22x%22",
        read: readBody),
      texts(
        "VER=8&database=d&gsessionid=g&SID=s&RID=rpc&AID=5&CI=1&TO=900&TYPE=xmlhttp", "VER=8&SID=s&RID=3&AID=5",
        "VER=8&database=d&RID=7&CVER=22&X-HTTP-Session-Id=gsessionid&$httpHeaders=a%3Ab",
        read: { _ = try WebChannelRequest(method: "POST", query: $0) }),
      HostileInputs.Decoder(
        [
          try WebChannelFrames.frame(of: [.init(1, .data([["a": "é"]])), .init(2, .noop)]),
          try WebChannelFrames.frame(of: [.init(0, .opened(session: "s", keepAliveMilliseconds: 5))]),
          utf8("5\n\"é\u{1F600}\"0\n"),
        ], readFrames),
    ]
  }

  private static func readBody(_ bytes: [UInt8]) throws {
    var machine = WebChannelMachine()
    _ = try machine.forward(WebChannelBody(bytes), confirmed: 0)
  }

  /// Frames may be anything; what is an array of the protocol is read further.
  private static func readFrames(_ bytes: [UInt8]) throws {
    var machine = WebChannelFrameMachine()
    for frame in try machine.received(bytes) where frame.first == UInt8(ascii: "[") {
      _ = try WebChannelFrames.arrays(frame)
    }
  }
}

/// The files of exports.
enum ExportSamples {
  static func all() -> [HostileInputs.Decoder] {
    var log = ExportLogWriter()
    let files = records.map { log.frame($0) }
    let overview = ExportOverview(parts: [.init(path: "a/b", documents: 3, bytes: 400)]).bytes
    let part = ExportPartMetadata(files: ["output-0"], start: 5, end: 7).bytes(name: "x")
    return [
      HostileInputs.Decoder(records) { _ = try ExportEntity(record: $0) },
      HostileInputs.Decoder([files[0]], readLog),
      HostileInputs.Decoder([overview]) { _ = try ExportOverview($0) },
      HostileInputs.Decoder([part]) { _ = try ExportPartMetadata($0) },
    ]
  }

  private static let records: [[UInt8]] = [
    ["n": .null, "i": .integer(-1), "d": .double(1.5)], ["g": .geoPoint(GeoPoint(latitude: 1, longitude: 2))],
    ["a": .array([.integer(1), .string("x")]), "m": .map(["k": .boolean(true)])],
    [
      "t": .timestamp(Timestamp(seconds: 5)), "b": .bytes([1]), "r": .reference("projects/p/databases/d/documents/c/e"),
    ],
  ]
  .map { ExportEntity(path: ["c", "d"], fields: $0).record(project: "p") }

  private static func readLog(_ bytes: [UInt8]) throws {
    var reader = ExportLogReader()
    reader.feed(bytes)
    while try reader.next() != nil {}
    try reader.finish()
  }
}

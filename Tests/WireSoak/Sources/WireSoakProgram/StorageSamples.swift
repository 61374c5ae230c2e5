import VestaBytes
import VestaStorageBackend
import VestaStorageWire
import VestaTesting

/// The bodies, uploads and routes of Storage.
enum StorageSamples {
  static func all() -> [HostileInputs.Decoder] { objects() + uploads() + routes() }

  private static let object =
    #"{"name":"a/b","bucket":"b","generation":"7","metageneration":"1","size":"3","crc32c":"AAAAAA==","contentType":"t/x","#
    + #""timeCreated":"2026-01-01T00:00:00.000Z","updated":"2026-01-01T00:00:00.000Z","metadata":{"k":"v"}}"#

  private static func objects() -> [HostileInputs.Decoder] {
    [
      bodies(object, read: { _ = try ObjectWire.object(json: $0) }),
      bodies(
        #"{"contentType":"a/b","cacheControl":null,"metadata":{"a":"x","b":null},"customTime":"2026-01-01T00:00:00Z"}"#,
        read: { _ = try MetadataWire.change(json: $0) }),
      bodies(
        #"{"name":"a","contentType":"a/b","md5Hash":"AAAAAAAAAAAAAAAAAAAAAA==","metadata":{"k":"v"}}"#,
        read: { _ = try MetadataWire.upload(json: $0) }),
      bodies(
        #"{"prefixes":["a/"],"items":[\#(object)],"nextPageToken":"t"}"#, read: { _ = try ListWire.page(json: $0) }),
      bodies(
        #"{"sourceObjects":[{"name":"a","generation":"7","objectPreconditions":{"ifGenerationMatch":"7"}}],"destination":{"contentType":"x"}}"#,
        read: { _ = try ComposeBody(json: $0) }),
      bodies(
        #"{"error":{"code":404,"message":"No such object: b/o"}}"#, "<Error><Code>X</Code><Message>m</Message></Error>",
        read: { _ = StorageErrorWire.error(status: 404, body: $0) }),
      texts("a/**/[a-c]?{x,y}*.jpg", read: { _ = try NamePattern($0) }),
    ]
  }

  private static func uploads() -> [HostileInputs.Decoder] {
    [
      HostileInputs.Decoder(
        [
          MultipartMachine.body(
            metadata: utf8(#"{"name":"a"}"#), contentType: "a/b", content: utf8("content\r\n-"), boundary: "b")
        ], readMultipart),
      bodies(
        "--b\r\nContent-Type: application/http\r\nContent-ID: <1>\r\n\r\nDELETE /storage/v1/b/b/o/x HTTP/1.1\r\n\r\n\r\n--b--",
        read: { _ = try BatchWire.calls(contentType: "multipart/mixed; boundary=b", body: $0) }),
      texts(
        "start", "upload, finalize", "query",
        read: { command in
          _ = try ResumableCommand { name in
            name == "x-goog-upload-command" ? command : name == "x-goog-upload-offset" ? "5" : nil
          }
        }),
      texts("bytes=5-", "bytes=-7", "bytes=0-99", read: { _ = ByteRangeField($0) }),
      texts("bytes 0-99/100", "bytes */7", "bytes 5-6/*", read: { _ = ByteRangeWire.part($0) }),
    ]
  }

  private static func readMultipart(_ bytes: [UInt8]) throws {
    var machine = try MultipartMachine(contentType: "multipart/related; boundary=b")
    let middle = bytes.count / 2
    _ = try machine.received(Array(bytes[..<middle]))
    _ = try machine.received(Array(bytes[middle...]))
    try machine.finish()
  }

  private static func routes() -> [HostileInputs.Decoder] {
    [
      texts(
        "/v0/b/b/o/a%2Fcat%20%C3%A9.jpg?alt=media&token=t", "/v0/b/b/o?prefix=a&delimiter=/&maxResults=5&pageToken=t",
        "/storage/v1/b/b/o/x/rewriteTo/b/c/o/y?ifGenerationMatch=0", "/bucket/a/b?generation=7",
        read: { target in _ = try StorageRoute(method: "GET", target: target) { _ in nil } }),
      texts(
        "X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Credential=a&X-Goog-Date=20260101T000000Z&X-Goog-Expires=900&X-Goog-SignedHeaders=host&X-Goog-Signature=00",
        "GoogleAccessId=a&Expires=1700000000&Signature=x", read: { _ = try SignedURL(query: $0) }),
    ]
  }
}

import Testing
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop

/// The client library that a request names.
@Suite struct ClientInfoTests {
  private func client(_ fields: HTTPFields) -> ClientInfo? {
    let request = HTTPRequest(.get, "/", authority: "h", fields: fields)
    return CallContext(request, project: nil, clock: ManualClock().service).client
  }

  @Test func `the fields of SDKs name their library, version and platform`() {
    let apple = "apple-platform/ios apple-sdk/21 fire-ios/11.0.0 fire-fst/11.1.0 swift/true"
    #expect(
      client(["x-firebase-client": apple]) == ClientInfo(platform: "ios", sdk: "fire-fst", version: "11.1.0"))
    #expect(
      client(["x-goog-api-client": "gl-swift/6.2 fire/11.0 grpc/"])
        == ClientInfo(platform: "swift", sdk: "fire", version: "11.0"))
    #expect(
      client(["x-client-version": "iOS/FirebaseSDK/11.0/FirebaseCore-iOS"])
        == ClientInfo(platform: "iOS", sdk: "FirebaseCore-iOS", version: "11.0"))
    #expect(
      client(["x-client-version": "Chrome/JsCore/10.12.0/FirebaseCore-web"])
        == ClientInfo(platform: "Chrome", sdk: "FirebaseCore-web", version: "10.12.0"))
  }

  @Test func `a field that names no library leaves the others to be read`() {
    let fields: HTTPFields = ["x-firebase-client": "H4sIAAAAAAAAA6tWykhNLCpJSk0sKVayio7VUSpLLSrOzM8DAGeqFqkZAAAA"]
    #expect(client(fields) == nil)
    var both = fields
    both.append("x-goog-api-client", "gl-js/ fire/10.1")
    #expect(client(both)?.version == "10.1")
  }

  @Test func `what is malformed or too long counts as absent`() {
    let long = String(repeating: "a", count: 129)
    for text in ["", "/", "a", " / /", "\(long)/1", "a/\(long)", String(repeating: "a/1 ", count: 2_000)] {
      #expect(client(["x-firebase-client": text]) == nil, "\(text.prefix(20))")
      #expect(client(["x-goog-api-client": text]) == nil, "\(text.prefix(20))")
      #expect(client(["x-client-version": text]) == nil, "\(text.prefix(20))")
    }
    var random = SplitMix(seed: 27)
    for _ in 0..<10_000 {
      let bytes = (0..<random.below(40)).map { _ in [47, 32, 97, 49, 46, 103, 108, 45][random.below(8)] as UInt8 }
      let text = String(decoding: bytes, as: UTF8.self)
      guard let info = client(["x-firebase-client": text, "x-client-version": text]) else { continue }
      #expect(!info.sdk.isEmpty)
    }
  }
}

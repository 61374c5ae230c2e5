import Testing
import VestaServiceInterop

@Suite struct EmulatorOriginTests {
  @Test(
    arguments: [
      ("localhost", 9099, "http://localhost:9099"), ("127.0.0.1", 80, "http://127.0.0.1:80"),
      ("::1", 9099, "http://[::1]:9099"), ("[::1]", 9099, "http://[::1]:9099"),
      ("http://localhost", 5001, "http://localhost:5001"), ("https://dev.example", 443, "https://dev.example:443"),
      ("https://dev.example/", 1, "https://dev.example:1"), ("http://::1", 2, "http://[::1]:2"),
      ("httpbin.example", 3, "http://httpbin.example:3"),
    ])
  func `an address becomes an origin, whichever form its host has`(host: String, port: Int, origin: String) {
    #expect(EmulatorOrigin(host: host, port: port).text == origin)
    #expect("\(EmulatorOrigin(host: host, port: port))" == origin)
  }

  @Test func `a connection is made at the origin, and its failure is passed on`() throws {
    struct Wrong: Error {}
    let connection = EmulatorConnection<String> { origin in
      guard origin.hasSuffix("9099") else { throw Wrong() }
      return origin
    }
    #expect(try connection.backend(at: EmulatorOrigin(host: "::1", port: 9099)) == "http://[::1]:9099")
    #expect(throws: Wrong.self) { try connection.backend(at: EmulatorOrigin(host: "h", port: 1)) }
  }
}

import Testing

@testable import VestaServer

/// The links of messages in the log.
@Suite struct ActionLinkTests {
  private static let link = "http://localhost/__/auth/action?mode=verifyEmail&oobCode=x"

  @Test(arguments: [
    (["127.0.0.1", "::1"], "http://127.0.0.1:9099"), (["0.0.0.0"], "http://127.0.0.1:9099"),
    (["::1"], "http://[::1]:9099"), (["::"], "http://[::1]:9099"), (["10.0.0.1"], "http://10.0.0.1:9099"),
  ])
  func `a link leads to the page of this server`(hosts: [String], origin: String) {
    let links = ActionLinks()
    #expect(links.link(Self.link, project: nil) == Self.link)
    let ports = [
      VestaServer.Port(name: "all", hosts: ["10.0.0.2"], number: 1),
      VestaServer.Port(name: "auth", hosts: hosts, number: 9099),
    ]
    links.lead(to: ports, scheme: "http")
    #expect(links.link(Self.link, project: nil) == "\(origin)/emulator/action?mode=verifyEmail&oobCode=x")
    #expect(links.link(Self.link, project: "a b").hasSuffix("oobCode=x&projectId=a%20b"))
  }

  @Test func `without a port of its own Auth is at the port of all products`() {
    let links = ActionLinks()
    links.lead(to: [VestaServer.Port(name: "all", hosts: ["127.0.0.1"], number: 7700)], scheme: "https")
    #expect(links.link(Self.link, project: nil).hasPrefix("https://127.0.0.1:7700/emulator/action?mode="))
  }
}

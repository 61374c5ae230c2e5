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
    links.lead(to: hosts, port: 9099, scheme: "http")
    #expect(links.link(Self.link, project: nil) == "\(origin)/emulator/action?mode=verifyEmail&oobCode=x")
    #expect(links.link(Self.link, project: "a b").hasSuffix("oobCode=x&projectId=a%20b"))
  }
}

import Testing
import VestaAuthBackend
import VestaBytes
import VestaTransportInterop

@testable import VestaAuthEndpoints

/// The pages on which an account of another provider is chosen.
@Suite struct SignInPageTests {
  private static let handler = "/emulator/auth/handler?apiKey=k&appName=a&authType=signInViaPopup"
  private static let redirect = "/emulator/auth/handler?apiKey=k&appName=a&authType=signInViaRedirect"

  private func signIn(_ server: EndpointWorld, provider: String, claims: JSONObject, tenant: String? = nil) async throws
  {
    var fields = FormFields()
    fields.append("id_token", String(decoding: try claims.json(), as: UTF8.self))
    fields.append("providerId", provider)
    var body: JSONObject = ["postBody": .string(fields.text), "requestUri": "http://localhost"]
    body["tenantId"] = tenant.map { .string($0) }
    #expect(try await server.call("accounts:signInWithIdp", body).status == 200)
  }

  @Test func `the accounts of a provider can be chosen, and nothing in them is markup`() async throws {
    let server = EndpointWorld()
    try await signIn(
      server, provider: "google.com",
      claims: ["sub": "1'\"><b>", "email": "ada@example.com", "name": "<script>alert(1)</script> & \"Ada\""])
    try await signIn(server, provider: "github.com", claims: ["sub": "2", "email": "grace@example.com"])
    let page = try await server.page("\(Self.handler)&providerId=google.com")
    #expect(page.status == 200 && page.fields[.contentType] == "text/html; charset=utf-8")
    #expect(page.text.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;Ada&quot;"))
    #expect(page.text.contains("data-email=\"ada@example.com\""))
    #expect(!page.text.contains("grace@example.com") && !page.text.contains("<script>") && !page.text.contains("<b>"))
    let token = try #require(page.text.firstMatch(of: /data-id-token="([^"]*)"/)?.1)
    let claims = try JSONObject(json: Array(try PercentEncoding.decode(token).utf8))
    #expect(claims["sub"] == "1'\"><b>" && claims["email"] == "ada@example.com" && claims["email_verified"] == true)
    let other = try await server.page("\(Self.handler)&providerId=%3Cimg%20src=x%3E")
    #expect(other.text.contains("&lt;img src=x&gt;") && !other.text.contains("<img"))
    #expect(other.text.contains("no account"))
  }

  @Test func `a policy allows the scripts of this server alone`() async throws {
    let server = EndpointWorld()
    let page = try await server.page("\(Self.handler)&providerId=google.com")
    let policy = try #require(page.fields["content-security-policy"])
    #expect(policy.contains("default-src 'none'; script-src 'self'; ") && policy.contains("frame-ancestors 'none'"))
    #expect(!policy.contains("unsafe"))
    let frame = try await server.page("/emulator/auth/iframe?apiKey=k&appName=a")
    #expect(frame.fields["content-security-policy"]?.contains("script-src 'self' https://apis.google.com;") == true)
    #expect(frame.text.contains("<script src=\"https://apis.google.com/js/api.js\">"))
    for (name, type) in [("handler.js", "javascript"), ("iframe.js", "javascript"), ("handler.css", "css")] {
      let file = try await server.page("/emulator/auth/\(name)")
      #expect(file.status == 200 && file.fields[.contentType] == "text/\(type); charset=utf-8")
      #expect(file.fields["x-content-type-options"] == "nosniff")
    }
    #expect(try await server.page("/emulator/auth/other.js").status == 404)
    let closed = EndpointWorld(isDevelopment: false)
    for path in ["handler?apiKey=k&providerId=p", "iframe?apiKey=k&appName=a", "handler.js"] {
      #expect(try await closed.page("/emulator/auth/\(path)").status == 404)
    }
  }

  @Test func `the page continues on this machine or at an authorized domain`() async throws {
    let server = EndpointWorld()
    let settings: JSONObject = ["authorizedDomains": ["app.example"]]
    let path = "/config?updateMask=authorizedDomains"
    #expect(try await server.own(path, settings, method: .patch, version: "v2").status == 200)
    for (target, isAllowed) in [
      ("http://localhost:8000/a?b#c", true), ("http://127.0.0.1/", true), ("https://[::1]:1/", true),
      ("https://APP.example:8443/x", true), ("https://other.example/", false), ("https://app.example.evil/", false),
      ("https://app.example@evil.example/", false), ("javascript:alert(1)", false), ("//app.example", false),
      ("https://evil.example\\@app.example/", false), ("https://app.example\n.evil/", false), ("", true),
      ("http://localhost/\n", false), ("http://localhost/ ", false), ("http://localhost/\u{7F}", false),
      ("http://localhost/é", false), ("http://localhost/\\evil.example", false), ("http://localhost/!~", true),
    ] {
      var fields = FormFields()
      fields.append("redirectUrl", target)
      let page = try await server.page("\(Self.redirect)&providerId=google.com&\(fields.text)")
      #expect(page.status == (isAllowed ? 200 : 400), "\(target)")
      #expect(try await server.page("\(Self.handler)&providerId=google.com&\(fields.text)").status == 200)
    }
    let hostile = try await server.page("\(Self.redirect)&providerId=p&redirectUrl=https://%3Cb%3E/")
    #expect(hostile.status == 400 && !hostile.text.contains("<b>"))
    #expect(try await server.page("/emulator/auth/handler?apiKey=k").status == 400)
    #expect(try await server.page("/emulator/auth/handler?providerId=google.com").status == 400)
  }

  @Test func `a tenant has separate accounts on the page`() async throws {
    let server = EndpointWorld()
    let made = try await server.own("/tenants", ["allowPasswordSignup": true], version: "v2")
    let tenant = try #require(made["name"]?.string?.split(separator: "/").last.map(String.init))
    try await signIn(server, provider: "google.com", claims: ["sub": "1", "email": "in@example.com"], tenant: tenant)
    #expect(
      try await server.page("\(Self.handler)&providerId=google.com&tid=\(tenant)").text.contains("in@example.com"))
    #expect(try await !server.page("\(Self.handler)&providerId=google.com").text.contains("in@example.com"))
  }
}
